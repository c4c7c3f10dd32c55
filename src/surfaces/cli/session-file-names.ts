// File names for sessions, one each: what a session is called may not be a name for a file, and two may look alike.
import { hash } from "node:crypto";

/** File systems take 255 bytes, and the ending needs some. */
const NAME_BYTES_MAX = 200;
const HASH_CHARS = 12;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they have no business in a file's name.
const UNSAFE = /[:/\\\u0000-\u001f]/g;

/**
 * The name of each session's file: the one that nanobot looks for, where no other session would have the same. Sessions
 * that would share one, also where a disk does not tell capitals apart, are told apart by a hash; which of them keeps
 * the plain name does not depend on the order they are given in.
 */
export function fileNamesOf(sessions: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  const ordered = [...new Set(sessions)].sort(
    (a, b) => Number(isChanged(a)) - Number(isChanged(b)) || (a < b ? -1 : 1),
  );
  for (const session of ordered) {
    const plain = plainName(session);
    const isOwn = plain !== undefined && !taken.has(folded(plain));
    const suffix = hash("sha256", session, "hex").slice(0, HASH_CHARS);
    const name = isOwn ? plain : `${cut(safe(session))}-${suffix}.jsonl`;
    taken.add(folded(name));
    names.set(session, name);
  }
  return names;
}

function isChanged(session: string): boolean {
  return safe(session) !== session;
}

function safe(session: string): string {
  return session.replaceAll(UNSAFE, "_");
}

function plainName(session: string): string | undefined {
  const name = safe(session);
  return Buffer.byteLength(name) > NAME_BYTES_MAX || name === "" ? undefined : `${name}.jsonl`;
}

/** Cut at whole characters. */
function cut(name: string): string {
  let kept = "";
  for (const char of name) {
    if (Buffer.byteLength(kept + char) > NAME_BYTES_MAX / 2) break;
    kept += char;
  }
  return kept;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
