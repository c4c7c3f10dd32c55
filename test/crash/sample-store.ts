// A closed store with the sample entries, and the raw connection to its log that an intruder would use.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../../src/engines/sqlite/driver.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";

/** Made once for a file; each test gets a copy. Called outside of tests. */
export function sampleStore(): { copy(): Promise<string> } {
  const original = join(folderOfFile(), "store");
  let made: Promise<void> | undefined;
  return {
    copy: async () => {
      made ??= make(original);
      await made;
      const copy = join(folderOfTest(), "store");
      // A program that ended leaves neither; a connection that was closed here may hold them until its statements are collected.
      const isLeft = (file: string): boolean => !/-(wal|shm)$/.test(file);
      cpSync(original, copy, { recursive: true, filter: isLeft });
      return copy;
    },
  };
}

async function make(data: string): Promise<void> {
  const recorder = await openRecorder({ data });
  for (const entry of sampleEntries) await recorder.append(entry);
  await recorder.count();
  await recorder.close();
}

export function editLog(data: string, edit: (db: Database) => void): void {
  const db = new Database(join(data, "log.db"));
  try {
    edit(db);
  } finally {
    db.close();
  }
}

/** An attacker would drop the triggers before altering a log. */
export function dropTriggers(db: Database): void {
  const triggers = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .pluck()
    .all() as readonly string[];
  for (const trigger of triggers) db.exec(`DROP TRIGGER "${trigger}"`);
}

export async function withRecorder<T>(data: string, work: (recorder: Recorder) => Promise<T>): Promise<T> {
  const recorder = await openRecorder({ data });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}
