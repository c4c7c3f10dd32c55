// The files that a store in a folder consists of, by their names.
import { join } from "node:path";

export interface StoreFiles {
  readonly log: string;
  readonly index: string;
  readonly keys: string;
  /** How far watched files were read. */
  readonly watch: string;
}

const STORE_FILE = /^((log|keys|watch|index(\.format-\d+)?)\.db(-wal|-shm)?|[a-z-]+\.lease)$/;
/** What SQLite lays beside a database while it is in use. */
const ENDINGS = ["", "-wal", "-shm"] as const;

export function storeFiles(folder: string): StoreFiles {
  const file = (name: string): string => join(folder, `${name}.db`);
  return { log: file("log"), index: file("index"), keys: file("keys"), watch: file("watch") };
}

/** A database file together with those that SQLite may have laid beside it. */
export function withCompanions(file: string): readonly string[] {
  return ENDINGS.map((ending) => file + ending);
}

/** Whether a file of this name belongs to a store; nothing else may ever take its place. */
export function isStoreFileName(name: string): boolean {
  return STORE_FILE.test(name);
}
