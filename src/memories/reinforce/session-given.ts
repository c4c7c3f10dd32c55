// What a session was given beside what was said in it: context packs, memories that were recalled or listed, summaries. It
// was not learned there, and a memory that was given proves nothing by being repeated.

import type { EntryIndex } from "../../index/port.js";
import type { Entry } from "../../model/entry.js";
import { isJsonObject } from "../../model/json.js";
import { SerialQueue } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { type GivenText, wordsOf } from "../judge/ground.js";
import { RecentlyUsed } from "../recall/recently-used.js";
import { spokenIn, textsOfPack } from "../text/spoken.js";

/** How a recall in a session is written down there: a raw entry of this source, with the ids. */
export const RECALL_SOURCE = "hansard.recall";

/** Something that a session was given, at a place of the log. */
export interface Gift {
  readonly position: number;
  readonly from: GivenText["from"];
  /** Empty where only ids are known. */
  readonly text: string;
  readonly ids: readonly string[];
  /** Whether it was asked for, and so is given from then on; a pack is given with one call. */
  readonly isRecalled: boolean;
}

const KINDS = ["interaction", "response", "consolidation", "raw", "tool_call"];
const READ_AT_ONCE = 200;
const SESSIONS_KEPT = 100;
/** Of a session that is given more, the newest is kept: what was said long ago was hardly quoted from the first pack. */
const CHARS_KEPT_MAX = 4_000_000;
const LISTING_TOOL = /(?:^|[^a-z])(?:recall|list_memories)$/i;

interface KnownSession {
  through: number;
  chars: number;
  readonly gifts: Gift[];
}

export class SessionGifts {
  readonly #index: Pick<EntryIndex, "sessionPositions">;
  readonly #entries: Pick<EntryReader, "read">;
  readonly #known = new RecentlyUsed<KnownSession>(SESSIONS_KEPT);
  readonly #words = new WeakMap<Gift, string>();
  /** Two that read on in a session at once would note what they find twice. */
  readonly #reads = new SerialQueue();

  constructor(parts: {
    readonly index: Pick<EntryIndex, "sessionPositions">;
    readonly entries: Pick<EntryReader, "read">;
  }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** All that a session was given through a position. What came later is not asked: a turn means the same at once and later. */
  async through(session_id: string, position: number): Promise<readonly Gift[]> {
    if (session_id === "") return [];
    const known = this.#known.get(session_id) ?? { through: 0, chars: 0, gifts: [] };
    this.#known.use(session_id, known);
    await this.#reads.run(async () => {
      if (known.through < position) await this.#readOn(session_id, known, position);
    });
    return known.gifts.filter((gift) => gift.position <= position);
  }

  /** A gift's text in the form in which it is looked through; worked out once, since sessions are long and packs too. */
  wordsOf(gift: Gift): string {
    const known = this.#words.get(gift) ?? wordsOf(gift.text);
    this.#words.set(gift, known);
    return known;
  }

  /** What was forgotten must not be remembered here. */
  forget(): void {
    this.#known.clear();
  }

  async #readOn(session_id: string, known: KnownSession, position: number): Promise<void> {
    for (;;) {
      const place = { session_id, order: "asc", after: known.through, limit: READ_AT_ONCE, kinds: KINDS } as const;
      const positions = (await this.#index.sessionPositions(place)).filter((one) => one <= position);
      for (const entry of await this.#entries.read(positions)) {
        for (const gift of giftsIn(entry)) {
          known.gifts.push(gift);
          known.chars += gift.text.length;
        }
      }
      while (known.chars > CHARS_KEPT_MAX) known.chars -= known.gifts.shift()?.text.length ?? known.chars;
      known.through = positions.at(-1) ?? position;
      if (positions.length < READ_AT_ONCE) break;
    }
    known.through = position;
  }
}

/** What an entry shows that its session was given. */
export function giftsIn(entry: Entry): readonly Gift[] {
  const { position } = entry;
  const gift = (from: Gift["from"], text: string, ids: readonly string[], isRecalled = false): Gift => {
    return { position, from, text, ids, isRecalled };
  };
  switch (entry.kind) {
    case "interaction":
      return [
        ...textsOfPack(entry.context_pack).map((text) => gift("context_pack", text, [])),
        ...(entry.memories_used.length === 0 ? [] : [gift("memory", "", entry.memories_used)]),
      ];
    case "response":
      return entry.memories_used.length === 0 ? [] : [gift("memory", "", entry.memories_used)];
    case "consolidation":
      return entry.summary === "" ? [] : [gift("consolidation", entry.summary, [])];
    case "tool_call":
      if (!LISTING_TOOL.test(entry.tool)) return [];
      return spokenIn(entry).flatMap(({ by, text }) => (by === "tool" ? [gift("memory", text, [], true)] : []));
    case "raw": {
      const { memories } = entry.source === RECALL_SOURCE && isJsonObject(entry.record) ? entry.record : {};
      const ids = Array.isArray(memories) ? memories.filter((id) => typeof id === "string") : [];
      return ids.length === 0 ? [] : [gift("memory", "", ids, true)];
    }
    default:
      return [];
  }
}
