// What identifies a model call in the rows of a session, and which of its messages and interactions are the same call.
import { hash } from "node:crypto";
import { contentTexts } from "../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { isInjected, readRole } from "../model/roles.js";
import { type CallStep, pairCalls, type SameCalls } from "../model/same-calls.js";
import type { EntryIndex, EntryRow } from "./port.js";

/** Stored with the row, so kept short. */
interface StepFacts {
  readonly answer?: string;
  readonly calls?: readonly string[];
  readonly said?: string;
  readonly asked?: string;
}

/** Longer ids are ignored; providers' have less than a quarter of this. */
const ID_CHARS_MAX = 256;
const CALLS_MAX = 16;
const HASH_CHARS = 16;

/** Undefined if the entry is neither an answer nor a user's words. */
export function stepFactsOf(kind: string, body: JsonObject): StepFacts | undefined {
  const facts = kind === "message" ? ofMessage(body) : ofInteraction(kind, body);
  return facts !== undefined && Object.keys(facts).length > 0 ? facts : undefined;
}

function ofMessage(body: JsonObject): StepFacts | undefined {
  const { role, content = "", tool_calls, extra } = body;
  if (typeof role !== "string") return undefined;
  const said = textKey(contentTexts(content).join("\n"));
  const read = readRole(role);
  if (read === "user")
    return said === undefined || isInjected({ ...body, kind: "message" }) ? undefined : { asked: said };
  if (read !== "assistant") return undefined;
  const blocks = Array.isArray(content) ? content.filter((part) => isJsonObject(part) && part.type === "tool_use") : [];
  return answerFacts(said, [...callIds(tool_calls), ...callIds(blocks)], extra);
}

function ofInteraction(kind: string, { prompt, response, extra }: JsonObject): StepFacts | undefined {
  if (kind !== "interaction" && kind !== "response") return undefined;
  const asked = kind === "interaction" ? textKey(prompt) : undefined;
  const calls = isJsonObject(extra) ? callIds(extra.tool_calls) : [];
  return { ...answerFacts(textKey(response), calls, extra), ...(asked === undefined ? {} : { asked }) };
}

function answerFacts(said: string | undefined, calls: readonly string[], extra: JsonValue | undefined): StepFacts {
  const answer = isJsonObject(extra) ? idIn(extra.message_id) : undefined;
  return {
    ...(answer === undefined ? {} : { answer }),
    ...(calls.length === 0 ? {} : { calls: calls.slice(0, CALLS_MAX) }),
    ...(said === undefined ? {} : { said }),
  };
}

function callIds(calls: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call) => (isJsonObject(call) ? (idIn(call.id) ?? []) : []));
}

function idIn(id: JsonValue | undefined): string | undefined {
  return typeof id === "string" && id !== "" && id.length <= ID_CHARS_MAX ? id : undefined;
}

/** Programs trim and wrap what they pass on. */
function textKey(text: JsonValue | undefined): string | undefined {
  const plain = typeof text === "string" ? text.replace(/\s+/g, " ").trim() : "";
  return plain === "" ? undefined : hash("sha256", plain, "hex").slice(0, HASH_CHARS);
}

const KINDS = ["message", "interaction", "response"];
/** How many entries around the range are read: a call is recorded once while it is made, and once soon after. */
const MARGIN = 200;
const ROWS_AT_ONCE = 1_000;
/** Of a session with more, only those near the range are looked at. */
const INTERACTIONS_MAX = 2_000;
const LOOKUPS_MAX = 64;

type Index = Pick<EntryIndex, "sessionPositions" | "rowsAt" | "list">;

