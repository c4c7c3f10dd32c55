// What an entry becomes in the index: its row, its texts, and the version of that. Any change of this folder's output leaves
// existing indexes incomplete until they are rebuilt.
import { isDeepStrictEqual } from "node:util";
import type { EntryLog, StoredBody } from "../log/port.js";
import { fillFields } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import { saidIn } from "../model/content.js";
import { type FieldsByKind, isMemoryKind, type Kind, type ReservedFieldsByKind } from "../model/entry.js";
import { firstWords } from "../model/first-words.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import { readRole } from "../model/roles.js";
import { telemetryFactsOf } from "../model/telemetry.js";
import { parseTime } from "../model/time.js";
import { callFactsOf } from "./call-fold.js";
import { stepFactsOf } from "./call-steps.js";
import type { EntryIndex, EntryRow, EntryTexts, Reference } from "./port.js";
import { carries, HAS_ALTERED, referencesOf } from "./references.js";
import { sessionFactsOf, TITLE_WORDS } from "./session-facts.js";

/**
 * Raise it with every change of the rows, references, facts, texts or documents that an entry becomes.
 * `test/upgrade/derivation.test.ts` fails if the output changes and this number does not.
 */
export const DERIVATION = 11;

/** `DERIVATION` stays below this; the tables' version is in front of it. */
const DERIVATIONS_MAX = 1_000;

/**
 * What an engine stores with its index: the version of its tables and of their content. Any change raises the number,
 * so one comparison tells whether an index is older, newer or current.
 */
export function indexVersion(tables: number): number {
  return tables * DERIVATIONS_MAX + DERIVATION;
}

/** In words; versions from before `DERIVATION` are those of the tables alone. */
export function describeIndexVersion(version: number): string {
  if (version < DERIVATIONS_MAX) return `tables ${version}`;
  return `tables ${Math.floor(version / DERIVATIONS_MAX)}, derivation ${version % DERIVATIONS_MAX}`;
}

// The index row of an entry, derived from its body; and which rows of an index differ from that.

/** The input for a row: the entry's position and its parsed body. */
export interface PlacedBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly body: JsonObject;
}

/** Erased entries have no row; altered ones a bare row, see below. */
export function readableBody(stored: StoredBody): PlacedBody | undefined {
  const { position, kind, recorded_at, body: text } = stored;
  const body = parseJsonObject(text);
  return body === undefined ? undefined : { position, kind, recorded_at, body };
}

/** The row; undefined if the body is not a recorded one: damaged bodies may parse. */
export function toEntryRow({ position, kind, recorded_at, body }: PlacedBody, about?: number): EntryRow | undefined {
  const { created_at = recorded_at, session_id = "", project = "", client = "" } = body;
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  if (created_ms === undefined || typeof body.id !== "string") return undefined;
  if (typeof session_id !== "string" || typeof project !== "string" || typeof client !== "string") return undefined;
  const references = referencesOf(kind, body);
  if (references === undefined) return undefined;
  const facts = factsOf(kind, body, recorded_at);
  return {
    position,
    kind,
    created_ms,
    session_id,
    project,
    client,
    references,
    ...(about === undefined ? {} : { about }),
    ...(kind === "message" ? { role: readRole(body.role as string) } : {}),
    ...(facts === undefined ? {} : { facts }),
  };
}

/**
 * The row of an altered entry, from what the chain has, so lists can show it. An entry altered after it was indexed
 * keeps its row.
 */
export function toAlteredRow({ position, kind, recorded_at, flaw }: StoredBody): EntryRow | undefined {
  const created_ms = flaw === undefined ? undefined : parseTime(recorded_at);
  if (created_ms === undefined) return undefined;
  return { position, kind, created_ms, session_id: "", project: "", client: "", references: [HAS_ALTERED] };
}

/** Folds ignore such rows. */
export function isAlteredRow(row: EntryRow): boolean {
  return carries(row, HAS_ALTERED);
}

/** Facts for folds and for finding the same call, besides what every row has. */
function factsOf(kind: string, body: JsonObject, recorded_at: string): JsonObject | undefined {
  const facts = foldFactsOf(kind, body, recorded_at);
  const same = stepFactsOf(kind, body) as JsonObject | undefined;
  const session = sessionFactsOf(kind, body) as JsonObject | undefined;
  if (same === undefined && session === undefined) return facts;
  return { ...facts, ...(same && { same }), ...(session && { session }) };
}

