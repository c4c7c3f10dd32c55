// Until where an entry was being said: what a session was given before an answer was there, the answer may repeat.
import type { Entry } from "../../model/entry.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";

/** The position of an entry's last words: of the response, where one completed an interaction later. */
export async function saidThrough(entry: Entry, entries: Pick<EntryReader, "getById">): Promise<number> {
  const { response_id } = entry as { readonly response_id?: string };
  const response = response_id === undefined ? undefined : await entries.getById(response_id);
  return response?.position ?? entry.position;
}
