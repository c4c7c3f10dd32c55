// The index held against the log: every row, what was counted by kind, and every document, from what the bodies say.

import type { EntryLog } from "../log/port.js";
import { walkBodies } from "../log/walk-log.js";
import { type DocumentDigests, digestsIn, ExpectedDocuments } from "./document-comparison.js";
import { isAlteredRow } from "./entry-row.js";
import { isSameStanding } from "./port/life.js";
import type { EntryIndex, EntryRow } from "./port.js";
import { rowPages } from "./row-pages.js";
import { compareRows } from "./rows-of-bodies.js";

export interface IndexComparison {
  /** What differs, in words; none where the index is what the log makes. */
  readonly differences: readonly string[];
  /** Whether so much was recorded and forgotten meanwhile that nothing can be said. */
  readonly is_unsettled?: true;
}

interface Sums {
  readonly by_kind: Map<string, number>;
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
    const { through, sums, documents } = found;
    const expected = emptySums();
    const folded = new ExpectedDocuments();
    const strange: number[] = [];
    for await (const batch of walkBodies(parts.log, { through })) {
      const compared = await compareRows(parts, batch);
      strange.push(...compared.strange);
      for (const row of compared.rows) addRow(expected, row);
      folded.add(compared.rows.filter((row) => !isAlteredRow(row)));
      options.onProgress?.(batch.at(-1)?.position ?? through);
    }
    // What was forgotten since is no longer there to be compared.
    if ((await parts.log.redactionsAfter(through)).positions.length > 0) continue;
    const differences = [...rowDifferences(strange), ...sumDifferences(expected, sums)];
    return { differences: [...differences, ...folded.differences(documents)] };
  }
  return { differences: [], is_unsettled: true };
}

/** What the index says at one moment; undefined where it moved on meanwhile. */
async function sumsOfIndex(
  index: EntryIndex,
): Promise<{ readonly through: number; readonly sums: Sums; readonly documents: DocumentDigests } | undefined> {
  const letGo = index.hold?.();
  try {
    const before = await index.standing();
    const sums = emptySums();
    for (const [kind, entries] of Object.entries((await index.count()).by_kind)) sums.by_kind.set(kind, entries);
    const documents = await digestsIn(index);
    for await (const page of rowPages((place) => index.list({ filter: {}, ...place }), PAGE)) sums.rows += page.length;
    return isSameStanding(before, await index.standing()) ? { through: before.position, sums, documents } : undefined;
  } finally {
    letGo?.();
  }
}

function emptySums(): Sums {
  return { by_kind: new Map(), rows: 0 };
}

function addRow(sums: Sums, { kind }: EntryRow): void {
  sums.rows += 1;
  sums.by_kind.set(kind, (sums.by_kind.get(kind) ?? 0) + 1);
}

function rowDifferences(strange: readonly number[]): readonly string[] {
  if (strange.length === 0) return [];
  const what = strange.length === 1 ? "1 row is" : `${strange.length} rows are`;
  return [`${what} not what the log makes of the entry (the first at position ${strange[0]})`];
}

function sumDifferences(expected: Sums, found: Sums): readonly string[] {
  const differences: string[] = [];
  if (expected.rows !== found.rows) differences.push(`it has ${found.rows} rows of ${expected.rows} entries`);
  for (const kind of new Set([...expected.by_kind.keys(), ...found.by_kind.keys()])) {
    const [right, wrong] = [expected.by_kind.get(kind) ?? 0, found.by_kind.get(kind) ?? 0];
    if (right !== wrong) differences.push(`it counts ${wrong} entries of kind ${kind}, and there are ${right}`);
  }
  return differences;
}
