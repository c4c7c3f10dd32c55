// The present status of the memories that entries are about, so nobody takes a turned down one for what was learned.
import { documentToMemory, MEMORIES } from "../index/memory-fold.js";
import type { EntryIndex } from "../index/port.js";
import type { AlteredEntry, Entry, ListedEntry } from "../model/entry.js";
import { isAltered } from "../model/entry.js";
import type { MemoryStatus } from "../model/memory.js";

/** By the id of the memory; those that are forgotten have none. */
export async function statusesOf(
  index: EntryIndex,
  entries: readonly (Entry | ListedEntry | AlteredEntry)[],
): Promise<ReadonlyMap<string, MemoryStatus>> {
  const keys = [...new Set(entries.flatMap((entry) => memoryOf(entry) ?? []))];
  if (keys.length === 0) return new Map();
  const documents = await index.getDocuments({ collection: MEMORIES, keys });
  return new Map(documents.map((document) => [document.key, documentToMemory(document).status]));
}

/** The one memory that an entry is about; undefined where it is about none or, as a reinforcement may be, about several. */
export function memoryOf(entry: Entry | ListedEntry | AlteredEntry): string | undefined {
  if (isAltered(entry)) return undefined;
  if (entry.kind === "memory_proposed") return entry.id;
  return "memory_id" in entry ? entry.memory_id : undefined;
}
