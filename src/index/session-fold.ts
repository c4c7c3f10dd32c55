// Sessions as documents: sums over their entries, so a summary costs the same for any length.
import { isJsonObject, type JsonObject } from "../model/json.js";
import type { Fold } from "./fold.js";
import type { EntryRow, IndexDocument } from "./port.js";
import { carries, INJECTED } from "./references.js";

/** Sessions by `session_id`, sorted by the latest time, labelled with projects and clients. */
export const SESSIONS = "sessions";

export interface SessionRow {
  readonly session_id: string;
  readonly title: string;
  readonly metadata: JsonObject;
  readonly parent: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly entries: number;
  readonly by_kind: { readonly [kind: string]: number };
  /** How many of its messages were injected. */
  readonly injected: number;
  /** Greatest `through` of its consolidations since the last clear; 0 without any. */
  readonly consolidated_through: number;
  /** Position of the newest of them; 0 without any. */
  readonly consolidated_at: number;
  /** Position of its last clear marker; 0 without any. */
  readonly cleared_through: number;
  /** Position of its newest entry. */
  readonly last_position: number;
}

/** Sessions with an entry that has the label; `""` selects entries without it. */
export interface SessionFilter {
  readonly project?: string;
  readonly client?: string;
}

/** The document's body; the rest is its key, sort and labels. */
type SessionSums = Omit<SessionRow, "session_id" | "last_ms" | "projects" | "clients" | "entries" | "last_position">;

export const sessionFold: Fold = {
  collection: SESSIONS,
  keysOf: ({ session_id }) => (session_id === "" ? [] : [session_id]),
  add: addRows,
  rowsIn: (document) => sumOf(toSums(document).by_kind),
  positionsOf: (index, { key, after, limit }) =>
    index.sessionPositions({ session_id: key, order: "asc", after, limit }),
};

export function documentToSession(document: IndexDocument): SessionRow {
  const sums = toSums(document);
  return {
    session_id: document.key,
    title: sums.title,
    metadata: sums.metadata,
    parent: sums.parent,
    first_ms: sums.first_ms,
    last_ms: document.sort,
    projects: labelled(document.labels, "project:"),
    clients: labelled(document.labels, "client:"),
    entries: sumOf(sums.by_kind),
    by_kind: sums.by_kind,
    injected: sums.injected,
    consolidated_through: sums.consolidated_through,
    consolidated_at: sums.consolidated_at,
    cleared_through: sums.cleared_through,
    last_position: document.position,
  };
}

/** Non-empty labels with this prefix; an empty one marks an entry without. */
function labelled(labels: readonly string[], prefix: string): readonly string[] {
  const found: string[] = [];
  for (const label of labels) {
    if (label.length > prefix.length && label.startsWith(prefix)) found.push(label.slice(prefix.length));
  }
  return found;
}

/** The document labels of a filter. */
export function labelsOf(filter: SessionFilter): readonly string[] {
  return LABELLINGS.flatMap((what) => {
    const label = filter[what];
    return label === undefined ? [] : [`${what}:${label}`];
  });
}

const LABELLINGS = ["project", "client"] as const;

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const sums = document === undefined ? emptySums() : { ...toSums(document) };
  const by_kind: { [kind: string]: number } = { ...sums.by_kind };
  // Entries without a label add an empty one, which filters also use. A set keeps the order.
  const labels = new Set(document?.labels);
  let last: EntryRow | undefined;
  let sort = document?.sort ?? Number.MIN_SAFE_INTEGER;
  for (const row of rows) {
    by_kind[row.kind] = (by_kind[row.kind] ?? 0) + 1;
    for (const what of LABELLINGS) if (row[what] !== last?.[what]) labels.add(`${what}:${row[what]}`);
    last = row;
    sums.first_ms = Math.min(sums.first_ms, row.created_ms);
    sort = Math.max(sort, row.created_ms);
    if (row.kind === "clear") {
      sums.cleared_through = row.position;
      sums.consolidated_through = 0;
      sums.consolidated_at = 0;
    }
    if (carries(row, INJECTED)) sums.injected += 1;
    if (row.kind === "consolidation") sums.consolidated_at = row.position;
    if (row.facts !== undefined) addFacts(sums, row.facts);
  }
  const position = last?.position ?? 0;
  return { collection: SESSIONS, key, sort, position, labels: [...labels], body: { ...sums, by_kind } };
}

/** Later values win, key by key; for consolidations the greatest. */
function addFacts(sums: Writable<SessionSums>, { title, parent, metadata, through }: JsonObject): void {
  if (typeof title === "string") sums.title = title;
  if (typeof parent === "string") sums.parent = parent;
  if (isJsonObject(metadata)) sums.metadata = { ...sums.metadata, ...metadata };
  if (typeof through === "number") sums.consolidated_through = Math.max(sums.consolidated_through, through);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function emptySums(): Writable<SessionSums> {
  return {
    title: "",
    parent: "",
    metadata: {},
    first_ms: Number.MAX_SAFE_INTEGER,
    by_kind: {},
    injected: 0,
    consolidated_through: 0,
    consolidated_at: 0,
    cleared_through: 0,
  };
}

/** Only this fold writes this collection. */
function toSums({ body }: IndexDocument): SessionSums {
  return body as unknown as SessionSums;
}

function sumOf(counts: SessionSums["by_kind"]): number {
  return Object.values(counts).reduce((sum, entries) => sum + entries, 0);
}
