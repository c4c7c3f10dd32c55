// Sessions as documents: sums over their entries, so a summary costs the same for any length. Metadata, which may be as large
// as an entry, are documents of their own: those of sessions stay small, and all of them can be read.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { normalisedPath } from "../model/touched-files.js";
import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";
import { carries, FAILED, INJECTED } from "./references.js";
import { activeBetween, eventOf, factsIn, joined, promptOf, type TurnEvent, type TurnPrompt } from "./turns.js";

/** Sessions by `session_id`, sorted by the latest time, labelled with projects and clients. */
export const SESSIONS = "sessions";

export interface SessionRow {
  readonly session_id: string;
  /** As it was given; empty if nobody gave one. */
  readonly title: string;
  /** The first words of its first prompt; empty without one. */
  readonly first_prompt: string;
  readonly parent: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly users: readonly string[];
  readonly tags: readonly string[];
  /** Its first working directory; empty if it is unknown. */
  readonly cwd: string;
  /** Whether its metadata name a source: then it is a transcript. */
  readonly has_source: boolean;
  readonly entries: number;
  readonly by_kind: { readonly [kind: string]: number };
  /** How many of its messages were injected. */
  readonly injected: number;
  /** Errors, failed tool calls and failed interactions. */
  readonly failures: number;
  readonly turns: number;
  /** Distinct files that its calls read or changed. */
  readonly files: number;
  /** Time spent, without long pauses. */
  readonly active_ms: number;
  /** What happened last; empty if nothing was asked, answered or called. */
  readonly last_event: TurnEvent | "";
  readonly last_answer: string;
  /** Greatest `through` of its consolidations since the last clear; 0 without any. */
  readonly consolidated_through: number;
  /** Position of the newest of them; 0 without any. */
  readonly consolidated_at: number;
  /** Position of its last clear marker; 0 without any. */
  readonly cleared_through: number;
  /** Position of its oldest entry. */
  readonly first_position: number;
  /** Position of its newest entry. */
  readonly last_position: number;
}

/** The document's body; the rest is its key, sort and labels. */
interface SessionSums
  extends Omit<SessionRow, "session_id" | "last_ms" | "projects" | "clients" | "entries" | "last_position" | "files"> {
  /** Time of the entry before. */
  readonly before_ms: number;
  /** The prompt of the turn that is open. */
  readonly prompt?: TurnPrompt;
  /** Digests of the files, each as long as the others. */
  readonly file_digests: string;
}

export const sessionFold: Fold = {
  collection: SESSIONS,
  keysOf: ({ session_id }) => (session_id === "" ? [] : [session_id]),
  add: addRows,
  rowsIn: (document) => sumOf(toSums(document).by_kind),
  positionsOf: (index, { key, after, limit }) =>
    index.sessionPositions({ session_id: key, order: "asc", after, limit }),
};

export function documentToSession(document: IndexDocument): SessionRow {
  const { before_ms: _, prompt: __, file_digests, ...sums } = toSums(document);
  return {
    ...sums,
    session_id: document.key,
    last_ms: document.sort,
    projects: labelled(document.labels, "project:"),
    clients: labelled(document.labels, "client:"),
    entries: sumOf(sums.by_kind),
    files: file_digests.length / DIGEST_CHARS,
    active_ms: Math.min(sums.active_ms, document.sort - sums.first_ms),
    last_position: document.position,
  };
}

/** What sessions are called, by `session_id`; those without a title or a prompt are not in it. */
export async function titlesOf(
  index: Pick<EntryIndex, "getDocuments">,
  session_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const keys = [...new Set(session_ids)].filter((id) => id !== "");
  if (keys.length === 0) return new Map();
  const documents = await index.getDocuments({ collection: SESSIONS, keys });
  const titles = documents.map((document) => {
    const { title, first_prompt } = toSums(document);
    return [document.key, title || first_prompt] as const;
  });
  return new Map(titles.filter(([, title]) => title !== ""));
}

