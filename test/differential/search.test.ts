// Search against a brute-force scan: the same hits in the same order, while entries are written and indexed.
import { expect, test } from "vitest";
import {
  type Entry,
  type EntryInput,
  openRecorder,
  type Recorder,
  type SearchHit,
  type SearchPage,
} from "../../src/index.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { fuzzSeed, fuzzTimeoutMs, runsOf } from "../support/fuzz.js";
import { storeOfTest, testEngine } from "../support/store.js";
import { fold, isMeant, type SearchRequest, searchPlainly } from "./search-oracle.js";
import { generatedTexts, realTexts } from "./search-texts.js";

/** Each takes a few round trips to a database. */
const QUERIES = testEngine === "postgres" ? 150 : 1_000;

test.each([
  ["generated texts", generatedTexts(400, fuzzSeed)],
  ["real texts, or generated ones where there are none", realTexts(1_000, fuzzSeed)],
])(
  `finds what a scan finds, in the same order, while entries are written: %s (seed ${fuzzSeed})`,
  async (_, found) => {
    const texts = found.length === 0 ? generatedTexts(500, fuzzSeed + 1) : found;
    const random = seededRandom(fuzzSeed);
    const inputs = texts.map((text, at) => toInput(text, at, random));
    const recorder = await openRecorder({ data: await storeOfTest() });
    try {
      const entries: Entry[] = [];
      let next = 0;
      const writeSome = async (count: number): Promise<void> => {
        const batch = inputs.slice(next, next + count);
        next += batch.length;
        if (batch.length === 0) return;
        for (const { position } of (await recorder.append(batch)).entries) {
          entries.push((await recorder.getEntry(position)) as Entry);
        }
      };
      await writeSome(Math.floor(inputs.length / 3));
      const queries = runsOf(QUERIES);
      for (let at = 0; at < queries; at += 1) {
        const request = newRequest(texts, random);
        const before = [...entries];
        const writing = writeSome(Math.ceil((inputs.length * 2) / 3 / queries));
        const { hits, first } = await allHits(recorder, request, random);
        await writing;
        expectHits({ hits, before, entries, request });
        expectElsewhere({ first, before, entries, request });
      }
    } finally {
      await recorder.close();
    }
  },
  fuzzTimeoutMs,
);

function expectHits(parts: {
  readonly hits: readonly SearchHit[];
  readonly before: readonly Entry[];
  readonly entries: readonly Entry[];
  readonly request: SearchRequest;
}): void {
  const { hits, before, entries, request } = parts;
  const about = JSON.stringify(request);
  const known = new Set(before.map(({ position }) => position));
  const positions = hits.map(({ position }) => position);
  expect(
    positions.filter((position) => known.has(position)),
    about,
  ).toEqual(searchPlainly(before, request));
  // What came while it was searched may be there or not, but never what is not meant.
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
  const isMeantAt = (position: number): boolean => {
    const entry = byPosition.get(position);
    return entry !== undefined && isMeant(entry, request);
  };
  expect(
    positions.filter((position) => !known.has(position) && !isMeantAt(position)),
    about,
  ).toEqual([]);
  expect(new Set(positions).size, about).toBe(positions.length);
  expect(
    hits.filter((hit) => !isReasonGiven(hit, request)),
    about,
  ).toEqual([]);
}

/** What came while it was searched may be counted or not; where not everything was looked at, no more than there is. */
function expectElsewhere(parts: {
  readonly first: SearchPage;
  readonly before: readonly Entry[];
  readonly entries: readonly Entry[];
  readonly request: SearchRequest;
}): void {
  const { first, before, entries, request } = parts;
  const about = JSON.stringify(request);
  if (request.kind !== undefined) {
    expect(first, about).not.toHaveProperty("elsewhere");
    return;
  }
  for (const kind of ["raw", "session_info"] as const) {
    const counted = first.elsewhere?.[kind] ?? 0;
    expect(counted, about).toBeLessThanOrEqual(searchPlainly(entries, { ...request, kind }).length);
    if (first.elsewhere_at_least === true) continue;
    expect(counted, about).toBeGreaterThanOrEqual(searchPlainly(before, { ...request, kind }).length);
  }
}

/** One assertion for all hits of a query: there are a million of them, and an assertion costs more than the look. */
function isReasonGiven(hit: SearchHit, request: SearchRequest): boolean {
  if (request.terms.length === 0) return hit.field === "" && hit.matches.length === 0;
  let last = 0;
  for (const [start, end] of hit.matches) {
    // A sigma at the end of a mark is a final one only there; characters that have a form together are marked together.
    const marked = unfinal(hit.snippet.slice(start, end));
    const isTerm = request.terms.some((term) => marked.includes(unfinal(term)));
    if (start < last || end <= start || end > hit.snippet.length || !isTerm) return false;
    last = end;
  }
  return hit.matches.length > 0;
}