function foldFactsOf(kind: string, body: JsonObject, recorded_at: string): JsonObject | undefined {
  const { through, withdraws, entry_id } = body;
  if (kind === "session_info") return toSessionInfo(body);
  if (kind === "withdrawal" && typeof withdraws === "number") return { withdraws };
  if (kind === "feedback" && typeof entry_id === "string") return { entry_id };
  if (isMemoryKind(kind)) return fillFields(kind, body);
  const call = callFactsOf(kind, body) as JsonObject | undefined;
  if (kind === "consolidation" && typeof through === "number") {
    const { tokens_before } = body;
    const before = typeof tokens_before === "number" ? { tokens_before } : {};
    return { through, ...before, ...(call && { call }) };
  }
  const telemetry = kind === "raw" ? telemetryFactsOf(body, parseTime(recorded_at) ?? 0) : undefined;
  if (telemetry !== undefined) return { ...(call && { call }), telemetry: telemetry as object as JsonObject };
  return call && { call };
}

/** The id of the entry that this entry counts for. */
function aboutOf(kind: string, { interaction_id, entry_id }: JsonObject): string | undefined {
  if (kind === "response") return String(interaction_id);
  return kind === "feedback" ? String(entry_id) : undefined;
}

/** Missing and empty fields say nothing about the session. */
function toSessionInfo({ title, parent, metadata }: JsonObject): JsonObject {
  return {
    ...(typeof title === "string" && title !== "" ? { title: firstWords(title, TITLE_WORDS) } : {}),
    ...(typeof parent === "string" && parent !== "" ? { parent } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}

/** In order of the bodies; invalid bodies have no row. */
export async function rowsOfBodies(
  log: Pick<EntryLog, "find">,
  bodies: readonly PlacedBody[],
): Promise<readonly EntryRow[]> {
  const ids = bodies.flatMap(({ kind, body }) => aboutOf(kind, body) ?? []);
  const positions = ids.length === 0 ? [] : await log.find(ids.map(idClaim));
  const positionById = new Map(ids.map((id, index) => [id, positions[index]]));
  return bodies.flatMap((placed) => {
    const about = aboutOf(placed.kind, placed.body);
    return toEntryRow(placed, about === undefined ? undefined : positionById.get(about)) ?? [];
  });
}

interface RowComparison {
  /** Expected rows of entries that have a body. */
  readonly rows: readonly EntryRow[];
  /** Positions, in order, where the index has a different, missing or superfluous row. */
  readonly mismatched: readonly number[];
}

/**
 * Compares index rows with those derived from the log; all entries must be indexed. Rows of altered entries are
 * accepted as they are, since nothing can be derived from them.
 */
export async function compareRows(
  { log, index }: { readonly log: Pick<EntryLog, "find">; readonly index: Pick<EntryIndex, "rowsAt"> },
  stored: readonly StoredBody[],
): Promise<RowComparison> {
  const made = await rowsOfBodies(
    log,
    stored.flatMap((one) => readableBody(one) ?? []),
  );
  const found = new Map((await index.rowsAt(stored.map(({ position }) => position))).map((row) => [row.position, row]));
  const kept = stored.flatMap(({ flaw, position }) => (flaw === undefined ? [] : (found.get(position) ?? [])));
  const rows = kept.length === 0 ? made : [...made, ...kept].sort((left, right) => left.position - right.position);
  const expected = new Map(rows.map((row) => [row.position, row]));
  const strange = stored
    .map(({ position }) => position)
    .filter((position) => !isSameRow(expected.get(position), found.get(position)));
  return { rows, mismatched: strange };
}

/** References are a set, and those that count for a missing entry are not stored. */
function isSameRow(expected: EntryRow | undefined, found: EntryRow | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found;
  const { references, ...row } = expected;
  const { references: kept, ...own } = found;
  return isDeepStrictEqual(row, own) && (row.about !== undefined || isSameSet(references, kept));
}

function isSameSet(some: readonly Reference[], others: readonly Reference[]): boolean {
  const names = new Set(some.map(nameOf));
  return new Set(others.map(nameOf)).size === names.size && others.every((one) => names.has(nameOf(one)));
}

function nameOf({ what, reference }: Reference): string {
  return `${what}:${reference}`;
}

// The texts of an entry that searches look through, each with its field; and the texts that a model was given.

export interface FieldText {
  readonly field: string;
  readonly text: string;
}

/**
 * Searched fields, in the order in which hits are looked for. Of entries that the log writes, only memories have texts;
 * quotes are found where they were said, sessions by id.
 */
const fieldsByKind: { readonly [K in Kind]: readonly (keyof (FieldsByKind & ReservedFieldsByKind)[K])[] } = {
  interaction: ["prompt", "response", "response_summary", "error"],
  response: ["response", "response_summary", "error"],
  message: ["content", "name", "tool_calls"],
  tool_call: ["tool", "args", "result"],
  error: ["error", "context"],
  decision: ["decision", "rationale"],
  consolidation: ["summary"],
  clear: [],
  withdrawal: [],
  feedback: ["comment", "label"],
  session_info: [],
  raw: ["record"],
  audit: [],
  redaction: [],
  memory_proposed: ["content"],
  memory_edited: ["content"],
  memory_promoted: [],
  memory_rejected: [],
  memory_superseded: [],
  memory_reinforced: [],
};

/**
 * The texts of an entry as recorded, from its body or the entry itself, since fields are flat in both. Text of a later
 * response belongs to the entry that brought it.
 */
export function textsOf(kind: string, fields: object): readonly FieldText[] {
  if (!Object.hasOwn(fieldsByKind, kind)) return [];
  const texts: FieldText[] = [];
  const values = fields as { readonly [field: string]: JsonValue | undefined };
  for (const field of fieldsByKind[kind as Kind]) {
    const add = (text: string): void => {
      if (text !== "") texts.push({ field, text });
    };
    if (field === "content") addContent(values.content, add);
    else addLeaves(values[field], add);
  }
  return texts;
}

/** Whether entries of this kind have texts at all. */
export function hasTexts(kind: string): boolean {
  return Object.hasOwn(fieldsByKind, kind) && fieldsByKind[kind as Kind].length > 0;
}

/** All non-empty keys and leaves of a value. */
function leavesOf(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  addLeaves(value, (text) => {
    if (text !== "") texts.push(text);
  });
  return texts;
}

/** The texts as the index stores them, normalised for searches. */
export function toEntryTexts(placed: {
  readonly position: number;
  readonly kind: string;
  readonly body: JsonObject;
}): EntryTexts {
  const texts = textsOf(placed.kind, placed.body).map(({ text }) => normalise(text));
  return { position: placed.position, texts };
}

/** A string is one text, even if it contains JSON; lists and objects yield each key and leaf. Null yields nothing. */
function addLeaves(value: JsonValue | undefined, add: (text: string) => void): void {
  if (typeof value === "string") add(value);
  else if (typeof value === "number" || typeof value === "boolean") add(JSON.stringify(value));
  else if (Array.isArray(value)) for (const item of value) addLeaves(item, add);
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      add(key);
      addLeaves(item, add);
    }
  }
}

