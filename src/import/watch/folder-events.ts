// Word from the system that something in a folder has changed, through chokidar. Where the system has none to give, the
// folder is swept instead.
import { realpathSync, statfsSync } from "node:fs";
import { join, relative } from "node:path";
import type { FSWatcher } from "chokidar";
import { isRead, ownerOf, type WatchedRoot } from "./seen-files.js";

/** File systems that tell nobody what another machine writes: NFS, SMB in its three forms, 9P, FUSE, VirtualBox. */
const SILENT = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256]);

export class FolderEvents {
  readonly #watcher: FSWatcher;

  /** Begins to listen; undefined where nothing would be heard. */
  static async open(
    root: WatchedRoot,
    listener: { readonly changed: (path: string) => void; readonly failed: (error: unknown) => void },
  ): Promise<FolderEvents | undefined> {
    const folder = realpathSync(root.path);
    if (SILENT.has(statfsSync(folder).type)) return undefined;
    const { watch } = await import("chokidar");
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
