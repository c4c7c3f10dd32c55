// What a session was given besides what was said in it: context packs, injected texts, recalled or listed memories, summaries. None of it was
// learned there, and repeating a memory that was given proves nothing.

import type { EntryIndex } from "../../index/port.js";
import { contentTexts } from "../../model/content.js";
import type { Entry, EntryOf } from "../../model/entry.js";
import { isJsonObject } from "../../model/json.js";
import { LruCache } from "../../model/lru-cache.js";
import { isInjected } from "../../model/roles.js";
import { SerialQueue } from "../../model/scheduling.js";
import { typedCommand } from "../../model/shell-command.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { isMemoryFile } from "../files/memory-file-names.js";
import type { GivenText } from "../judge/judgement.js";
import { wordsOf } from "../judge/statement.js";
import { pathIn } from "../propose/commands/runs.js";
import { spokenIn, textsOfPack } from "../text/quoted-entry.js";

/** A recall is recorded in its session as a raw entry of this source, with the ids. */
export const RECALL_SOURCE = "hansard.recall";

/** Something that a session was given, at a place of the log. */
export interface GivenItem {
  readonly position: number;
  readonly from: GivenText["from"];
  /** Empty where only ids are known. */
  readonly text: string;
  readonly ids: readonly string[];
  /** Whether it is given from then on, as what was recalled or injected; a context pack is given with one call. */
  readonly isRecalled: boolean;
}

const KINDS = ["interaction", "response", "message", "consolidation", "raw", "tool_call"];
const READ_AT_ONCE = 200;
const SESSIONS_MAX = 100;
/** Of a session that is given more, only the newest items are cached. */
const CHARS_MAX = 4_000_000;
const LISTING_TOOL = /(?:^|[^a-z])(?:recall|list_memories)$/i;

interface CachedSession {
  through: number;
  chars: number;
  readonly items: GivenItem[];
}

export class GivenItems {
  readonly #index: Pick<EntryIndex, "sessionPositions">;
  readonly #entries: Pick<EntryReader, "read">;
  readonly #sessions = new LruCache<CachedSession>(SESSIONS_MAX);
  readonly #words = new WeakMap<GivenItem, string>();
  readonly #lines = new WeakMap<GivenItem, readonly string[]>();
  /** One reader at a time, or items would be added twice. */
  readonly #reads = new SerialQueue();

  constructor(parts: {
    readonly index: Pick<EntryIndex, "sessionPositions">;
    readonly entries: Pick<EntryReader, "read">;
  }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** All that a session was given through a position. */
  async through(session_id: string, position: number): Promise<readonly GivenItem[]> {
    if (session_id === "") return [];
    const known = this.#sessions.get(session_id) ?? { through: 0, chars: 0, items: [] };
    this.#sessions.set(session_id, known);
    await this.#reads.run(async () => {
      if (known.through < position) await this.#readOn(session_id, known, position);
    });
    return known.items.filter((item) => item.position <= position);
  }

  /** The comparable form of an item's text, cached. */
  wordsOf(item: GivenItem): string {
    const known = this.#words.get(item) ?? wordsOf(item.text);
    this.#words.set(item, known);
    return known;
  }

  /** The lines of a memory file that an item shows, without their numbers and marks, cached. */
  fileLinesOf(item: GivenItem): readonly string[] {
    const known = this.#lines.get(item) ?? linesOfFile(item);
    this.#lines.set(item, known);
    return known;
  }

  /** Drops the cache, because something may have been forgotten. */
  clear(): void {
    this.#sessions.clear();
  }

  async #readOn(session_id: string, known: CachedSession, position: number): Promise<void> {
    for (;;) {
      const place = { session_id, order: "asc", after: known.through, limit: READ_AT_ONCE, kinds: KINDS } as const;
      const positions = (await this.#index.sessionPositions(place)).filter((one) => one <= position);
      for (const entry of await this.#entries.read(positions)) {
        for (const item of givenItemsIn(entry)) {
          known.items.push(item);
          known.chars += item.text.length;
        }
      }
      while (known.chars > CHARS_MAX) known.chars -= known.items.shift()?.text.length ?? known.chars;
      known.through = positions.at(-1) ?? position;
      if (positions.length < READ_AT_ONCE) break;
    }
    known.through = position;
  }
}

/** A program puts a project's memory file into a conversation under its name. */
const NAMES_FILE = /(?:CLAUDE|AGENTS|GEMINI|QWEN)(?:\.local)?\.md/;
const NAMED_WITHIN_CHARS = 2_000;
const LINES_MAX = 2_000;
const LINE_CHARS_MAX = 1_000;

function linesOfFile({ from, text }: GivenItem): readonly string[] {
  const isFile = from === "memory_file" || (from === "injected" && NAMES_FILE.test(text.slice(0, NAMED_WITHIN_CHARS)));
  if (!isFile) return [];
  const lines = text.split("\n").map((line) => line.slice(0, LINE_CHARS_MAX).replace(LINE_MARKS, "").trim());
  return [...new Set(lines)].filter((line) => line.length >= LINE_CHARS_MIN).slice(0, LINES_MAX);
}

const LINE_MARKS = /^\s*(?:\d+(?:→|\t))?\s*(?:[-*+•>#]+\s+|\d{1,3}[.)]\s+)*/;
const LINE_CHARS_MIN = 8;

/** Whether the call shows a memory file: by its path, or by a command such as `cat AGENTS.md`. */
function readsMemoryFile({ args }: EntryOf<"tool_call">): boolean {
  const command = typedCommand(args);
  if (command === undefined) return isMemoryFile(pathIn(args) ?? "");
  return command
    .slice(0, COMMAND_CHARS_MAX)
    .split(/[\s"';|&<>]+/)
    .some(isMemoryFile);
}

const COMMAND_CHARS_MAX = 1_000;

/** What an entry shows that its session was given. */
export function givenItemsIn(entry: Entry): readonly GivenItem[] {
  const { position } = entry;
  const item = (from: GivenItem["from"], text: string, ids: readonly string[], isRecalled = false): GivenItem => {
    return { position, from, text, ids, isRecalled };
  };
  switch (entry.kind) {
    case "interaction":
      return [
        ...textsOfPack(entry.context_pack).map((text) => item("context_pack", text, [])),
        ...(entry.memories_used.length === 0 ? [] : [item("memory", "", entry.memories_used)]),
      ];
    case "response":
      return entry.memories_used.length === 0 ? [] : [item("memory", "", entry.memories_used)];
    case "message":
      return isInjected(entry) ? contentTexts(entry.content).map((text) => item("injected", text, [], true)) : [];
    case "consolidation":
      return entry.summary === "" ? [] : [item("consolidation", entry.summary, [])];
    case "tool_call":
      if (readsMemoryFile(entry)) {
        return spokenIn(entry).flatMap(({ by, text }) => (by === "tool" ? [item("memory_file", text, [], true)] : []));
      }
      if (!LISTING_TOOL.test(entry.tool)) return [];
      return spokenIn(entry).flatMap(({ by, text }) => (by === "tool" ? [item("memory", text, [], true)] : []));
    case "raw": {
      const { memories } = entry.source === RECALL_SOURCE && isJsonObject(entry.record) ? entry.record : {};
      const ids = Array.isArray(memories) ? memories.filter((id) => typeof id === "string") : [];
      return ids.length === 0 ? [] : [item("memory", "", ids, true)];
    }
    default:
      return [];
  }
}
