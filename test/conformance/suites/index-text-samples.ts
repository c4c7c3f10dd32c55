// Texts and needles for the suite of the index, and what candidates have to be, found out in the plainest way there is.

import { expect } from "vitest";
import type { EntryIndex, EntryRow, EntryTexts, NewestQuery, RowFilter, RowKey } from "../../../src/index/port.js";
import { timesOfKind } from "../../../src/index/row-filter.js";
import { itemAt } from "../../../src/model/item-at.js";
import { normalise } from "../../../src/model/normalise.js";
import { fill } from "./index-filling.js";
import { expectedKeys, mixedRows } from "./index-samples.js";
import { seededRandom } from "./seeded-random.js";

export const COUNT = 240;
export const ROWS = mixedRows(COUNT, 1_971);
/** What texts are made of: several scripts, what query languages give a meaning to, and what encodings stumble over. */
const PIECES = [
  ...["error", "err", "time", "out", "a", "ab", "aba", " ", "  ", "-", "é", "ß", "straße", "ı", "i̇", "ﬁ", "ς", "ñ"],
  ...[
    "文",
    "文字",
    "字化け",
    "한국",
    "국",
    "か",
    "が",
    "עבר",
    "🙂",
    "👩‍👩‍👧",
    "𝒳",
    "\u0301",
    "\u200d",
    "\ufeff",
    "\ufffd",
  ],
  ...["*", '"', "'", "%", "_", "\\", "(", ")", ":", "and", "or", "not", "near", "\0", "\n", "\t", "\ud800", "\udfff"],
];
export const TEXTS = mixedTexts(COUNT, 1_972);
export const NEEDLES = mixedNeedles(400, 1_973);

/** An index with all rows and all texts, given as the indexer gives them. */
export async function withTexts(index: EntryIndex): Promise<EntryIndex> {
  await fill(index, { rows: ROWS, through: COUNT });
  await giveTexts(index, { after: 0, through: COUNT, step: COUNT });
  return index;
}

/** Gives texts as the indexer does, `step` at a time, going on where the index says; answers with where that is. */
export async function giveTexts(
  index: EntryIndex,
  range: { readonly after: number; readonly through: number; readonly step: number },
): Promise<number> {
  let given = range.after;
  for (let turn = 0; given < range.through; turn += 1) {
    if (turn > 4 * COUNT) throw new Error("the index never takes all texts");
    const through = Math.min(given + range.step, range.through);
    const next = await index.applyTexts({ texts: TEXTS.slice(given, through), through });
    const checkpoint = await index.textCheckpoint();
    // What was kept back is neither asked for again at once nor counted as applied.
    expect(checkpoint).toBeLessThanOrEqual(next);
    expect(next).toBeLessThanOrEqual(through);
    given = next;
  }
  return given;
}

export async function candidates(
  index: EntryIndex,
  filter: RowFilter,
  needles: readonly string[],
): Promise<readonly RowKey[]> {
  return index.candidates({ filter, needles, limit: 1_000 });
}

export async function allCandidates(index: EntryIndex): Promise<readonly (readonly RowKey[])[]> {
  const found: (readonly RowKey[])[] = [];
  for (const needles of NEEDLES.slice(0, 60)) found.push(await candidates(index, {}, needles));
  return found;
}

/** Candidates are a part of the list, in its order, and hold everything that really matches. */
export async function expectCandidates(
  index: EntryIndex,
  filter: RowFilter,
  needles: readonly string[],
  through = COUNT,
): Promise<void> {
  const found = (await candidates(index, filter, needles)).map(({ position }) => position);
  const given = new Set(found);
  const listed = positionsOf(ROWS.slice(0, through), filter);
  const about = JSON.stringify({ filter, needles });
  expect(found, about).toEqual(listed.filter((position) => given.has(position)));
  const missing = listed.filter((position) => holdsAll(position, needles) && !given.has(position));
  expect(missing, about).toEqual([]);
}

/** Candidates of the filter, in order; of the newest rows all that match, or of all rows where none was left out. */
export async function expectNewest(index: EntryIndex, query: NewestQuery): Promise<void> {
  const { kind, filter, needles, rows_max } = query;
  const { keys, is_all } = await index.newestCandidates(query);
  const about = JSON.stringify(query);
  const found = keys.map(({ position }) => position);
  const listed = positionsOf(ROWS, { ...filter, kinds: [kind] });
  const given = new Set(found);
  expect(found, about).toEqual(listed.filter((position) => given.has(position)));
  const ofKind = positionsOf(ROWS, timesOfKind(kind, filter));
  if (ofKind.length <= rows_max) expect(is_all, about).toBe(true);
  const looked = new Set(is_all ? ofKind : ofKind.slice(0, rows_max));
  const missing = listed.filter(
    (position) => looked.has(position) && holdsAll(position, needles) && !given.has(position),
  );
  expect(missing, about).toEqual([]);
  if (needles.length === 0 && ofKind.length > rows_max) expect(is_all, about).toBe(false);
  if (!is_all) expect(found.length, about).toBeLessThanOrEqual(rows_max);
}

const listedByFilter = new Map<string, readonly number[]>();

function positionsOf(rows: readonly EntryRow[], filter: RowFilter): readonly number[] {
  const name = `${rows.length} ${JSON.stringify(filter)}`;
  const known = listedByFilter.get(name) ?? expectedKeys(rows, filter).map(({ position }) => position);
  listedByFilter.set(name, known);
  return known;
}

function holdsAll(position: number, needles: readonly string[]): boolean {
  const texts = TEXTS[position - 1]?.texts ?? [];
  return needles.every((needle) => texts.some((text) => holds(text, needle)));
}

/** By characters: half of a pair is none, so engines may store texts in whatever encoding they like. */
function holds(text: string, needle: string): boolean {
  return text.includes(needle) && ` ${Array.from(text).join(" ")} `.includes(` ${Array.from(needle).join(" ")} `);
}

function mixedTexts(count: number, seed: number): readonly EntryTexts[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, at) => ({
    position: at + 1,
    texts: Array.from({ length: Math.floor(random() * 4) }, () => newText(random, 1 + Math.floor(random() * 8))),
  }));
}

function newText(random: () => number, pieces: number): string {
  const pick = (): string => itemAt(PIECES, Math.floor(random() * PIECES.length));
  return normalise(Array.from({ length: pieces }, pick).join(random() < 0.5 ? " " : ""));
}

/** Pieces of the texts themselves, so most of them occur, and some that occur nowhere. */
function mixedNeedles(count: number, seed: number): readonly (readonly string[])[] {
  const random = seededRandom(seed);
  const texts = TEXTS.flatMap((entry) => entry.texts);
  const needle = (): string => {
    const points = Array.from(itemAt(texts, Math.floor(random() * texts.length)));
    const start = Math.floor(random() * points.length);
    return points.slice(start, start + 1 + Math.floor(random() ** 2 * 12)).join("");
  };
  return Array.from({ length: count }, () => {
    if (random() < 0.1) return [newText(random, 6)];
    return Array.from({ length: random() < 0.7 ? 1 : 2 + Math.floor(random() * 2) }, needle);
  });
}