/** Non-empty labels with this prefix; an empty one marks an entry without. */
function labelled(labels: readonly string[], prefix: string): readonly string[] {
  const found: string[] = [];
  for (const label of labels) {
    if (label.length > prefix.length && label.startsWith(prefix)) found.push(label.slice(prefix.length));
  }
  return found;
}

const LABELLINGS = ["project", "client"] as const;

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const sums = document === undefined ? emptySums() : { ...toSums(document) };
  const by_kind: { [kind: string]: number } = { ...sums.by_kind };
  sums.by_kind = by_kind;
  // Entries without a label add an empty one, which filters also use. A set keeps the order.
  const labels = new Set(document?.labels);
  const files = new FileDigests(sums);
  let last: EntryRow | undefined;
  let sort = document?.sort ?? Number.MIN_SAFE_INTEGER;
  for (const row of rows) {
    by_kind[row.kind] = (by_kind[row.kind] ?? 0) + 1;
    for (const what of LABELLINGS) if (row[what] !== last?.[what]) labels.add(`${what}:${row[what]}`);
    last = row;
    if (sums.first_position === 0) sums.first_position = row.position;
    else sums.active_ms += activeBetween(sums.before_ms, row.created_ms);
    sums.before_ms = row.created_ms;
    sums.first_ms = Math.min(sums.first_ms, row.created_ms);
    sort = Math.max(sort, row.created_ms);
    if (row.kind === "clear") {
      sums.cleared_through = row.position;
      sums.consolidated_through = 0;
      sums.consolidated_at = 0;
    }
    if (row.references.length > 0) {
      if (carries(row, INJECTED)) sums.injected += 1;
      if (carries(row, FAILED)) sums.failures += 1;
      for (const { what, reference } of row.references) {
        if (what === "user_id") sums.users = including(sums.users, reference);
        else if (what === "tag") sums.tags = including(sums.tags, reference);
      }
    }
    if (row.kind === "consolidation") sums.consolidated_at = row.position;
    if (row.facts !== undefined) {
      addFacts(sums, row.facts);
      if (row.facts.session !== undefined) addSaid(sums, row, files);
    }
    sums.last_event = eventOf(row) ?? sums.last_event;
  }
  sums.file_digests = files.text;
  const position = last?.position ?? 0;
  return { collection: SESSIONS, key, sort, position, labels: [...labels], body: sums as object as JsonObject };
}

/** Later values win; for consolidations the greatest. The first working directory is where the session began. */
function addFacts(sums: Writable<SessionSums>, { title, parent, metadata, through }: JsonObject): void {
  if (typeof title === "string") sums.title = title;
  if (typeof parent === "string") sums.parent = parent;
  if (isJsonObject(metadata)) {
    if (sums.cwd === "") sums.cwd = folderIn(metadata.cwd);
    if (metadata.source !== undefined) sums.has_source = true;
  }
  if (typeof through === "number") sums.consolidated_through = Math.max(sums.consolidated_through, through);
}

function folderIn(cwd: JsonValue | undefined): string {
  return typeof cwd === "string" ? (normalisedPath(cwd.replace(/[\\/]+$/, "")) ?? "") : "";
}

/** Distinct users and tags per session; a session with more lists the first. */
const NAMES_MAX = 200;

function addSaid(sums: Writable<SessionSums>, row: EntryRow, files: FileDigests): void {
  const said = factsIn(row);
  const prompt = promptOf(row);
  if (prompt !== undefined) {
    const same = joined(sums.prompt, prompt, sums.last_event === "" ? undefined : sums.last_event);
    if (same === undefined) sums.turns += 1;
    sums.prompt = same ?? prompt;
    // The name of a command says little about a session.
    if (BARE_COMMAND.test(sums.first_prompt)) sums.first_prompt = said.prompt ?? sums.first_prompt;
  }
  if (said.answer !== undefined) sums.last_answer = said.answer;
  for (const [path] of said.files ?? []) files.add(path);
}

