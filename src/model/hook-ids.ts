// Ids of what Claude Code's hooks recorded: its transcript tells of the same prompts and answers, and finds them by these.

import { hash } from "node:crypto";

const FORMAT = "claude-code";
const HASH_CHARS = 32;

/** Of the first entry that hooks record in a session. */
export function hookedSessionId(session_id: string): string {
  return `${FORMAT}:hooks:${shortHash(session_id)}`;
}

/** Of a message; the same words may be said several times. */
export function hookedMessageId(
  { session_id, role, text }: { readonly session_id: string; readonly role: string; readonly text: string },
  nth: number,
): string {
  return `${FORMAT}:hook:${shortHash(JSON.stringify([session_id, role, text]))}:${nth}`;
}

/** The same words at this distance in time are one message. */
export const SAME_MESSAGE_MS = 60_000;

function shortHash(text: string): string {
  return hash("sha256", text, "hex").slice(0, HASH_CHARS);
}
