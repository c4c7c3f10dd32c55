// References: what an entry is found by besides its columns. References of rows and filter conditions both follow from
// this table, so a filter on a reference that no row has does not compile.
import { REPLACED } from "../model/body.js";
import { isMemoryKind } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { type Mark, marksOf, modelOf } from "../model/states.js";
import { touchedFiles } from "../model/touched-files.js";

/** Labels that are references. An entry with one also has its name as a mark, which filters for those without need. */
const labelsOf = {
  user_id: (_: string, { user_id }: JsonObject) => textIn(user_id),
  // The tags of a memory are its own.
  tag: (kind: string, { tags }: JsonObject) => (isMemoryKind(kind) ? [] : (textsIn(tags) ?? [])),
  parent_id: (_: string, { parent_id }: JsonObject) => textIn(parent_id),
} as const;

export type LabelReference = keyof typeof labelsOf;

const labelReferences = Object.keys(labelsOf) as readonly LabelReference[];

type HasMark = "context" | "request" | "list" | "altered" | "held_back" | LabelReference | "replaced";

function textIn(value: JsonValue | undefined): readonly string[] {
  return typeof value === "string" && value !== "" ? [value] : [];
}

/** The entry's references; undefined if its body is not a recorded one. */
type Derive<R extends string = string> = (kind: string, body: JsonObject) => readonly R[] | undefined;

const referenceTable = {
  /** Memories that an answer used, by id. */
  memory: (kind, { memories_used }) => (isCall(kind) ? textsIn(memories_used) : []),
  /** Chunks that an answer used. */
  chunk: (kind, { chunks_used }) => (isCall(kind) ? textsIn(chunks_used) : []),
  tool: (kind, { tool }) => (kind === "tool_call" && typeof tool === "string" ? [tool] : []),
  model: modelsOf,
  /** Files that a call names, by every end of their paths. */
  file: filesOf,
  /** Answers with a recorded context, recorded requests, lists of what stays, and entries that were altered before they were indexed. */
  has: ((kind, body): readonly HasMark[] => [
    ...(hasContext(kind, body) ? (["context"] as const) : []),
    ...(isRequest(kind, body) ? (["request"] as const) : []),
    ...(isGivenList(kind, body) ? (["list"] as const) : []),
    ...(kind === "audit" && body.action === "held_back" ? (["held_back"] as const) : []),
    ...(kind === "audit" && body.action === REPLACED ? (["replaced"] as const) : []),
    ...labelReferences.filter((what) => labelsOf[what](kind, body).length > 0),
  ]) satisfies Derive<HasMark>,
  /** Whom it was done for. */
  user_id: (kind, body) => labelsOf.user_id(kind, body),
  tag: (kind, body) => labelsOf.tag(kind, body),
  /** The entry that it was made for. */
  parent_id: (kind, body) => labelsOf.parent_id(kind, body),
  /** The provider's id of an answer. */
  answer: answerIdsOf,
  is: marksOf satisfies Derive<Mark>,
  /** Memories that an entry is about. */
  memory_history: memoriesOf,
} satisfies { readonly [what: string]: Derive };

type ReferenceTable = typeof referenceTable;

/** A reference, for example to a used memory by its id. Both parts are compared exactly. */
export type Reference = {
  readonly [W in keyof ReferenceTable]: {
    readonly what: W;
    readonly reference: NonNullable<ReturnType<ReferenceTable[W]>>[number];
  };
}[keyof ReferenceTable];

/** Marks interactions with a recorded context pack, and messages that name their request. */
export const HAS_CONTEXT = { what: "has", reference: "context" } as const satisfies Reference;

/** Marks raw entries that hold a request. */
export const HAS_REQUEST = { what: "has", reference: "request" } as const satisfies Reference;

/** Marks raw entries that list what the model is given from there on. */
export const HAS_LIST = { what: "has", reference: "list" } as const satisfies Reference;

/** Marks errors, failed tool calls and failed interactions. */
export const FAILED = { what: "is", reference: "failed" } as const satisfies Reference;

/** Marks messages that a program put into the conversation. */
export const INJECTED = { what: "is", reference: "injected" } as const satisfies Reference;

/** Marks entries with a label of this name. */
export function hasLabel(name: LabelReference): Reference {
  return { what: "has", reference: name };
}