const BARE_COMMAND = /^(?:\/[\w:-]+|\[image\])?$/;

function including(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) || names.length >= NAMES_MAX ? names : [...names, name];
}

const DIGEST_CHARS = 6;
const DIGEST_BITS = 31;
/** Of a session with more files, so many are counted. */
const FILES_MAX = 2_000;

/** The files of a session, each as a digest of its path below the working directory. */
class FileDigests {
  readonly #sums: Pick<SessionSums, "cwd" | "file_digests">;
  #known: Set<string> | undefined;

  constructor(sums: Pick<SessionSums, "cwd" | "file_digests">) {
    this.#sums = sums;
  }

  add(path: string): void {
    this.#known ??= new Set(this.#sums.file_digests.match(/.{6}/g) ?? []);
    if (this.#known.size < FILES_MAX) this.#known.add(digestOf(relativeTo(this.#sums.cwd, path)));
  }

  get text(): string {
    return this.#known === undefined ? this.#sums.file_digests : [...this.#known].join("");
  }
}

/** The path below a folder, or unchanged if it is elsewhere. */
export function relativeTo(folder: string, path: string): string {
  return folder !== "" && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

function digestOf(path: string): string {
  let digest = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) digest = Math.imul(digest ^ path.charCodeAt(at), 0x01000193);
  return (digest >>> (32 - DIGEST_BITS)).toString(36).padStart(DIGEST_CHARS, "0");
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function emptySums(): Writable<SessionSums> {
  return {
    title: "",
    first_prompt: "",
    parent: "",
    users: [],
    tags: [],
    cwd: "",
    has_source: false,
    first_ms: Number.MAX_SAFE_INTEGER,
    before_ms: 0,
    by_kind: {},
    injected: 0,
    failures: 0,
    turns: 0,
    file_digests: "",
    active_ms: 0,
    last_event: "",
    last_answer: "",
    consolidated_through: 0,
    consolidated_at: 0,
    cleared_through: 0,
    first_position: 0,
  };
}

/** Only this fold writes this collection. */
function toSums({ body }: IndexDocument): SessionSums {
  return body as unknown as SessionSums;
}

function sumOf(counts: SessionSums["by_kind"]): number {
  return Object.values(counts).reduce((sum, entries) => sum + entries, 0);
}

// Metadata of sessions, by `session_id`: later values win, key by key.

const METADATA = "session_metadata";

export const metadataFold: Fold = {
  collection: METADATA,
  keysOf: ({ session_id, facts }) => (session_id !== "" && isJsonObject(facts?.metadata) ? [session_id] : []),
  add(key, document, given) {
    const rows = given.filter(({ facts }) => isJsonObject(facts?.metadata));
    if (rows.length === 0) return document;
    const before = document === undefined ? undefined : (document.body as unknown as Metadata);
    let metadata = before?.metadata ?? {};
    for (const { facts } of rows) metadata = { ...metadata, ...(facts?.metadata as JsonObject) };
    const position = rows.at(-1)?.position ?? 0;
    const body = { metadata, rows: (before?.rows ?? 0) + rows.length };
    return { collection: METADATA, key, sort: position, position, labels: [], body };
  },
  rowsIn: ({ body }) => (body as unknown as Metadata).rows,
  positionsOf: (index, { key, after, limit }) =>
    index.sessionPositions({ session_id: key, order: "asc", after, limit, kinds: ["session_info"] }),
};

interface Metadata {
  readonly metadata: JsonObject;
  /** How many entries gave them. */
  readonly rows: number;
}

/** Of these sessions, by `session_id`; those without any are not in it. */
export async function metadataOf(
  index: Pick<EntryIndex, "getDocuments">,
  session_ids: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const documents = await index.getDocuments({ collection: METADATA, keys: session_ids });
  return new Map(documents.map(({ key, body }) => [key, (body as unknown as Metadata).metadata]));
}
