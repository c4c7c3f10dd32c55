// The states that `is:` can filter by: failed, unsure, unanswered, disliked, injected.
import { isJsonObject, type JsonObject } from "./json.js";
import { readRole } from "./roles.js";

/** An assistant's message below this confidence was unsure. */
export const CONFIDENCE_LOW = 0.5;

export type Mark = "failed" | "unsure" | "asked" | "answered" | "disliked" | "injected";

/** Marks that make up a state, and marks that exclude it. */
export interface StateMarks {
  readonly has: Mark;
  readonly lacks?: Mark;
}

/** The states that a filter can ask for, each by its marks. */
export const states = {
  /** Error entries, failed tools and failed interactions. */
  error: { has: "failed" },
  low_confidence: { has: "unsure" },
  /** Interactions without a response yet. */
  unanswered: { has: "asked", lacks: "answered" },
  /** With feedback below 0. */
  disliked: { has: "disliked" },
  /** Messages that a program put into the conversation. */
  injected: { has: "injected" },
} as const satisfies { readonly [state: string]: StateMarks };

export type State = keyof typeof states;

export const stateNames = Object.keys(states) as readonly State[];

export function isState(name: unknown): name is State {
  return typeof name === "string" && Object.hasOwn(states, name);
}

/** What an entry's own body marks: itself, the interaction that it completes, or the entry that it is feedback on. */
export function marksOf(kind: string, body: JsonObject): readonly Mark[] {
  const hasFailed = typeof body.error === "string" && body.error !== "";
  switch (kind) {
    case "error":
      return ["failed"];
    case "tool_call":
      return body.is_error === true ? ["failed"] : [];
    case "message":
      return [
        ...(isUnsure(body) ? (["unsure"] as const) : []),
        ...(isText(body.injected) ? (["injected"] as const) : []),
      ];
    case "interaction":
      return hasFailed ? ["failed"] : isText(body.response) ? [] : ["asked"];
    case "response":
      return hasFailed ? ["failed", "answered"] : ["answered"];
    case "feedback":
      return isDislike(body) ? ["disliked"] : [];
    default:
      return [];
  }
}

/** The model that an entry names; imported messages and raw records may name one in `extra`. */
export function modelOf(kind: string, { model, extra }: JsonObject): string | undefined {
  const isImported = kind === "message" || kind === "consolidation" || kind === "raw";
  const named = isImported && isJsonObject(extra) ? extra.model : model;
  return isText(named) ? named : undefined;
}

function isUnsure({ role, confidence }: JsonObject): boolean {
  return (
    isText(role) && readRole(role) === "assistant" && typeof confidence === "number" && confidence < CONFIDENCE_LOW
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Feedback below 0. */
export function isDislike({ score }: { readonly score?: unknown }): boolean {
  return typeof score === "number" && score < 0;
}

/** Feedback in one line: score, label and comment, if given. */
export function feedbackWords(feedback: {
  readonly score?: number;
  readonly label: string;
  readonly comment: string;
}): string {
  const { score, label, comment } = feedback;
  return [score === undefined ? "" : String(score), label, comment].filter((text) => text !== "").join(" ");
}
