// What stands around quoted entries: the turn before them, and whether a message begins like those of other sessions.

import type { EntryIndex } from "../../index/port.js";
import type { Entry } from "../../model/entry.js";
import { LruCache } from "../../model/lru-cache.js";
import { normalise } from "../../model/normalise.js";
import { isFromUser, textsOfUser } from "../../model/roles.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { spokenIn } from "../text/quoted-entry.js";

/** Of a longer turn only the entries nearest to the quoted one are read. */
const TURN_ENTRIES_MAX = 40;
const TURN_CHARS_MAX = 1_000_000;
const READ_AT_ONCE = 8;
const KINDS = ["message", "interaction", "tool_call", "error", "decision"];

/** The beginning by which a template is known, and in how many sessions it stands. */
const OPENING_CHARS = 140;
const SESSIONS_MIN = 3;
const ALIKE_MAX = 50;
const OPENINGS_KEPT = 5_000;

interface Parts {
  readonly index: Pick<EntryIndex, "sessionPositions" | "candidates">;
  readonly entries: Pick<EntryReader, "read">;
}

export class Surroundings {
  readonly #parts: Parts;
  /** Openings that are templates; others may become one. */
  readonly #templates = new LruCache<true>(OPENINGS_KEPT);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** By entry: what was said before it in its turn, and in the turn before that. */
  async before(entries: readonly Entry[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const texts = new Map<string, readonly string[]>();
    for (const entry of entries) texts.set(entry.id, await this.#before(entry));
    return texts;
  }

  /** The ids of those that users said with an opening that stands in three sessions. */
  async templates(entries: readonly Entry[]): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const entry of entries) {
      for (const text of textsOfUser(entry)) if (await this.#isTemplate(openingOf(text))) ids.add(entry.id);
    }
    return ids;
  }

  async #before({ session_id, position }: Entry): Promise<readonly string[]> {
    if (session_id === "") return [];
    const range = { session_id, order: "desc", after: position, limit: TURN_ENTRIES_MAX, kinds: KINDS } as const;
    const positions = await this.#parts.index.sessionPositions(range);
    const texts: string[] = [];
    let chars = 0;
    let turns = 0;
    for (let at = 0; at < positions.length && turns < 2; at += READ_AT_ONCE) {
      const read = await this.#parts.entries.read(positions.slice(at, at + READ_AT_ONCE));
      for (const entry of read.toSorted((left, right) => right.position - left.position)) {
        for (const { text } of spokenIn(entry)) {
          chars += text.length;
          if (chars <= TURN_CHARS_MAX) texts.push(text);
        }
        if (isFromUser(entry)) turns += 1;
        if (turns === 2) break;
      }
    }
    return texts;
  }

  async #isTemplate(opening: string): Promise<boolean> {
    if (opening === "") return false;
    if (this.#templates.get(opening) === true) return true;
    const filter = { kinds: ["message", "interaction"] };
    const needle = normalise(opening);
    const found = await this.#parts.index.candidates({ filter, needles: [needle], limit: ALIKE_MAX });
    const sessions = new Set<string>();
    for (const entry of await this.#parts.entries.read(found.map(({ position }) => position))) {
      if (textsOfUser(entry).some((text) => openingOf(text) === opening)) sessions.add(entry.session_id);
    }
    if (sessions.size < SESSIONS_MIN) return false;
    this.#templates.set(opening, true);
    return true;
  }
}

/** Empty for shorter messages: people say them again and again. */
function openingOf(text: string): string {
  const opening = text.trimStart().slice(0, OPENING_CHARS);
  return opening.length < OPENING_CHARS ? "" : opening;
}
