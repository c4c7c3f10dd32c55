// Sessions as resources: each has an address, and reads as its newest entries.
import type { Recorder } from "../../recorder/recorder.js";
import { countThatFits, pieceOf, shortRow } from "./bounds.js";
import { recordedText } from "./recorded-text.js";

const SCHEME = "hansard://sessions/";
const MIME_TYPE = "text/plain";
const NEWEST = 100;

export const resourceTemplates = [
  {
    uriTemplate: `${SCHEME}{session_id}`,
    name: "session",
    title: "A session",
    description: "What is known of a session, and its newest entries. The id is percent-encoded.",
    mimeType: MIME_TYPE,
  },
];

export async function listResources(recorder: Recorder, cursor: string | undefined) {
  const { sessions, next_cursor } = await recorder.listSessions({ cursor });
  const resources = sessions.map(({ session_id, title, entries, last_at }) => ({
    uri: `${SCHEME}${encodeURIComponent(session_id)}`,
    name: session_id,
    ...(title === "" ? {} : { title: pieceOf(title, "", 200).text }),
    description: `${entries} entries, the newest of ${last_at}`,
    mimeType: MIME_TYPE,
  }));
  return { resources, ...(next_cursor === null ? {} : { nextCursor: next_cursor }) };
}

/** Undefined where there is no such session. */
export async function readResource(recorder: Recorder, uri: string) {
  const id = sessionIdOf(uri);
  const session = id === undefined ? undefined : recorder.session(id);
  const summary = await session?.summary();
  if (session === undefined || summary === undefined) return undefined;
  const { entries } = await session.entries({ order: "desc", limit: NEWEST });
  const rows = entries.map(shortRow);
  const head = shortRow(summary);
  const shown = rows.slice(0, countThatFits(rows, head)).reverse();
  const text = recordedText(JSON.stringify({ ...head, newest_entries: shown }), null);
  return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
}

function sessionIdOf(uri: string): string | undefined {
  if (!uri.startsWith(SCHEME)) return undefined;
  try {
    return decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    // A stray % names no session.
    return undefined;
  }
}
