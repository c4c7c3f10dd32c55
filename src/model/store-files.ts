// The files that a store in a folder consists of, by their names.

const STORE_FILE = /^((log|keys|index(\.format-\d+)?)\.db(-wal|-shm)?|[a-z-]+\.lease)$/;

/** Whether a file of this name belongs to a store; nothing else may ever take its place. */
export function isStoreFileName(name: string): boolean {
  return STORE_FILE.test(name);
}