/** Marks notes of proposals that were held back. */
export const HAS_HELD_BACK = { what: "has", reference: "held_back" } as const satisfies Reference;

/** Marks notes that entries were replaced by a newer derivation. */
export const HAS_REPLACED = { what: "has", reference: "replaced" } as const satisfies Reference;

/** Marks entries that were altered before they were indexed. */
export const HAS_ALTERED = { what: "has", reference: "altered" } as const satisfies Reference;

export function carries({ references }: { readonly references: readonly Reference[] }, wanted: Reference): boolean {
  return references.some(({ what, reference }) => what === wanted.what && reference === wanted.reference);
}

/** Matches entries that a reference counts for, whichever entry has it; with `lacks`, entries without it; with `or`, any of these too. */
export type ReferenceCondition = Reference & { readonly lacks?: boolean; readonly or?: readonly Reference[] };

/** A condition's references; one of them has to count. */
export function referencesIn({ what, reference, or = [] }: ReferenceCondition): readonly Reference[] {
  return [{ what, reference } as Reference, ...or];
}

/** In table order; undefined if the body is not a recorded one. */
export function referencesOf(kind: string, body: JsonObject): readonly Reference[] | undefined {
  const references: Reference[] = [];
  for (const [what, derive] of Object.entries(referenceTable)) {
    const found = derive(kind, body);
    if (found === undefined) return undefined;
    for (const reference of found) references.push({ what, reference } as Reference);
  }
  return references;
}

function isCall(kind: string): boolean {
  return kind === "interaction" || kind === "response";
}

function modelsOf(kind: string, body: JsonObject): readonly string[] {
  const model = isCall(kind) || kind === "message" ? modelOf(kind, body) : undefined;
  return model === undefined ? [] : [model];
}

/** Longer ends of a path are not told apart. */
const PATH_PARTS_MAX = 16;

/** `/a/b/c.ts` ends with `c.ts`, `b/c.ts`, `a/b/c.ts` and with itself. */
function filesOf(kind: string, { tool, args }: JsonObject): readonly string[] {
  if (kind !== "tool_call") return [];
  const ends = new Set<string>();
  for (const [path] of touchedFiles(tool, args)) {
    const parts = path.split("/").filter((part) => part !== "");
    for (let count = 1; count <= Math.min(parts.length, PATH_PARTS_MAX); count += 1)
      ends.add(parts.slice(-count).join("/"));
    if (ends.size >= FILE_ENDS_MAX) break;
  }
  return [...ends];
}

/** A patch of many files names each with all its ends. */
const FILE_ENDS_MAX = 200;

function hasContext(kind: string, { context_pack, extra }: JsonObject): boolean {
  if (kind === "message") return isJsonObject(extra) && typeof extra.given_in === "string";
  return kind === "interaction" && isJsonObject(context_pack) && Object.keys(context_pack).length > 0;
}

/** A raw entry with the messages of a request, as far as an earlier one did not have them. */
function isRequest(kind: string, { extra }: JsonObject): boolean {
  return kind === "raw" && isJsonObject(extra) && isJsonObject(extra.given);
}

/** A raw entry that names the entries that the model is given from there on, in their order. */
function isGivenList(kind: string, { extra }: JsonObject): boolean {
  return kind === "raw" && isJsonObject(extra) && Array.isArray(extra.given_list);
}

function answerIdsOf(kind: string, { extra }: JsonObject): readonly string[] {
  const id = (isCall(kind) || kind === "message") && isJsonObject(extra) ? extra.message_id : undefined;
  return typeof id === "string" && id !== "" && id.length <= ANSWER_CHARS_MAX ? [id] : [];
}

/** Longer ones are ignored; providers' have less than a quarter of this. */
const ANSWER_CHARS_MAX = 256;

function memoriesOf(kind: string, { id, memory_id, memories }: JsonObject): readonly string[] {
  if (!isMemoryKind(kind)) return [];
  if (kind === "memory_proposed") return [String(id)];
  if (kind !== "memory_reinforced") return [String(memory_id)];
  const named = Array.isArray(memories) ? memories.filter(isJsonObject) : [];
  return named.map((memory) => String(memory.memory_id));
}

function textsIn(list: JsonValue | undefined): readonly string[] | undefined {
  if (list === undefined) return [];
  return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
}
