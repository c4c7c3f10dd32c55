// Statements and verdicts as they come in from any surface: their schemas, and how they are parsed or refused.
import { type TObject, Type } from "typebox";
import { ACTOR_DEFAULT, parseId, parseLabel } from "../../model/ids.js";
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import {
  type Evidence,
  type MemorySource,
  memorySources,
  memoryTypes,
  type Proposal,
  rejectionReasons,
} from "../../model/memory.js";
import { notKnown } from "../../model/options.js";
import { Rejection, reject } from "../../model/rejection.js";
import { type GivenIn, named, oneOf, text } from "../../model/schema.js";
import { formatTime, parseTimeBound } from "../../model/time.js";
import type { FileText } from "../files/file-audit.js";
import { FILE_CHARS_MAX } from "../files/statements.js";
import { formOf, visibleOf } from "../judge/statement.js";
import { evidence } from "./memory-answers.js";

const optionalText = Type.Optional(text);

const statement = {
  id: Type.Optional(Type.String({ description: "Makes the call safe to repeat. By default a UUIDv7." })),
  content: Type.String({ description: "One statement." }),
  type: Type.Optional(oneOf(memoryTypes, { description: "`knowledge` by default." })),
  project: optionalText,
  confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "0.5 by default." })),
  tags: Type.Optional(Type.Array(text)),
  valid_until: Type.Optional(Type.String({ description: "When it stops being true, as an ISO 8601 time." })),
  evidence: Type.Optional(Type.Array(evidence, { description: "Its evidence." })),
  actor: Type.Optional(Type.String({ description: "Who decides; the caller by default." })),
};

const proposal = {
  ...statement,
  source: Type.Optional(oneOf(memorySources, { description: "Of a candidate: `agent` by default." })),
};

export type MemoryInput = GivenIn<TObject<typeof statement>>;
export type ProposalInput = GivenIn<TObject<typeof proposal>>;

