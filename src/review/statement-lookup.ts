// Where in the record the words of a statement stand: the entries that hold some of its rarest stems, by the index of texts.
import { normalise } from "../model/normalise.js";
import type { EntryIndex } from "../ports/entry-index.js";
import type { EntryReader } from "../read/entry-reader.js";
import type { QuotedEntry } from "./ground.js";
import { quotedEntry, textsOfPack } from "./spoken.js";
import type { Stems } from "./stems.js";

/** The longest stems say most; two of them must stand in an entry that says the same. */
const STEMS_SOUGHT = 4;
const FOUND_MAX = 100;
const PACKS_MAX = 100;
/** What says something, and is no memory itself. */
const KINDS = ["message", "interaction", "response", "tool_call", "error", "decision", "feedback"];

export interface Lookup {
  /** In the order of the log. */
  readonly entries: readonly QuotedEntry[];
  /** Context packs as entries of a system. */
  readonly packs: readonly QuotedEntry[];
}

export class StatementLookup {
  readonly #index: EntryIndex;
  readonly #entries: EntryReader;
  readonly #stems: Stems;

  constructor(parts: { readonly index: EntryIndex; readonly entries: EntryReader; readonly stems: Stems }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
    this.#stems = parts.stems;
  }

  /** Of a project, or of all where none is named. */
  async find(statement: string, project: string): Promise<Lookup> {
    const labels = project === "" ? {} : { project };
    const positions = new Set<number>();
    for (const needles of this.#needles(statement)) {
      const filter = { kinds: KINDS, ...labels };
      const found = await this.#index.candidates({ filter, needles, limit: FOUND_MAX });
      for (const { position } of found) positions.add(position);
    }
    const inOrder = [...positions].sort((left, right) => left - right);
    const entries = await this.#entries.read(inOrder);
    return { entries: entries.flatMap((entry) => quotedEntry(entry) ?? []), packs: await this.#packs(labels) };
  }

  /** Pairs of stems, so that neither has to be everywhere; alone where there is but one. */
  #needles(statement: string): readonly (readonly string[])[] {
    const stems = [...this.#stems.of(statement)]
      .map(normalise)
      .toSorted((left, right) => right.length - left.length)
      .slice(0, STEMS_SOUGHT);
    if (stems.length < 2) return stems.map((stem) => [stem]);
    return stems.flatMap((one, at) => stems.slice(at + 1).map((other) => [one, other]));
  }

  async #packs(labels: { readonly project?: string }): Promise<readonly QuotedEntry[]> {
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
