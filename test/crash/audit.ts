// Looks at a store after the fact: nothing acknowledged is missing, nothing is half there, and the index is right.
import { expect } from "vitest";
import { type EntryCounts, type ListedEntry, openRecorder, type Recorder } from "../../src/index.js";
import { batchOf, entryOf, isMade } from "./made-entries.js";
import type { Acknowledged } from "./programs.js";

/** What was expected and is not so; ids. */
export interface Findings {
  readonly entries: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Not where the acknowledgement said, or before what the same caller had recorded earlier. */
  readonly reordered: readonly string[];
  readonly changed: readonly string[];
  /** Entries of batches that are not whole. */
  readonly halves: readonly string[];
  /** Refused as a whole, and there nevertheless. */
  readonly unexpected: readonly string[];
}

export interface Expectation {
  /** By caller, in order of acknowledgement. */
  readonly acknowledged: readonly (readonly Acknowledged[])[];
  readonly refused?: ReadonlySet<string>;
}

/** Opens the store as the next process would, verifies it, compares it, and its index with a rebuilt one. */
export async function examineStore(data: string, expectation: Expectation): Promise<Findings> {
  const recorder = await openRecorder({ data });
  try {
    const verification = await recorder.verify();
    expect(verification).toMatchObject({ ok: true });
    const live = await indexAnswers(recorder);
    const positions = live.entries.map(({ position }) => position).toSorted((left, right) => left - right);
    expect(positions).toEqual(positions.map((_, index) => index + 1));
    expect(verification).toMatchObject({ entries: positions.length, position: positions.length });
    const findings = compare(live.entries, expectation);
    await recorder.rebuildIndex();
    expect(await indexAnswers(recorder)).toEqual(live);
    return findings;
  } finally {
    await recorder.close();
  }
}

/** The same where nothing may be found; returns how many entries the store holds. */
export async function auditStore(data: string, acknowledged: Iterable<string>): Promise<number> {
  const lists = [...acknowledged].map((id) => [{ id, position: 0 }]);
  const { entries, ...findings } = await examineStore(data, { acknowledged: lists });
  expect(findings).toEqual(nothingFound);
  return entries;
}

export const nothingFound: Omit<Findings, "entries"> = {
  lost: [],
  doubled: [],
  reordered: [],
  changed: [],
  halves: [],
  unexpected: [],
};

function compare(stored: readonly ListedEntry[], expectation: Expectation): Findings {
  const { acknowledged, refused = new Set() } = expectation;
  const byId = new Map<string, ListedEntry[]>();
  for (const entry of stored) byId.set(entry.id, [...(byId.get(entry.id) ?? []), entry]);
  const lost: string[] = [];
  const reordered: string[] = [];
  for (const caller of acknowledged) {
    let last = 0;
    for (const { id, position } of caller) {
      const found = byId.get(id)?.[0]?.position;
      if (found === undefined) lost.push(id);
      else if ((position !== 0 && position !== found) || found < last) reordered.push(id);
      last = found ?? last;
    }
  }
  return {
    entries: stored.length,
    lost,
    reordered,
    doubled: [...byId].flatMap(([id, entries]) => (entries.length > 1 ? [id] : [])),
    changed: stored.flatMap((entry) => (isWhole(entry) ? [] : [entry.id])),
    halves: halvesIn(byId.keys()),
    unexpected: [...refused].filter((id) => byId.has(id)),
  };
}

/** Entries that somebody else made, such as an importer, are not compared. */
function isWhole(entry: ListedEntry): boolean {
  const expected = isMade(entry.id) ? entryOf(entry.id) : {};
  const found = entry as unknown as { readonly [name: string]: unknown };
  return Object.entries(expected).every(([name, value]) => JSON.stringify(found[name]) === JSON.stringify(value));
}

function halvesIn(ids: Iterable<string>): readonly string[] {
  const found = new Map<string, { size: number; ids: string[] }>();
  for (const id of ids) {
    const of = batchOf(id);
    if (of === undefined) continue;
    const batch = found.get(of.batch) ?? { size: of.size, ids: [] };
    batch.ids.push(id);
    found.set(of.batch, batch);
  }
  return [...found.values()].flatMap((batch) => (batch.ids.length === batch.size ? [] : batch.ids));
}

interface IndexAnswers {
  readonly entries: readonly ListedEntry[];
  readonly counts: EntryCounts;
  readonly usingMemory: readonly string[];
  readonly found: readonly (readonly string[])[];
  readonly sessions: readonly object[];
}

async function indexAnswers(recorder: Recorder): Promise<IndexAnswers> {
  const entries: ListedEntry[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await recorder.listEntries({ limit: 500, cursor });
    entries.push(...page.entries);
    cursor = page.next_cursor;
  }
  const memories = [...new Set(entries.map(({ id }) => `memory-${id.length}`))];
  const lists = memories.map((memory) => recorder.listInteractions({ memory, limit: 500 }));
  const usingMemory = (await Promise.all(lists)).flatMap(({ interactions }) => interactions.map(({ id }) => id));
  const searches = ["crash", "said before", "kind:error"].map((query) => recorder.search(query, { limit: 50 }));
  const found = (await Promise.all(searches)).map(({ results }) => results.map(({ id }) => id));
  // Whether a session is running depends on when one asks.
  const sessions = (await recorder.listSessions({ limit: 100 })).sessions.map((one) => ({ ...one, outcome: "" }));
  return { entries, counts: await recorder.count(), usingMemory, found, sessions };
}
