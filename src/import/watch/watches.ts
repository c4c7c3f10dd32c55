// All watches of one store: they share its bookmarks, and end with it.
import { existsSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { makeFolder } from "../../model/files.js";
import { knownOptions, optionNames } from "../../model/options.js";
import { orThrow, RecorderError } from "../../model/rejection.js";
import type { ImportTarget } from "../import-batcher.js";
import { knownPlaces } from "../places.js";
import { forgetBookmarks } from "./bookmarks.js";
import type { WatchedRoot } from "./seen-files.js";
import type { Watch, WatchCounts, WatchOptions } from "./watch-files.js";

const names = optionNames<WatchOptions>({
  format: true,
  timezone: true,
  poll: true,
  onFile: true,
  onRejected: true,
  onTrouble: true,
  onLost: true,
});

/** The time by which files are watched; tests give their own. */
export interface WatchClock {
  nowMs(): number;
  /** Calls `run` once after a delay, unless it is cancelled before. */
  setTimer(run: () => void, delayMs: number): { cancel(): void };
}

const systemClock: WatchClock = {
  nowMs: () => Date.now(),
  setTimer(run, delayMs) {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

export class Watches {
  readonly #bookmarks: string | undefined;
  readonly #clock: WatchClock;
  readonly #watches = new Set<Watch>();

  /** `bookmarks` is the path of their database; undefined keeps them in memory. */
  constructor(bookmarks: string | undefined, clock: WatchClock = systemClock) {
    this.#bookmarks = bookmarks;
    this.#clock = clock;
  }

  async begin(paths: readonly string[], given: WatchOptions, target: ImportTarget): Promise<Watch> {
    const options = knownOptions(given, names);
    const { format, timezone } = options;
    // Loaded lazily: every command opens a store, but few watch files.
    const [files, { Watch }] = await Promise.all([import("../import-files.js"), import("./watch-files.js")]);
    const plan = orThrow(files.parseImportOptions({ format, timezone }));
    const roots = paths.length === 0 ? knownPlaces() : paths.map((path) => this.#root(path));
    if (this.#bookmarks !== undefined) makeFolder(dirname(this.#bookmarks), 0o700);
    const [bookmarks, clock] = [this.#bookmarks, this.#clock];
    const watch = await Watch.begin({ roots, plan, options, target, bookmarks, clock });
    this.#watches.add(watch);
    return watch;
  }

  /** The totals of all watches; undefined if there is none. */
  counts(): WatchCounts | undefined {
    const all = [...this.#watches].map(({ counts }) => counts);
    const [first] = all;
    if (first === undefined) return undefined;
    const sum = (name: keyof WatchCounts): number => all.reduce((total, counts) => total + counts[name], 0);
    const sums = Object.keys(first).map((name) => [name, sum(name as keyof WatchCounts)]);
    return Object.fromEntries(sums) as unknown as WatchCounts;
  }

  /** What is forgotten in the log must be removed from bookmarks too: importers' state contains text. */
  async forget(): Promise<void> {
    if (this.#bookmarks !== undefined && existsSync(this.#bookmarks)) await forgetBookmarks(this.#bookmarks);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watches].map((watch) => watch.close()));
  }

  /** A path that a user named: everything in it is read except the store itself. */
  #root(path: string): WatchedRoot {
    if (typeof path !== "string" || path === "" || path === "-") {
      const message = "only files and folders can be watched";
      const hint = "To read standard input, use `hansard import -`.";
      throw new RecorderError({ code: "field_invalid", field: "paths", message, hint });
    }
    const root = resolve(path);
    const own = this.#bookmarks === undefined ? undefined : `${resolve(dirname(this.#bookmarks))}${sep}`;
    const matches = (name: string): boolean => own === undefined || !join(root, name).startsWith(own);
    return { path: root, matches, formats: "no_exports" };
  }
}
