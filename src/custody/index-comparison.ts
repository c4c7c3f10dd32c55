// The index held against the log: every row, and what was counted by kind and by session, from what the bodies say.
import { isDeepStrictEqual } from "node:util";
import { compareRows } from "../indexing/rows-of-bodies.js";
import { documentToSession, SESSIONS } from "../indexing/session-fold.js";
import type { EntryIndex, EntryRow, IndexDocument, IndexStanding, RowKey } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import { walkBodies } from "../ports/walk-log.js";

export interface IndexComparison {
  /** What differs, in words; none where the index is what the log makes. */
  readonly differences: readonly string[];
  /** Whether so much was recorded and forgotten meanwhile that nothing can be said. */
  readonly is_unsettled?: true;
}

interface Sums {
  readonly by_kind: Map<string, number>;
  readonly sessions: Map<string, { [kind: string]: number }>;
  rows: number;
}

const TRIES_MAX = 5;
const PAGE = 5_000;

export async function compareIndex(
  parts: { readonly log: EntryLog; readonly index: EntryIndex },
  options: { readonly onProgress?: (through: number) => void } = {},
): Promise<IndexComparison> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const found = await sumsOfIndex(parts.index);
    if (found === undefined) continue;
    const { through, sums } = found;
    const expected = emptySums();
    const strange: number[] = [];
    for await (const batch of walkBodies(parts.log, { through })) {
      const compared = await compareRows(parts, batch);
      strange.push(...compared.strange);
      for (const row of compared.rows) addRow(expected, row);
      options.onProgress?.(batch.at(-1)?.position ?? through);
    }
    // What was forgotten since is no longer there to be compared.
    if ((await parts.log.redactionsAfter(through)).positions.length > 0) continue;
    return { differences: [...rowDifferences(strange), ...sumDifferences(expected, sums)] };
  }
  return { differences: [], is_unsettled: true };
}

/** What the index says at one moment; undefined where it moved on meanwhile. */
async function sumsOfIndex(index: EntryIndex): Promise<{ readonly through: number; readonly sums: Sums } | undefined> {
  const letGo = index.hold?.();
  try {
    const before = await index.standing();
    const sums = emptySums();
    for (const [kind, entries] of Object.entries((await index.count()).by_kind)) sums.by_kind.set(kind, entries);
    for await (const document of sessionDocuments(index)) {
      const { session_id, by_kind } = documentToSession(document);
      sums.sessions.set(session_id, { ...by_kind });
    }
    for (let after: RowKey | undefined; ; ) {
      const page = await index.list({ filter: {}, limit: PAGE, ...(after && { after }) });
      sums.rows += page.length;
      after = page.at(-1);
      if (page.length < PAGE) break;
    }
    return isSameStanding(before, await index.standing()) ? { through: before.position, sums } : undefined;
  } finally {
    letGo?.();
  }
}

async function* sessionDocuments(index: EntryIndex): AsyncGenerator<IndexDocument> {
  for (let last: IndexDocument | undefined; ; ) {
    const beyond = last === undefined ? {} : { beyond: { sort: last.sort, key: last.key } };
    const page = await index.listDocuments({ collection: SESSIONS, order: "asc", limit: PAGE, ...beyond });
    yield* page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

function isSameStanding(one: IndexStanding, other: IndexStanding): boolean {
  return one.position === other.position && one.epoch === other.epoch;
}

function emptySums(): Sums {
  return { by_kind: new Map(), sessions: new Map(), rows: 0 };
}

function addRow(sums: Sums, { kind, session_id }: EntryRow): void {
  sums.rows += 1;
  sums.by_kind.set(kind, (sums.by_kind.get(kind) ?? 0) + 1);
  if (session_id === "") return;
  const own = sums.sessions.get(session_id) ?? {};
  own[kind] = (own[kind] ?? 0) + 1;
  sums.sessions.set(session_id, own);
}

function rowDifferences(strange: readonly number[]): readonly string[] {
  if (strange.length === 0) return [];
  const what = strange.length === 1 ? "1 row is" : `${strange.length} rows are`;
  return [`${what} not what the log makes of the entry (the first at position ${strange[0]})`];
}

/** Names of sessions are recorded text, so that only their number is told. */
function sumDifferences(expected: Sums, found: Sums): readonly string[] {
  const differences: string[] = [];
  if (expected.rows !== found.rows) differences.push(`it has ${found.rows} rows of ${expected.rows} entries`);
  for (const kind of new Set([...expected.by_kind.keys(), ...found.by_kind.keys()])) {
    const [right, wrong] = [expected.by_kind.get(kind) ?? 0, found.by_kind.get(kind) ?? 0];
    if (right !== wrong) differences.push(`it counts ${wrong} entries of kind ${kind}, and there are ${right}`);
  }
  const ids = new Set([...expected.sessions.keys(), ...found.sessions.keys()]);
  let sessions = 0;
  for (const id of ids) if (!isDeepStrictEqual(expected.sessions.get(id), found.sessions.get(id))) sessions += 1;
  if (sessions > 0)
    differences.push(`it counts the entries of ${sessions === 1 ? "1 session" : `${sessions} sessions`} wrongly`);
  return differences;
}
