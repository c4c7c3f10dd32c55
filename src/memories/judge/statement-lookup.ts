// Where in the record the words of statements stand: the entries that hold some of their rarest stems, by the index of texts.
// For the statements of one file, after which it is thrown away: it keeps what it has read.

import type { EntryIndex, RowKey } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
import { normalise } from "../../model/normalise.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { HeardWords } from "../files/heard-words.js";
import type { QuotedEntry } from "../read/quoted-entry.js";
import { quotedEntry, textsOfPack } from "../text/spoken.js";
import type { Stems } from "../text/stems.js";

/** The longest stems say most; two of them must stand in an entry that says the same. */
const STEMS_SOUGHT = 4;
const FOUND_MAX = 100;
/** An index may name any entry whose texts it does not have yet, so that what it names is looked at, up to so many. */
const LOOKED_MAX = 5_000;
const PAGE = 100;
const KEPT_CHARS_MAX = 50_000_000;
const PACKS_MAX = 100;
/** What says something, and is no memory itself. */
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

/** Entries that are few enough to be at hand all of them, with their words. */
interface AtHand {
  readonly entries: readonly QuotedEntry[];
  readonly positions: readonly number[];
  readonly words: HeardWords;
}

/** What an entry says, and the same as needles are compared with it; nothing where it says nothing. */
interface Heard {
  readonly quoted: QuotedEntry | undefined;
  readonly text: string;
}

export class StatementLookup {
  readonly #index: EntryIndex;
  readonly #entries: EntryReader;
  readonly #stems: Stems;
  readonly #heard = new Map<number, Heard>();
  #heardChars = 0;
  readonly #atHandByProject = new Map<string, Promise<AtHand | undefined>>();
  readonly #turn = new TimeSlice();
  readonly #packsByProject = new Map<string, Promise<readonly QuotedEntry[]>>();

  constructor(parts: { readonly index: EntryIndex; readonly entries: EntryReader; readonly stems: Stems }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
    this.#stems = parts.stems;
  }

  /** Of a project, or of all where none is named. */
  async find(statement: string, project: string): Promise<Lookup> {
    const labels = project === "" ? {} : { project };
    const found = new Map<number, QuotedEntry>();
    const looking = this.#atHandByProject.get(project) ?? this.#takeAll(labels);
    this.#atHandByProject.set(project, looking);
    const atHand = await looking;
    for (const needles of this.#needles(statement)) {
      if (atHand === undefined) await this.#findAll(needles, labels, found);
      else findAtHand(needles, atHand, found);
    }
    const inOrder = [...found].sort(([left], [right]) => left - right);
    const packs = this.#packsByProject.get(project) ?? this.#packs(labels);
    this.#packsByProject.set(project, packs);
    return { entries: inOrder.map(([, quoted]) => quoted), packs: await packs };
  }

  /** Asking an index for each pair of words takes longer than reading what a small record holds, once; undefined for a large one. */
  async #takeAll(labels: Labels): Promise<AtHand | undefined> {
    const keys = await this.#index.list({ filter: { kinds: KINDS, ...labels }, limit: LOOKED_MAX + 1 });
    if (keys.length > LOOKED_MAX) return undefined;
    const positions = keys.map(({ position }) => position).toSorted((left, right) => left - right);
    const heard: { readonly position: number; readonly quoted: QuotedEntry; readonly text: string }[] = [];
    let chars = 0;
    for (let at = 0; at < positions.length; at += PAGE) {
      for (const entry of await this.#entries.read(positions.slice(at, at + PAGE))) {
        const quoted = quotedEntry(entry);
        if (quoted === undefined) continue;
        const text = normalise(quoted.said.map((said) => said.text).join("\n"));
        heard.push({ position: entry.position, quoted, text });
        chars += text.length;
      }
      if (chars > KEPT_CHARS_MAX) return undefined;
      if (this.#turn.isOver) await this.#turn.next();
    }
    return {
      entries: heard.map(({ quoted }) => quoted),
      positions: heard.map(({ position }) => position),
      words: new HeardWords(heard.map(({ text }) => text)),
    };
  }

  /** Those that hold all of the needles, the newest of very many. */
  async #findAll(needles: readonly string[], labels: Labels, found: Map<number, QuotedEntry>): Promise<void> {
    const filter = { kinds: KINDS, ...labels };
    let place: RowKey | undefined;
    let count = 0;
    for (let looked = 0; looked < LOOKED_MAX && count < FOUND_MAX; looked += PAGE) {
      const after = place === undefined ? {} : { after: place };
      const page = await this.#index.candidates({ filter, needles, limit: PAGE, ...after });
      for (const [position, { quoted, text }] of await this.#hear(page.map(({ position }) => position))) {
        if (quoted === undefined || !needles.every((needle) => text.includes(needle))) continue;
        found.set(position, quoted);
        count += 1;
      }
      place = page.at(-1);
      if (page.length < PAGE) return;
      if (this.#turn.isOver) await this.#turn.next();
    }
  }

  async #hear(positions: readonly number[]): Promise<ReadonlyMap<number, Heard>> {
    const unheard = positions.filter((position) => !this.#heard.has(position)).sort((left, right) => left - right);
    for (const entry of unheard.length === 0 ? [] : await this.#entries.read(unheard)) {
      const quoted = quotedEntry(entry);
      const text = normalise(quoted?.said.map((said) => said.text).join("\n") ?? "");
      this.#heard.set(entry.position, { quoted, text });
      this.#heardChars += text.length;
    }
    const heard = new Map(
      positions.flatMap((position): readonly (readonly [number, Heard])[] => {
        const one = this.#heard.get(position);
        return one === undefined ? [] : [[position, one]];
      }),
    );
    if (this.#heardChars > KEPT_CHARS_MAX) {
      this.#heard.clear();
      this.#heardChars = 0;
    }
    return heard;
  }

  /** Pairs of stems, so that neither has to be everywhere; alone where there is but one. */
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

/** The newest of very many, as an index is asked for them. */
function findAtHand(
  needles: readonly string[],
  { entries, positions, words }: AtHand,
  found: Map<number, QuotedEntry>,
): void {
  const newest = words.rowsWith(needles).toSorted((left, right) => right - left);
  for (const row of newest.slice(0, FOUND_MAX)) found.set(itemAt(positions, row), itemAt(entries, row));
}

/** What a word and its stem begin with: `repositori` is the stem of repository, and stands in no text. */
function commonBeginning(word: string, stem: string): string {
  let length = 0;
  while (length < stem.length && stem[length] === word[length]) length += 1;
  return length === 0 ? word : word.slice(0, length);
}