/** Content parts yield what was said or called, not their types or the bytes of an image. */
function addContent(content: JsonValue | undefined, add: (text: string) => void): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (!isJsonObject(part)) {
      addLeaves(part, add);
      continue;
    }
    for (const text of saidIn(part)) add(text);
    // Calls inside content are searched like those in `tool_calls`; results have content of their own.
    if (part.type === "tool_use") {
      addLeaves(part.name, add);
      addLeaves(part.input, add);
    }
    if (part.type === "tool_result") addContent(part.content, add);
  }
}

/** A message, or what comes with the messages. */
export interface GivenPart {
  /** The message's role, or `system`, `tools` or `context_pack`. */
  readonly role: string;
  readonly value: JsonValue;
  /** The part's texts; of a masked copy if one is passed. */
  readonly texts: (value?: JsonValue) => readonly string[];
}

/** The parts of a context pack in the order that models get them: tools and system first, then messages. */
export function partsOfPack(pack: JsonObject): readonly GivenPart[] {
  const { messages = [], system, tools, ...rest } = pack;
  const isList = Array.isArray(messages);
  // Messages that are not a list count as well.
  const others = isList ? rest : { ...rest, messages };
  return [
    ...(isNothing(tools) ? [] : [besideMessages("tools", tools)]),
    ...(isNothing(system) ? [] : [systemPart(system)]),
    ...(Object.keys(others).length === 0 ? [] : [besideMessages("context_pack", others)]),
    ...(isList ? messages.map(messagePart) : []),
  ];
}

export function messagePart(message: JsonValue): GivenPart {
  return { role: roleOf(message), value: message, texts: (value = message) => textsOfMessage(value) };
}

export function roleOf(message: JsonValue): string {
  return isJsonObject(message) && typeof message.role === "string" ? message.role : "";
}

function besideMessages(role: string, value: JsonValue): GivenPart {
  return { role, value, texts: (given = value) => leavesOf(given) };
}

/** A system text is content like a message's. */
function systemPart(system: JsonValue): GivenPart {
  return { role: "system", value: system, texts: (value = system) => textsOfMessage({ content: value }) };
}

function textsOfMessage(message: JsonValue): readonly string[] {
  if (!isJsonObject(message)) return leavesOf(message);
  const { content = null, name = null, tool_calls = null, ...others } = message;
  const said = textsOf("message", { content, name, tool_calls }).map(({ text }) => text);
  const known = isJsonObject(content) ? [...said, ...leavesOf(content)] : said;
  // Fields of a provider's own format, such as reasoning, were given as well.
  const rest = Object.entries(others).filter(([field]) => !ADDRESSES.has(field));
  return [...known, ...rest.flatMap(([, value]) => leavesOf(value))];
}

/** Fields that only identify a message. */
const ADDRESSES: ReadonlySet<string> = new Set(["role", "type", "id", "tool_call_id", "entry_id"]);

function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}
