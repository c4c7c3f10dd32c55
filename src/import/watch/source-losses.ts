// Notes in the record when a file that sessions were read from is deleted or becomes shorter. The sessions are kept.
import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { ImportTarget } from "../import-batcher.js";
import type { SourceLoss } from "../source-loss.js";
import type { Bookmarks, StoredBookmark } from "./bookmarks.js";
import { rootOf, type WatchedRoot } from "./seen-files.js";
import type { LostFile } from "./watch-files.js";
import type { WatchClock } from "./watches.js";

/** A file that is gone for this long was not renamed, and is not being replaced. */
const GRACE_MS = 3_000;
/** How often all files are looked for: not every file system tells of deletions. */
const CHECK_MS = 30_000;
/** The event loop runs after this many files. */
const SLICE_FILES = 256;

interface LossParts {
  readonly roots: readonly WatchedRoot[];
  readonly target: ImportTarget;
  readonly bookmarks: Bookmarks;
  readonly clock: WatchClock;
  /** Whether a file is there under any name, by its key. */
  readonly isSeen: (key: string) => boolean;
  readonly onLost: ((lost: LostFile) => void) | undefined;
}

export class SourceLosses {
  readonly #parts: LossParts;
  /** When files that were not there are looked for again. */
  readonly #due = new Map<string, number>();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: LossParts) {
    this.#parts = parts;
  }

  /** A file that is not there any more; it may come back in a moment. */
  missing(path: string): void {
    if (!this.#due.has(path)) this.#due.set(path, this.#parts.clock.nowMs() + GRACE_MS);
  }

  /** To be called about once a second. At the first time no file is being renamed: all were just listed. */
  async check(isFirst: boolean): Promise<void> {
    const { bookmarks, clock } = this.#parts;
    const now = clock.nowMs();
    if (now - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = now;
      let count = 0;
      for (const { key, path } of bookmarks.paths()) {
        count += 1;
        if (count % SLICE_FILES === 0) await setImmediate();
        if (!this.#isGone(path)) continue;
        if (!isFirst) this.missing(path);
        else if (!this.#parts.isSeen(key)) await this.#lose(path);
      }
    }
    for (const [path, due] of this.#due) {
      if (due > now) continue;
      this.#due.delete(path);
      if (this.#isGone(path)) await this.#lose(path);
    }
  }

  /** Notes what happened to a file, for the sessions that were read from it. */
  async note(
    { path, place, sessions, saved_ms }: Pick<StoredBookmark, "path" | "place" | "sessions" | "saved_ms">,
    how: SourceLoss["how"],
  ): Promise<void> {
    const { target, clock, onLost } = this.#parts;
    const paths = place === undefined ? [path] : [path, place.file];
    const noted: string[] = [];
    for (const session_id of sessions) {
      const loss: SourceLoss = { session_id, paths, how, seen_ms: clock.nowMs(), read_ms: saved_ms };
      if ((await target.sessions?.noteLoss(loss)) === true) noted.push(session_id);
    }
    if (noted.length > 0) onLost?.({ file: path, how, sessions: noted });
  }

  async #lose(path: string): Promise<void> {
    const { bookmarks } = this.#parts;
    // The one at this path: a file that was renamed has it under its new one.
    const bookmark = bookmarks.find("", path);
    if (bookmark === undefined) return;
    await this.note(bookmark, "deleted");
    bookmarks.drop(bookmark.key);
  }

  /** Whether a file of a folder that is there is not: a folder that is gone as a whole may be on a disk that is not mounted. */
  #isGone(path: string): boolean {
    const root = rootOf(path, this.#parts.roots);
    if (root === undefined || (root.path !== path && !isThere(root.path))) return false;
    return !isThere(path);
  }
}

/** What cannot be looked at counts as there. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOTDIR";
  }
}