export const newMemory = named(
  "NewMemory",
  Type.Object(
    {
      ...proposal,
      status: Type.Optional(
        oneOf(["active", "candidate"], {
          description: "`candidate` proposes it; without it a person adds it, and it is active at once.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

const verdict = {
  actor: statement.actor,
  reason: Type.Optional(Type.String({ description: `Why: ${rejectionReasons.join(", ")}.` })),
};

export type VerdictOptions = GivenIn<typeof newVerdict>;
export const newVerdict = named("NewVerdict", Type.Object(verdict, { additionalProperties: false }));

export type EditOptions = GivenIn<typeof newEdit>;
export const newEdit = named(
  "NewEdit",
  Type.Object(
    {
      ...verdict,
      content: Type.Optional(Type.String({ description: "Another wording." })),
      project: Type.Optional(Type.String({ description: "The project of a candidate whose evidence names none." })),
    },
    { additionalProperties: false },
  ),
);

export type VerdictsInput = GivenIn<typeof newVerdicts>;
export const newVerdicts = named(
  "NewVerdicts",
  Type.Object(
    { promote: Type.Optional(Type.Array(text)), reject: Type.Optional(Type.Array(text)), ...verdict },
    { additionalProperties: false },
  ),
);

export type FileInput = GivenIn<typeof newAudit>;
export const newAudit = named(
  "NewAudit",
  Type.Object(
    {
      text: Type.String({ description: "The file, such as CLAUDE.md." }),
      project: Type.Optional(Type.String({ description: "Only entries of this project are searched." })),
    },
    { additionalProperties: false },
  ),
);

/** A statement as it was given, and whose it is. */
export interface ParsedMemory {
  readonly id: string | undefined;
  readonly proposal: Proposal;
  readonly confidence: number | undefined;
  readonly actor: string;
  /** The key whose own entries are all that it may cite, where the caller may not read others. */
  readonly cites_only?: string;
  /** When it is proposed, where its actor may propose only so many. */
  readonly limited_ms?: number;
}

export interface ParsedVerdict {
  readonly actor: string;
  readonly reason: string;
  /** Empty where the wording stays. */
  readonly content: string;
  /** For a candidate without one; empty where it stays. */
  readonly project: string;
}

export interface ParsedVerdicts extends Omit<ParsedVerdict, "content" | "project"> {
  readonly promote: readonly string[];
  readonly reject: readonly string[];
}

const CONTENT_CHARS_MAX = 4_000;
const TEXT_CHARS_MAX = 1_000;
const LIST_MAX = 100;
const QUOTE_CHARS_MAX = 10_000;
const VERDICTS_MAX = 10_000;

/** A memory to add, or to propose. */
export interface NewMemory {
  readonly status: "active" | "candidate";
  readonly memory: ParsedMemory;
}

export function parseNewMemory(input: unknown): NewMemory | Rejection {
  const sent = objectOf(input, namesIn(newMemory));
  if (sent instanceof Rejection) return sent;
  const { status = "active", ...given } = sent;
  if (status !== "active" && status !== "candidate") return invalid("status", "status must be active or candidate");
  const memory = status === "active" ? parseAddition(given) : parseMemoryInput(given, "agent");
  return memory instanceof Rejection ? memory : { status, memory };
}

function parseMemoryInput(input: unknown, source: MemorySource): ParsedMemory | Rejection {
  const given = objectOf(input, Object.keys(proposal));
  if (given instanceof Rejection) return given;
  return orFirst(
    {
      id: isAbsent(given.id) ? undefined : parseId(given.id),
      content: parseContent(given.content),
      type: parseOneOf("type", given.type ?? "knowledge", memoryTypes),
      project: parseLabel("project", given.project),
      confidence: parseConfidence(given.confidence),
      tags: parseTexts("tags", given.tags),
      valid_until: parseUntil(given.valid_until),
      evidence: parseEvidence(given.evidence),
      source: parseOneOf("source", given.source ?? source, memorySources),
      actor: parseText("actor", given.actor ?? ACTOR_DEFAULT),
    },
    ({ id, confidence, actor, valid_until, ...proposal }) => ({
      id,
      proposal: { ...proposal, generation: "", ...(valid_until === undefined ? {} : { valid_until }) },
      confidence,
      actor,
    }),
  );
}

/** What a person adds, which no gate looks at: it has the form of a statement, or is refused. */
function parseAddition(input: unknown): ParsedMemory | Rejection {
  const parsed = parseMemoryInput(input, "person");
  if (parsed instanceof Rejection) return parsed;
  const content = parseWording(parsed.proposal.content);
  return content instanceof Rejection ? content : { ...parsed, proposal: { ...parsed.proposal, content } };
}

export function parseVerdict(options: unknown, schema: TObject = newVerdict): ParsedVerdict | Rejection {
  const given = objectOf(options ?? {}, namesIn(schema));
  if (given instanceof Rejection) return given;
  return orFirst(
    {
      actor: parseText("actor", given.actor ?? ACTOR_DEFAULT),
      reason: parseText("reason", given.reason ?? ""),
      content: isAbsent(given.content) ? "" : parseWording(given.content),
      project: parseLabel("project", given.project),
    },
    (verdict) => verdict,
  );
}

export function parseVerdicts(input: unknown): ParsedVerdicts | Rejection {
  const given = objectOf(input, namesIn(newVerdicts));
  if (given instanceof Rejection) return given;
  const parsed = orFirst(
    {
      promote: parseTexts("promote", given.promote, VERDICTS_MAX),
      reject: parseTexts("reject", given.reject, VERDICTS_MAX),
      actor: parseText("actor", given.actor ?? ACTOR_DEFAULT),
      reason: parseText("reason", given.reason ?? ""),
    },
    (verdicts) => verdicts,
  );
  if (parsed instanceof Rejection) return parsed;
  const ids = [...parsed.promote, ...parsed.reject];
  if (ids.length === 0) {
    return reject({ code: "field_missing", field: "promote", message: "promote and reject name no memory" });
  }
  const seen = new Set<string>();
  const twice = ids.find((id) => seen.size === seen.add(id).size);
  return twice === undefined ? parsed : invalid("reject", `memory ${twice} is named twice`);
}

export function parseFileText(input: unknown): FileText | Rejection {
  const given = objectOf(input, namesIn(newAudit));
  if (given instanceof Rejection) return given;
  const { text } = given;
  if (isAbsent(text)) return reject({ code: "field_missing", field: "text", message: "text is missing" });
  if (typeof text !== "string" || text.length > FILE_CHARS_MAX) {
    return invalid("text", `text must be a string of at most ${FILE_CHARS_MAX} characters`);
  }
  const project = parseLabel("project", given.project === "-" ? "" : given.project);
  return project instanceof Rejection ? project : { text, project };
}

function parseContent(content: unknown): string | Rejection {
  if (isAbsent(content)) return reject({ code: "field_missing", field: "content", message: "content is missing" });
  // A person reads what they decide upon: what is not to be seen in it, a model would be told behind their back.
  const text = typeof content === "string" ? visibleOf(content.toWellFormed()).trim() : "";
  if (text === "") return invalid("content", "content must not be blank");
  if (text.length <= CONTENT_CHARS_MAX) return text;
  return reject({
    code: "field_invalid",
    field: "content",
    message: `content has more than ${CONTENT_CHARS_MAX} characters, too many for a statement`,
    hint: "A memory is one statement of 8 to 280 characters; give several where there is more to say.",
  });
}

/** The words of a person, in the form that every candidate has. */
function parseWording(content: unknown): string | Rejection {
  const text = parseContent(content);
  if (text instanceof Rejection) return text;
  const formed = formOf(text);
  if ("statement" in formed) return formed.statement;
  const hint = "A memory is one statement that can be understood by itself; give several where there is more to say.";
  return reject({ code: "field_invalid", field: "content", message: `content ${formed.flaw}`, hint });
}

function parseConfidence(value: unknown): number | undefined | Rejection {
  if (isAbsent(value)) return undefined;
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  return reject({
    code: "confidence_out_of_range",
    field: "confidence",
    message: "confidence must be a number from 0 to 1",
  });
}

/** A time as any filter takes it; a bare date means its end. */
function parseUntil(value: unknown): string | undefined | Rejection {
  if (isAbsent(value) || value === "") return undefined;
  const ms = typeof value === "string" ? parseTimeBound(value.trim(), { nowMs: 0, end: true }) : undefined;
  const hint = "For example 2026-11-15 or 2026-11-15T06:39:37Z.";
  return ms === undefined || ms <= 0
    ? reject({ code: "time_invalid", field: "valid_until", message: "valid_until is not a time", hint })
    : formatTime(ms);
}

function parseEvidence(value: unknown): readonly Evidence[] | Rejection {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value) || value.length > LIST_MAX) {
    return invalid("evidence", `evidence must be a list of at most ${LIST_MAX}, each with entry_id and quote`);
  }
  const evidence: Evidence[] = [];
  for (const [at, item] of value.entries()) {
    const { entry_id, quote } = isJsonObject(item) ? item : {};
    if (typeof entry_id !== "string" || entry_id === "" || typeof quote !== "string" || quote.trim() === "") {
      return invalid("evidence", `evidence[${at}] must have entry_id and quote, both texts`);
    }
    if (entry_id.length > limits.id_chars)
      return invalid("evidence", `evidence[${at}].entry_id is no id: it is too long`);
    if (quote.length > QUOTE_CHARS_MAX) return invalid("evidence", `evidence[${at}].quote is too long`);
    evidence.push({ entry_id, quote });
  }
  return evidence;
}

function parseTexts(field: string, value: unknown, most = LIST_MAX): readonly string[] | Rejection {
  if (isAbsent(value)) return [];
  const isFine = Array.isArray(value) && value.length <= most && value.every(isShortText);
  return isFine ? (value as readonly string[]) : invalid(field, `${field} must be a list of at most ${most} texts`);
}

function isShortText(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= TEXT_CHARS_MAX;
}

function parseText(field: string, value: unknown): string | Rejection {
  if (typeof value === "string" && value.length <= TEXT_CHARS_MAX) return value.toWellFormed();
  return invalid(field, `${field} must be a text of at most ${TEXT_CHARS_MAX} characters`);
}

function parseOneOf<T extends string>(field: string, value: unknown, known: readonly T[]): T | Rejection {
  const found = known.find((one) => one === value);
  return found ?? invalid(field, `${field} must be one of ${known.join(", ")}`);
}

function namesIn({ properties }: TObject): readonly string[] {
  return Object.keys(properties);
}

function objectOf(input: unknown, names: readonly string[]): JsonObject | Rejection {
  if (!isJsonObject(input)) return invalid("body", "a JSON object is needed");
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown === undefined) return input;
  const { message, field = "body", hint = "" } = notKnown("field", unknown, names);
  return reject({ code: "field_invalid", field, message, hint });
}

/** The first refusal among these, or what is made of all of them. */
function orFirst<T extends { readonly [name: string]: unknown }, R>(
  parsed: T,
  make: (values: { readonly [N in keyof T]: Exclude<T[N], Rejection> }) => R,
): R | Rejection {
  const refused = Object.values(parsed).find((value) => value instanceof Rejection);
  return refused instanceof Rejection ? refused : make(parsed as { [N in keyof T]: Exclude<T[N], Rejection> });
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function invalid(field: string, message: string): Rejection {
  return reject({ code: "field_invalid", field, message });
}
