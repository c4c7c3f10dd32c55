// The searcher: checks the index's candidates against their texts, newest first, and shows the hits.

import { textsOf } from "../index/derivation.js";
import { documentToMemory, MEMORIES } from "../index/memory-fold.js";
import type { EntryIndex, RowKey } from "../index/port.js";
import { titlesOf } from "../index/session-fold.js";
import { valueText } from "../model/content.js";
import { messageText } from "../model/content-parts.js";
import {
  ALTERED_WORDS,
  type AlteredEntry,
  applyByKind,
  type ByKind,
  type Entry,
  isAltered,
  type ListedEntry,
} from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { limits } from "../model/limits.js";
import { type MemoryStatus, reinforcedWords, verdictWords } from "../model/memory.js";
import { firstCodePoints } from "../model/normalise.js";
import { speakerOf } from "../model/roles.js";
import { TimeSlice } from "../model/scheduling.js";
import { feedbackWords } from "../model/states.js";
import { FacetCounts, type Facets } from "./facets.js";
import { type GivenHit, GivenSearch, textsIn } from "./given-search.js";
import { EntryReader } from "./lists/entry-reader.js";
import { cursorAfter } from "./lists/list-query.js";
import type { ReadingParts } from "./lists/reader.js";
import {
  beginningOf,
  type Match,
  Matcher,
  type MatchRange,
  type Snippet,
  snippetOf,
  snippetOfMasked,
} from "./matching.js";
import { countElsewhere, type ElsewhereCounts } from "./other-kinds.js";
import type { SearchQuery } from "./search-query.js";

/** An entry in its short form, and why it was found. */
export type SearchHit = ListedEntry & {
  /** The field that holds the first term; `""` where only filters were given, or the entry was altered. */
  readonly field: string;
  /** A part of that field's text, as it was recorded. */
  readonly snippet: string;
  /** Where the terms stand in the snippet, in UTF-16 units: `[start, end]`, in order, never overlapping. */
  readonly matches: readonly MatchRange[];
  /** What its session is called: the title, or the first words of the first prompt. */
  readonly session_title?: string;
  /** With `in:context`: how often the text was given in its session. */
  readonly given?: number;
  /** Of a hit of a memory kind: what the memory's status is now. */
  readonly status?: MemoryStatus;
};

export interface SearchPage extends ElsewhereCounts {
  readonly results: readonly SearchHit[];
  readonly next_cursor: string | null;
  readonly facets?: Facets;
  /** A word that is nearly a filter was searched as text. */
  readonly notice?: string;
  /** The index is being rebuilt, and older entries may be missing. */
  readonly partial?: true;
}

/** The first candidates are often hits; a search that needs more of them needs many. */
const CANDIDATES_FIRST = 32;
const CANDIDATES_MAX = 1_024;
/** Few bodies are read at first; each may be as large as an entry can be. */
const CHUNK_FIRST = 16;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 1024 * 1024;

interface Hit extends Match {
  readonly key: RowKey;
  readonly kind: string;
}

interface Bounds {
  /** About how many entries are read. */
  readonly entries: number;
  /** Called where there are more. */
  readonly onLimit: () => void;
}