function unfinal(text: string): string {
  return fold(text).replaceAll("ς", "σ");
}

async function allHits(
  recorder: Recorder,
  request: SearchRequest,
  random: () => number,
): Promise<{ readonly hits: readonly SearchHit[]; readonly first: SearchPage }> {
  const { terms, excluded, ...filters } = request;
  const typed: string[] = [];
  const given: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(filters)) {
    if (random() < 0.5) typed.push(`${name}:${value}`);
    else given[name] = value;
  }
  const words = [...terms.map((term) => written(term)), ...excluded.map((term) => `-${written(term)}`)];
  const query = [...typed, ...words].join(" ");
  const hits: SearchHit[] = [];
  let first: SearchPage | undefined;
  let cursor: string | null = null;
  const limit = random() < 0.1 ? 7 : 500;
  do {
    const page: SearchPage = await recorder.search(query, { ...given, limit, cursor });
    first ??= page;
    hits.push(...page.results);
    cursor = page.next_cursor;
  } while (cursor !== null && hits.length < 5_000);
  return { hits, first };
}

/** A term as a person has to write it: quoted where it would mean something else. */
function written(term: string): string {
  return /^[^\s":-][^\s":]*$/.test(term) ? term : `"${term}"`;
}

function newRequest(texts: readonly string[], random: () => number): SearchRequest {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const piece = (): string => {
    const points = Array.from(pick(texts));
    const start = Math.floor(random() * points.length);
    const length = 1 + Math.floor(random() ** 2 * 16);
    return points
      .slice(start, start + length)
      .join("")
      .replaceAll('"', "");
  };
  const shaken = (text: string): string =>
    random() < 0.2 ? text.toUpperCase() : random() < 0.2 ? text.normalize("NFD") : text;
  const some = (count: number): readonly string[] =>
    Array.from({ length: count }, () => shaken(piece())).filter((text) => text !== "");
  const terms = some(pick([0, 1, 1, 1, 1, 2, 3]));
  const excluded = some(pick([0, 0, 0, 1, 2]));
  const filters = {
    ...(random() < 0.15
      ? { kind: pick(["message", "error", "tool_call", "raw", "interaction", "raw,message", "session_info"]) }
      : {}),
    ...(random() < 0.15 ? { role: pick(["user", "assistant", "system"]) } : {}),
    ...(random() < 0.15 ? { project: pick(["atlas", "beacon", "-"]) } : {}),
    ...(random() < 0.1 ? { session_id: pick(["s:0", "s:1", "-"]) } : {}),
    ...(random() < 0.1 ? { since: timeOf(Math.floor(random() * 400)) } : {}),
    ...(random() < 0.1 ? { until: timeOf(Math.floor(random() * 400)) } : {}),
  };
  const isEmpty = terms.length + excluded.length + Object.keys(filters).length === 0;
  return isEmpty ? { terms: ["e"], excluded } : { terms, excluded, ...filters };
}

function timeOf(minute: number): string {
  return new Date(Date.UTC(2026, 10, 15) + minute * 60_000).toISOString();
}

/** The text in one of the places where texts are recorded; times repeat and run backwards. */
function toInput(text: string, at: number, random: () => number): EntryInput {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const session_id = `s:${at % 5}`;
  const envelope = { created_at: timeOf(Math.floor(random() * 400)), project: pick(["atlas", "beacon", ""]) };
  const role = pick(["user", "assistant", "system", "timmy", "developer"]);
  const filled = text.trim() === "" ? "blank" : text;
  return pick<() => EntryInput>([
    () => ({ ...envelope, kind: "message", session_id, role, content: text }),
    () => ({ ...envelope, kind: "message", session_id, role, content: text }),
    () => ({ ...envelope, kind: "message", session_id, role, content: [{ type: "text", text }, text.slice(0, 5)] }),
    () => ({
      ...envelope,
      kind: "interaction",
      prompt: filled,
      response: text.slice(3),
      context_pack: { hidden: text },
    }),
    () => ({
      ...envelope,
      kind: "tool_call",
      tool: "run",
      args: { [text.slice(0, 20)]: [text, 42, null] },
      result: { text },
    }),
    () => ({ ...envelope, kind: "error", session_id, error: text.slice(0, 200), context: text }),
    () => ({ ...envelope, kind: "decision", decision: text }),
    () => ({ ...envelope, kind: "raw", source: "s", record: { [text.slice(0, 9)]: text } }),
    () => ({ ...envelope, kind: "session_info", session_id, title: text.slice(0, 100) }),
  ])();
}
