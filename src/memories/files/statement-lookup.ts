// Finds the entries that hold the words of a statement. One is made for each memory file, and caches the entries it has read.

import type { EntryIndex, RowKey } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
import { normalise } from "../../model/normalise.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import type { QuotedEntry } from "../text/quoted-entry.js";
import { quotedEntry, textsOfPack } from "../text/quoted-entry.js";
import type { Stems } from "../text/stems.js";

/** An entry must have two of a statement's longest stems. */
const STEMS_SOUGHT = 4;
const FOUND_MAX = 100;
/** Candidates of the index are checked against their texts, up to this many. */
const CHECKED_MAX = 5_000;
const PAGE = 100;
const ENTRY_CACHE_CHARS_MAX = 50_000_000;
const PACKS_MAX = 100;
/** Kinds that say something, memories excepted. */
const KINDS = ["message", "interaction", "response", "tool_call", "error", "decision", "feedback"];

export interface Lookup {
  /** In the order of the log. */
  readonly entries: readonly QuotedEntry[];
  /** Context packs as entries of a system. */
  readonly packs: readonly QuotedEntry[];
}

interface Labels {
  readonly project?: string;
}

/** All entries of a small record, with their words. */
interface LoadedEntries {
  readonly entries: readonly QuotedEntry[];
  readonly positions: readonly number[];
  readonly words: WordIndex;
}

/** What an entry says, and its normalised text. */
interface EntryText {
  readonly quoted: QuotedEntry | undefined;
  readonly text: string;
}

export class StatementLookup {
  readonly #index: EntryIndex;
  readonly #entries: EntryReader;
  readonly #stems: Stems;
  readonly #texts = new Map<number, EntryText>();
  #cachedChars = 0;
  readonly #loadedByProject = new Map<string, Promise<LoadedEntries | undefined>>();
  readonly #turn = new TimeSlice();
  readonly #packsByProject = new Map<string, Promise<readonly QuotedEntry[]>>();

  constructor(parts: { readonly index: EntryIndex; readonly entries: EntryReader; readonly stems: Stems }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
    this.#stems = parts.stems;
  }

  /** In a project, or in all of them where it is empty. */
  async find(statement: string, project: string): Promise<Lookup> {
    const labels = project === "" ? {} : { project };
    const found = new Map<number, QuotedEntry>();
    const loading = this.#loadedByProject.get(project) ?? this.#loadAll(labels);
    this.#loadedByProject.set(project, loading);
    const loaded = await loading;
    for (const needles of this.#needles(statement)) {
      if (loaded === undefined) await this.#findAll(needles, labels, found);
      else findLoaded(needles, loaded, found);
    }
    const inOrder = [...found].sort(([left], [right]) => left - right);
    const packs = this.#packsByProject.get(project) ?? this.#packs(labels);
    this.#packsByProject.set(project, packs);
    return { entries: inOrder.map(([, quoted]) => quoted), packs: await packs };
  }

  /** A small record is read whole, which takes less time than asking the index for each pair; undefined for a large one. */
  async #loadAll(labels: Labels): Promise<LoadedEntries | undefined> {
    const keys = await this.#index.list({ filter: { kinds: KINDS, ...labels }, limit: CHECKED_MAX + 1 });
    if (keys.length > CHECKED_MAX) return undefined;
    const positions = keys.map(({ position }) => position).toSorted((left, right) => left - right);
    const loaded: { readonly position: number; readonly quoted: QuotedEntry; readonly text: string }[] = [];
    let chars = 0;
    for (let at = 0; at < positions.length; at += PAGE) {
      for (const entry of await this.#entries.read(positions.slice(at, at + PAGE))) {
        const quoted = quotedEntry(entry);
        if (quoted === undefined) continue;
        const text = normalise(quoted.said.map((said) => said.text).join("\n"));
        loaded.push({ position: entry.position, quoted, text });
        chars += text.length;
      }
      if (chars > ENTRY_CACHE_CHARS_MAX) return undefined;
      if (this.#turn.isOver) await this.#turn.next();
    }
    return {
      entries: loaded.map(({ quoted }) => quoted),
      positions: loaded.map(({ position }) => position),
      words: new WordIndex(loaded.map(({ text }) => text)),
    };
  }

  /** Entries that hold all needles, the newest first, up to a limit. */
  async #findAll(needles: readonly string[], labels: Labels, found: Map<number, QuotedEntry>): Promise<void> {
    const filter = { kinds: KINDS, ...labels };
    let place: RowKey | undefined;
    let count = 0;
    for (let checked = 0; checked < CHECKED_MAX && count < FOUND_MAX; checked += PAGE) {
      const after = place === undefined ? {} : { after: place };
      const page = await this.#index.candidates({ filter, needles, limit: PAGE, ...after });
      for (const [position, { quoted, text }] of await this.#textsAt(page.map(({ position }) => position))) {
        if (quoted === undefined || !needles.every((needle) => text.includes(needle))) continue;
        found.set(position, quoted);
        count += 1;
      }
      place = page.at(-1);
      if (page.length < PAGE) return;
      if (this.#turn.isOver) await this.#turn.next();
    }
  }

