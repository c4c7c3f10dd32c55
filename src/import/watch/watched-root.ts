// One watched folder or file. It may not exist yet, disappear, and come back as another one.

import { realpathSync, statfsSync } from "node:fs";
import { join, relative } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isRead, ownerOf, type SeenFile, seeFile, seeFiles, statOf, type WatchedRoot } from "./seen-files.js";
import type { WatchClock } from "./watches.js";

/** How often a folder with events is swept. */
const SWEEP_MS = 30_000;
/** How often a folder without events is swept, unless that takes more than a hundredth of the time. */
const POLL_MS = 1_000;
const POLL_SHARE = 100;

export interface RootListener {
  /** A file; `is_first` if it existed when watching began. */
  readonly seen: (file: SeenFile, is_first: boolean) => void;
  /** What is, or was, at this path has changed. */
  readonly changed: (path: string) => void;
  readonly lost: (path: string, error: unknown) => void;
  /** The folder has no events, or no more; it is polled instead. */
  readonly silent: (root: WatchedRoot, error: unknown) => void;
}

export class RootWatch {
  readonly #root: WatchedRoot;
  readonly #listener: RootListener;
  readonly #clock: WatchClock;
  readonly #links = new Set<string>();
  #events: FolderEvents | undefined;
  #identity: string | undefined;
  #isPolling: boolean;
  #sweptAt = 0;
  #sweepMs = 0;
  #isSwept = false;
  #isClosed = false;

  constructor(
    root: WatchedRoot,
    options: { readonly poll: boolean; readonly clock: WatchClock },
    listener: RootListener,
  ) {
    this.#root = root;
    this.#clock = options.clock;
    this.#listener = listener;
    this.#isPolling = options.poll;
  }

  get isPolling(): boolean {
    return this.#isPolling;
  }

  /** To be called about once a second. */
  async tick(): Promise<void> {
    const { path } = this.#root;
    const found = statOf(path, this.#listener.lost);
    const identity = found === undefined ? undefined : `${found.dev}:${found.ino}`;
    if (identity !== this.#identity) await this.#begin(identity, found?.isDirectory() === true);
    if (found === undefined || this.#isClosed) return;
    for (const link of this.#links) this.#see(link);
    if (found.isFile()) this.#see(path);
    else if (this.#clock.nowMs() - this.#sweptAt >= this.#pauseMs()) await this.#sweep();
    this.#isSwept = true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#events?.close();
    this.#events = undefined;
  }

  /** Starts over, because another file or folder is at the path. */
  async #begin(identity: string | undefined, isFolder: boolean): Promise<void> {
    await this.#events?.close();
    this.#events = undefined;
    this.#identity = identity;
    this.#sweptAt = 0;
    if (!isFolder || this.#isPolling) return;
    const { changed } = this.#listener;
    try {
      const events = await FolderEvents.open(this.#root, { changed, failed: (error) => this.#fall(error) });
      if (events === undefined) this.#fall(undefined);
      else if (this.#isClosed) await events.close();
      else this.#events = events;
    } catch (error) {
      this.#fall(error);
    }
  }

  #fall(error: unknown): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    void this.#events?.close();
    this.#events = undefined;
    this.#listener.silent(this.#root, error);
  }

  #pauseMs(): number {
    if (this.#sweptAt === 0) return 0;
    return this.#isPolling ? Math.min(SWEEP_MS, Math.max(POLL_MS, this.#sweepMs * POLL_SHARE)) : SWEEP_MS;
  }

  async #sweep(): Promise<void> {
    const start = performance.now();
    const found: SeenFile[] = [];
    for await (const file of seeFiles(this.#root, this.#listener.lost)) {
      if (this.#isClosed) return;
      found.push(file);
    }
    // In the order in which they were written, as far as known.
    for (const file of found.sort((a, b) => a.modified_ms - b.modified_ms)) {
      if (file.is_link) this.#links.add(file.path);
      this.#listener.seen(file, !this.#isSwept);
    }
    this.#sweepMs = performance.now() - start;
    this.#sweptAt = this.#clock.nowMs();
  }

  #see(path: string): void {
    const file = seeFile(path, this.#listener.lost);
    if (file !== undefined) this.#listener.seen(file, !this.#isSwept);
  }
}

/** File systems without events for changes by other machines: NFS, SMB in its three forms, 9P, FUSE, VirtualBox. */
const SILENT = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256]);

class FolderEvents {
  readonly #watcher: FSWatcher;

  /** Undefined if the file system has no events. */
  static async open(
    root: WatchedRoot,
    listener: { readonly changed: (path: string) => void; readonly failed: (error: unknown) => void },
  ): Promise<FolderEvents | undefined> {
    const folder = realpathSync(root.path);
    if (SILENT.has(statfsSync(folder).type)) return undefined;
    const named = (path: string): string => join(root.path, relative(folder, path));
    const watcher = watch(folder, {
      ignoreInitial: true,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (path, stats) => stats?.isFile() === true && !isRead(root, ownerOf(named(path))),
    });
    const changed = (path: string): void => {
      if (isRead(root, ownerOf(named(path)))) listener.changed(ownerOf(named(path)));
    };
    watcher.on("add", changed).on("change", changed).on("unlink", changed);
    const isReady = new Promise<boolean>((resolve) => {
      watcher.once("ready", () => resolve(true));
      watcher.on("error", (error) => {
        resolve(false);
        listener.failed(error);
      });
    });
    if (await isReady) return new FolderEvents(watcher);
    await watcher.close();
    return undefined;
  }

  private constructor(watcher: FSWatcher) {
    this.#watcher = watcher;
  }

  close(): Promise<void> {
    return this.#watcher.close();
  }
}
