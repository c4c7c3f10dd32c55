// The index row of an entry, to filter entries without asking the index.
import { toEntryRow } from "../../index/derivation.js";
import type { EntryRow } from "../../index/port.js";
import type { Entry } from "../../model/entry.js";
import type { JsonObject } from "../../model/json.js";

/** Undefined where lists would leave the entry out too, because its body is none that was recorded. */
export function rowOfEntry(entry: Entry): EntryRow | undefined {
  const { position, kind, recorded_at } = entry;
  return toEntryRow({ position, kind, recorded_at, body: entry as unknown as JsonObject });
}