  async #textsAt(positions: readonly number[]): Promise<ReadonlyMap<number, EntryText>> {
    const missing = positions.filter((position) => !this.#texts.has(position)).sort((left, right) => left - right);
    for (const entry of missing.length === 0 ? [] : await this.#entries.read(missing)) {
      const quoted = quotedEntry(entry);
      const text = normalise(quoted?.said.map((said) => said.text).join("\n") ?? "");
      this.#texts.set(entry.position, { quoted, text });
      this.#cachedChars += text.length;
    }
    const texts = new Map(
      positions.flatMap((position): readonly (readonly [number, EntryText])[] => {
        const one = this.#texts.get(position);
        return one === undefined ? [] : [[position, one]];
      }),
    );
    if (this.#cachedChars > ENTRY_CACHE_CHARS_MAX) {
      this.#texts.clear();
      this.#cachedChars = 0;
    }
    return texts;
  }

  /** Pairs of stems; a single stem where there is only one. */
  #needles(statement: string): readonly (readonly string[])[] {
    const language = this.#stems.language(statement);
    const byStem = new Map<string, string>();
    for (const word of this.#stems.words(statement)) {
      const stem = this.#stems.stem(word, language);
      if (stem !== "" && !byStem.has(stem)) byStem.set(stem, normalise(commonBeginning(word, stem)));
    }
    const sought = [...byStem.values()].toSorted((left, right) => right.length - left.length).slice(0, STEMS_SOUGHT);
    if (sought.length < 2) return sought.map((one) => [one]);
    return sought.flatMap((one, at) => sought.slice(at + 1).map((other) => [one, other]));
  }

  async #packs(labels: Labels): Promise<readonly QuotedEntry[]> {
    const filter = { kinds: ["interaction"], ...labels };
    const newest = await this.#index.list({ filter, limit: PACKS_MAX });
    const entries = await this.#entries.read(newest.map(({ position }) => position));
    return entries.flatMap((entry) => {
      if (entry.kind !== "interaction") return [];
      const said = textsOfPack(entry.context_pack).map((text) => ({ by: "system" as const, text }));
      const { id: entry_id, session_id, project } = entry;
      return said.length === 0 ? [] : [{ entry_id, session_id, project, said }];
    });
  }
}

/** The newest, as the index would answer. */
function findLoaded(
  needles: readonly string[],
  { entries, positions, words }: LoadedEntries,
  found: Map<number, QuotedEntry>,
): void {
  const newest = words.rowsWith(needles).toSorted((left, right) => right - left);
  for (const row of newest.slice(0, FOUND_MAX)) found.set(itemAt(positions, row), itemAt(entries, row));
}

/** The common beginning of a word and its stem: `repositori`, the stem of repository, occurs in no text. */
function commonBeginning(word: string, stem: string): string {
  let length = 0;
  while (length < stem.length && stem[length] === word[length]) length += 1;
  return length === 0 ? word : word.slice(0, length);
}

const WORD = /[\p{L}\p{N}_]+/gu;
const IS_WORD = /^[\p{L}\p{N}_]+$/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Which texts have a word with a given beginning. What is no word, or of a script without spaces, is searched for in the texts. */
class WordIndex {
  readonly #texts: readonly string[];
  readonly #rowsByWord = new Map<string, number[]>();
  readonly #words: readonly string[];
  readonly #rowsByNeedle = new Map<string, ReadonlySet<number>>();

  /** @param texts Normalised. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
    for (const [row, text] of texts.entries()) this.#add(row, text);
    this.#words = [...this.#rowsByWord.keys()].sort();
  }

  /** The rows of the texts that have a word for each needle. */
  rowsWith(needles: readonly string[]): readonly number[] {
    const [first, ...others] = needles
      .map((needle) => this.#rowsOf(needle))
      .sort((left, right) => left.size - right.size);
    return first === undefined ? [] : [...first].filter((row) => others.every((rows) => rows.has(row)));
  }

  #add(row: number, text: string): void {
    for (const [word] of text.matchAll(WORD)) {
      const rows = this.#rowsByWord.get(word);
      if (rows === undefined) this.#rowsByWord.set(word, [row]);
      else if (rows.at(-1) !== row) rows.push(row);
    }
  }

  #rowsOf(needle: string): ReadonlySet<number> {
    const known = this.#rowsByNeedle.get(needle);
    if (known !== undefined) return known;
    const rows = new Set(
      IS_WORD.test(needle) && !UNSPACED.test(needle) ? this.#beginning(needle) : this.#holding(needle),
    );
    this.#rowsByNeedle.set(needle, rows);
    return rows;
  }

  *#beginning(needle: string): Generator<number> {
    let [low, high] = [0, this.#words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (itemAt(this.#words, middle) < needle) low = middle + 1;
      else high = middle;
    }
    for (let at = low; this.#words[at]?.startsWith(needle) === true; at += 1) {
      yield* this.#rowsByWord.get(itemAt(this.#words, at)) ?? [];
    }
  }

  *#holding(needle: string): Generator<number> {
    for (const [row, text] of this.#texts.entries()) if (text.includes(needle)) yield row;
  }
}
