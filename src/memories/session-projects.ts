// The project of a session that names none, as older sessions of Codex and Gemini do: the folder that most of its calls worked in.

import type { EntryIndex } from "../index/port.js";
import type { JsonObject } from "../model/json.js";
import { LruCache } from "../model/lru-cache.js";
import { shellFolder } from "../model/shell-command.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import { pathIn } from "./propose/commands/runs.js";

/** The beginning of a session shows where it works. */
const CALLS_MAX = 200;
const SESSIONS_KEPT = 2_000;
const NAME_CHARS_MAX = 200;
/** A session without calls is looked at again only once it has grown by so many questions. */
const UNKNOWN_ASKED_MAX = 50;

const IS_ABSOLUTE = /^(?:[/~]|[A-Za-z]:[\\/])/;

interface Known {
  readonly project: string;
  asked: number;
}

export class SessionProjects {
  readonly #index: Pick<EntryIndex, "sessionPositions">;
  readonly #entries: Pick<EntryReader, "read">;
  readonly #bySession = new LruCache<Known>(SESSIONS_KEPT);

  constructor(parts: {
    readonly index: Pick<EntryIndex, "sessionPositions">;
    readonly entries: Pick<EntryReader, "read">;
  }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** Empty where its calls name no folder. */
  async of(session_id: string): Promise<string> {
    const known = this.#bySession.get(session_id);
    if (known !== undefined && (known.project !== "" || known.asked < UNKNOWN_ASKED_MAX)) {
      known.asked += 1;
      return known.project;
    }
    const place = { session_id, order: "asc", after: 0, limit: CALLS_MAX, kinds: ["tool_call"] } as const;
    const calls = await this.#entries.read(await this.#index.sessionPositions(place));
    const project = commonestFolder(calls.flatMap((entry) => (entry.kind === "tool_call" ? [entry.args] : [])));
    this.#bySession.set(session_id, { project, asked: 0 });
    return project;
  }

  /** Drops the cache, because something may have been forgotten. */
  clear(): void {
    this.#bySession.clear();
  }
}

/** The name of the folder that commands ran in, or else of the one above the files that were read and changed. */
function commonestFolder(calls: readonly JsonObject[]): string {
  const folders = new Map<string, number>();
  const files: string[] = [];
  for (const args of calls) {
    const folder = shellFolder(args);
    const path = pathIn(args);
    if (IS_ABSOLUTE.test(folder)) folders.set(folder, (folders.get(folder) ?? 0) + 1);
    else if (path !== undefined && IS_ABSOLUTE.test(path)) files.push(path);
  }
  const [commonest] = [...folders].toSorted(([, left], [, right]) => right - left);
  return nameOf(commonest?.[0] ?? sharedFolder(files));
}

/** The folder that all files are in; empty where that is a home folder or nothing. */
function sharedFolder(files: readonly string[]): string {
  const [first, ...others] = files.map((file) => file.split(/[\\/]/).slice(0, -1));
  if (first === undefined) return "";
  let length = first.length;
  for (const folder of others) {
    while (length > 0 && first.slice(0, length).some((part, at) => part !== folder[at])) length -= 1;
  }
  return length > 3 ? first.slice(0, length).join("/") : "";
}

function nameOf(folder: string): string {
  const name =
    folder
      .split(/[\\/]/)
      .filter((part) => part !== "")
      .at(-1) ?? "";
  return name.length > NAME_CHARS_MAX || name === "~" ? "" : name;
}
