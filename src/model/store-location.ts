// Where a store is: a folder with its files, or the address of a database or a server, shown without its password.
import { join } from "node:path";

export function isDatabaseAddress(data: string): boolean {
  return /^postgres(ql)?:\/\//i.test(data);
}

export function isServerAddress(data: string): boolean {
  return /^https?:\/\//i.test(data);
}

/** The location without its password, for messages and logs. */
export function displayLocation(data: string): string {
  if (!isDatabaseAddress(data) && !isServerAddress(data)) return data;
  try {
    const url = new URL(data);
    if (url.password !== "") url.password = "***";
    // A password may also be given as a parameter.
    if (url.searchParams.has("password")) url.searchParams.set("password", "***");
    return url.href;
  } catch {
    return "(invalid address)";
  }
}

/** The files of a store in a folder. */
export interface StoreFiles {
  readonly log: string;
  readonly index: string;
  readonly keys: string;
  /** How far watched files were read. */
  readonly watch: string;
}

const STORE_FILE = /^((log|keys|watch|index(\.format-\d+)?)\.db(-wal|-shm)?|[a-z-]+\.lease)$/;
/** The suffixes of the files that SQLite keeps next to a database. */
const ENDINGS = ["", "-wal", "-shm"] as const;

export function storeFiles(folder: string): StoreFiles {
  const file = (name: string): string => join(folder, `${name}.db`);
  return { log: file("log"), index: file("index"), keys: file("keys"), watch: file("watch") };
}

/** A database file and those that SQLite may keep next to it. */
export function withCompanions(file: string): readonly string[] {
  return ENDINGS.map((ending) => file + ending);
}

/** Whether a file of this name belongs to a store; nothing may overwrite it. */
export function isStoreFileName(name: string): boolean {
  return STORE_FILE.test(name);
}
