// The answer of a parent session that a child session, such as a subagent's, came from.

import type { Entry, EntryOf, Interaction } from "../model/entry.js";
import { readRole } from "../model/roles.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { getSession } from "../sessions/session-list.js";

/** How many of the parent's newest entries before the child are looked through. */
const LOOKED_BACK = 200;
const READ_AT_ONCE = 8;

/** The parent's newest answer before the child began; undefined without a parent, or before its transcript is there. */
export async function parentAnswer(
  { index }: Pick<ReadingParts, "index">,
  entries: Pick<EntryReader, "readWhole">,
  { session_id }: { readonly session_id: string },
): Promise<Interaction | EntryOf<"message"> | undefined> {
  const child = session_id === "" ? undefined : await getSession(index, session_id);
  if (child === undefined || child.parent === "" || child.parent === session_id) return undefined;
  // By time: a child's transcript may have been recorded before its parent's.
  const filter = { session_id: child.parent, kinds: ["message", "interaction"], until_ms: child.first_ms };
  const keys = await index.list({ filter, limit: LOOKED_BACK });
  for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
    const read = await entries.readWhole(keys.slice(at, at + READ_AT_ONCE).map(({ position }) => position));
    const answer = read.find(isAnswer);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function isAnswer(entry: Entry): entry is Interaction | EntryOf<"message"> {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "assistant");
}