/** Which messages and interactions from one position of a session through another are the same call, whichever is in the range. */
export async function sameCallsIn(
  index: Index,
  { session_id, from, through }: { readonly session_id: string; readonly from: number; readonly through: number },
): Promise<SameCalls> {
  if (!(await hasBoth(index, session_id))) return NO_CALLS;
  const near = await nearPositions(index, { session_id, from, through });
  const range = { session_id, order: "desc", kinds: ["interaction", "response"] } as const;
  const interactions = await index.sessionPositions({ ...range, limit: INTERACTIONS_MAX });
  const positions = [...new Set([...near, ...interactions])].sort((left, right) => left - right);
  const rows: EntryRow[] = [];
  for (let at = 0; at < positions.length; at += ROWS_AT_ONCE) {
    rows.push(...(await index.rowsAt(positions.slice(at, at + ROWS_AT_ONCE))));
  }
  const known = pairCalls(toSteps(rows));
  const far = await farMessages(index, session_id, toSteps(rows).filter(isUnpaired(known, { from, through })));
  return far.length === 0 ? known : pairCalls(inOrder(toSteps(rows), toSteps(far)));
}

export const NO_CALLS: SameCalls = { messageOf: new Map(), interactionOf: new Map(), prompted: new Set() };

/** Most sessions have only messages, or only interactions. */
async function hasBoth(index: Index, session_id: string): Promise<boolean> {
  for (const kind of ["interaction", "message"]) {
    const range = { session_id, order: "desc", limit: 1, kinds: [kind] } as const;
    if ((await index.sessionPositions(range)).length === 0) return false;
  }
  return true;
}

async function nearPositions(
  index: Index,
  { session_id, from, through }: { readonly session_id: string; readonly from: number; readonly through: number },
): Promise<readonly number[]> {
  const range = { session_id, kinds: KINDS } as const;
  const positions = [...(await index.sessionPositions({ ...range, order: "desc", after: from, limit: MARGIN }))];
  for (let above = from - 1; ; ) {
    const page = await index.sessionPositions({ ...range, order: "asc", above, limit: ROWS_AT_ONCE });
    const end = page.findIndex((position) => position > through);
    positions.push(...(end === -1 ? page : page.slice(0, end + MARGIN)));
    if (end !== -1 || page.length < ROWS_AT_ONCE) return positions;
    above = page.at(-1) as number;
  }
}

function isUnpaired(known: SameCalls, { from, through }: { readonly from: number; readonly through: number }) {
  return ({ by, position, answer }: CallStep): boolean =>
    by === "interaction" &&
    answer !== undefined &&
    position >= from &&
    position <= through &&
    !known.messageOf.has(position);
}

/** Transcripts are imported long after the requests were recorded, or before. */
async function farMessages(index: Index, session_id: string, steps: readonly CallStep[]): Promise<readonly EntryRow[]> {
  const positions: number[] = [];
  for (const { answer = "" } of steps.slice(0, LOOKUPS_MAX)) {
    const references = [{ what: "answer", reference: answer } as const];
    const found = await index.list({ filter: { session_id, kinds: ["message"], references }, limit: 2 });
    positions.push(...found.map(({ position }) => position));
  }
  return positions.length === 0 ? [] : index.rowsAt(positions);
}

function inOrder(some: readonly CallStep[], more: readonly CallStep[]): readonly CallStep[] {
  const byPosition = new Map([...some, ...more].map((step) => [step.position, step]));
  return [...byPosition.values()].sort((left, right) => left.position - right.position);
}

/** What a response says belongs to its interaction. */
function toSteps(rows: readonly EntryRow[]): readonly CallStep[] {
  const responses = new Map(rows.flatMap((row) => (row.kind === "response" ? [[row.about, row.facts?.same]] : [])));
  return rows.flatMap((row): readonly CallStep[] => {
    const { position, kind, role, facts } = row;
    const same = facts?.same as StepFacts | undefined;
    if (kind === "interaction") {
      return [{ position, by: "interaction", ...same, ...(responses.get(position) as StepFacts | undefined) }];
    }
    if (kind !== "message" || same === undefined) return [];
    return [{ position, by: role === "user" ? "user" : "message", ...same }];
  });
}