export class Searcher {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #given: GivenSearch;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#given = new GivenSearch(parts);
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const page = query.in_context ? await this.#givenPage(query) : await this.#page(query);
    const elsewhere = query.counts_elsewhere && query.limit > 0 ? await countElsewhere(this.#parts, query) : {};
    return { ...page, ...(query.facets ? { facets: await this.#facets(query) } : {}), ...elsewhere };
  }

  /** The newest hits as lines of text for an agent. */
  async sessionHistory(search: { readonly query: SearchQuery; readonly phrase: string }): Promise<string> {
    const { query, phrase } = search;
    const lines: string[] = [];
    if (query.limit === 0) return nothingFoundText(phrase);
    for await (const { key } of this.#hits(query)) {
      // One at a time: each may be as large as an entry can be.
      for (const entry of await this.#entries.showListed([key.position])) {
        const statuses = await statusesOf(this.#parts.index, [entry]);
        lines.push(sessionHistoryLine(entry, statuses.get(memoryOf(entry) ?? "")));
      }
      if (lines.length >= query.limit) break;
    }
    return sessionHistoryText(phrase, lines);
  }

  async #page(query: SearchQuery): Promise<Pick<SearchPage, "results" | "next_cursor">> {
    if (query.limit === 0) return { results: [], next_cursor: null };
    const keys: RowKey[] = [];
    const reasons = new Map<number, Pick<SearchHit, "field" | "snippet" | "matches">>();
    for await (const hit of this.#hits(query)) {
      const { key, found } = hit;
      keys.push(key);
      // One more than asked for tells whether there is a next page.
      if (keys.length > query.limit) break;
      const field = query.terms.length === 0 ? "" : (found?.field ?? "");
      reasons.set(key.position, { field, ...this.#snippet(hit, query.terms) });
    }
    const { rows, used } = await this.#entries.page(keys.slice(0, query.limit).map(({ position }) => position));
    const statuses = await statusesOf(this.#parts.index, rows);
    const titles = await this.#titlesOf(rows);
    const results = rows.map((row) => {
      const session_title = titles.get(row.session_id);
      const named = session_title === undefined ? {} : { session_title };
      const status = statuses.get(memoryOf(row) ?? "");
      return {
        ...row,
        ...named,
        ...reasons.get(row.position),
        ...(status === undefined ? {} : { status }),
      } as SearchHit;
    });
    const next_cursor = used > 0 && used < keys.length ? cursorAfter(query, itemAt(keys, used - 1)) : null;
    return { results, next_cursor };
  }

  /** What models were given: a hit for each text, so an entry may occur several times. */
  async #givenPage(query: SearchQuery): Promise<Pick<SearchPage, "results" | "next_cursor">> {
    const hits: GivenHit[] = [];
    if (query.limit === 0) return { results: [], next_cursor: null };
    for await (const hit of this.#given.hits(query)) {
      hits.push(hit);
      if (hits.length > query.limit) break;
    }
    const shown = hits.slice(0, query.limit);
    const counts = await this.#given.counts(shown);
    const results: SearchHit[] = [];
    for (const [at, hit] of shown.entries()) {
      const { rows } = await this.#entries.page([hit.key.position]);
      const reason = { field: "context_pack", ...this.#givenSnippet(hit, query.terms), given: counts[at] ?? 1 };
      for (const row of rows) results.push({ ...row, ...reason } as SearchHit);
    }
    const titles = await this.#titlesOf(results);
    for (const [at, hit] of results.entries()) {
      const session_title = titles.get(hit.session_id);
      if (session_title !== undefined) results[at] = { ...hit, session_title };
    }
    const last = shown.at(-1);
    const isMore = last !== undefined && hits.length > query.limit;
    return { results, next_cursor: isMore ? cursorAfter(query, { ...last.key, nth: last.nth }) : null };
  }

  /** Masked, as lists of sessions show them. */
  async #titlesOf(rows: readonly { readonly session_id: string }[]): Promise<ReadonlyMap<string, string>> {
    const { index, mask } = this.#parts;
    const titles = await titlesOf(
      index,
      rows.map(({ session_id }) => session_id),
    );
    return new Map([...titles].map(([session_id, title]) => [session_id, mask.text(title)]));
  }

  /** As `#snippet`: the name of a field can mark its value as a secret. */
  #givenSnippet({ body, text, nth }: GivenHit, terms: readonly string[]): Snippet {
    const { mask } = this.#parts;
    const masked = textsIn(mask.value(body))[nth] ?? "";
    return masked === mask.text(text) ? snippetOf(text, terms, mask) : snippetOfMasked(masked, terms);
  }

  /** The name of a field can mark its value as a secret, so structured content is masked with its names. */
  #snippet({ kind, body, found, foundAt }: Hit, terms: readonly string[]): Snippet {
    const { mask } = this.#parts;
    const text = found?.text ?? "";
    const isWhole = foundAt !== undefined && found !== undefined && typeof body?.[found.field] === "string";
    if (body === undefined || found === undefined || isWhole) return snippetOf(text, terms, mask);
    const texts = textsOf(kind, mask.value(body));
    const masked = (foundAt === undefined ? beginningOf(texts) : texts[foundAt])?.text ?? "";
    return masked === mask.text(text) ? snippetOf(text, terms, mask) : snippetOfMasked(masked, terms);
  }

  /** Counts all hits, on any page; only the newest where counting all would take long. */
  async #facets(query: SearchQuery): Promise<Facets> {
    const { after: _, ...whole } = query;
    const counts = new FacetCounts();
    const hits = query.in_context
      ? this.#given.hits(whole)
      : this.#hits(whole, { entries: limits.facet_entries, onLimit: () => counts.stop() });
    for await (const { kind, body } of hits) if (!counts.add(kind, body ?? {})) break;
    return this.#parts.mask.value(counts.facets());
  }

  /** Hits newest first, after the query's cursor. */
  async *#hits(query: SearchQuery, bounds?: Bounds): AsyncGenerator<Hit, void, undefined> {
    const matcher = new Matcher(query);
    let { after } = query;
    let limit = Math.max(CANDIDATES_FIRST, Math.min(query.limit + 1, CANDIDATES_MAX));
    let size = CHUNK_FIRST;
    let looked = 0;
    const slice = new TimeSlice();
    for (;;) {
      const { filter, terms: needles } = query;
      const candidates = await this.#parts.index.candidates({
        filter,
        needles,
        limit,
        ...(after === undefined ? {} : { after }),
      });
      for (let at = 0; at < candidates.length; ) {
        if (bounds !== undefined && looked >= bounds.entries) return bounds.onLimit();
        const chunk = candidates.slice(at, at + size);
        const positions = chunk.map(({ position }) => position);
        const bodies = await this.#parts.log.getBodies(positions, CHUNK_BYTES);
        at += bodies.length;
        looked += bodies.length;
        size = Math.min(size * 2, CHUNK_MAX);
        for (const [offset, stored] of bodies.entries()) {
          const match = stored === undefined ? undefined : matcher.match(stored);
          if (stored !== undefined && match !== undefined) {
            yield { key: itemAt(chunk, offset), kind: stored.kind, ...match };
          }
          if (slice.isOver) await slice.next();
        }
      }
      if (candidates.length < limit) return;
      after = candidates.at(-1);
      limit = Math.min(limit * 4, CANDIDATES_MAX);
    }
  }
}

/** The present status of the memories that entries are about, by id; forgotten ones are missing. */
async function statusesOf(
  index: EntryIndex,
  entries: readonly (Entry | ListedEntry | AlteredEntry)[],
): Promise<ReadonlyMap<string, MemoryStatus>> {
  const keys = [...new Set(entries.flatMap((entry) => memoryOf(entry) ?? []))];
  if (keys.length === 0) return new Map();
  const documents = await index.getDocuments({ collection: MEMORIES, keys });
  return new Map(documents.map((document) => [document.key, documentToMemory(document).status]));
}

/** The one memory that an entry is about; undefined where it is about none or, as a reinforcement may be, about several. */
function memoryOf(entry: Entry | ListedEntry | AlteredEntry): string | undefined {
  if (isAltered(entry)) return undefined;
  if (entry.kind === "memory_proposed") return entry.id;
  return "memory_id" in entry ? entry.memory_id : undefined;
}

// Search as an agent reads it: a line for each hit, short, newest first.

const TEXT_CHARS = 200;
const RESULT_CHARS = 100;

function sessionHistoryText(query: string, lines: readonly string[]): string {
  if (lines.length === 0) return nothingFoundText(query);
  return [`${lines.length} found for '${onOneLine(query)}', newest first:`, ...lines].join("\n");
}

function nothingFoundText(query: string): string {
  return `Nothing recorded matches '${onOneLine(query)}'.`;
}

/** With the present status of the memory that the entry is about, where it is about one. */
function sessionHistoryLine(entry: Entry | AlteredEntry, status?: MemoryStatus): string {
  const session = entry.session_id === "" ? "" : ` (${entry.session_id})`;
  const text = isAltered(entry)
    ? `${entry.kind}: ${ALTERED_WORDS}`
    : (applyByKind(textByKind, entry) ?? `${entry.kind}: `);
  const now = status === undefined ? "" : ` [${status}]`;
  return `[${entry.created_at.slice(0, 19)}] ${text}${now}${session}`;
}

const textByKind: ByKind<Entry, string> = {
  interaction: (entry) => `Q: ${shorten(entry.prompt)} A: ${shorten(entry.response || failedText(entry))}`,
  response: (entry) => `response: ${shorten(entry.response || entry.response_summary || failedText(entry))}`,
  message: (entry) => `${speakerOf(entry)}: ${shorten(messageText(entry))}`,
  tool_call: (entry) => `tool:${onOneLine(entry.tool)} → ${shorten(valueText(entry.result), RESULT_CHARS)}`,
  error: (entry) => `ERROR: ${shorten(entry.error)}`,
  decision: (entry) => `DECIDED: ${shorten(entry.decision)}`,
  consolidation: (entry) => `consolidation: ${shorten(entry.summary)}`,
  clear: () => "clear: ",
  withdrawal: (entry) => `withdrawal: #${entry.withdraws}`,
  feedback: (entry) => `feedback: ${shorten(feedbackWords(entry))}`,
  session_info: (entry) => `session_info: ${shorten(entry.title || valueText(entry.metadata))}`,
  raw: (entry) => `raw: ${shorten(valueText(entry.record))}`,
  audit: (entry) => `audit: ${shorten(`${entry.action} by ${entry.actor} ${entry.target}`.trimEnd())}`,
  redaction: (entry) => `redaction: ${shorten(entry.reason)}`,
  memory_proposed: (entry) => `memory_proposed: ${shorten(entry.content)}`,
  memory_edited: (entry) => `memory_edited: ${shorten(entry.content || `evidence for ${entry.memory_id}`)}`,
  memory_promoted: (entry) => `memory_promoted: ${shorten(verdictWords(entry))}`,
  memory_rejected: (entry) => `memory_rejected: ${shorten(verdictWords(entry))}`,
  memory_superseded: (entry) => `memory_superseded: ${shorten(verdictWords(entry))}`,
  memory_reinforced: (entry) => `memory_reinforced: ${shorten(reinforcedWords(entry))}`,
};

/** A call that failed has no answer, but a reason. */
function failedText({ error }: { readonly error: string }): string {
  return error === "" ? "" : `failed: ${error}`;
}

/** The first code points, so no character is cut in two. */
function shorten(text: string, charsMax = TEXT_CHARS): string {
  // A code point has at most two units, and a line break of two becomes one space.
  const line = onOneLine(text.slice(0, charsMax * 4));
  return line.length <= charsMax ? line : firstCodePoints(line, charsMax);
}

function onOneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, " ");
}
