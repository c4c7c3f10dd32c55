// What this program itself asks of a model. Coding agents write what they are asked into transcripts: a session of such a request is
// neither recorded nor learned from.

const MARK = "[hansard-extraction]";

/** The instructions of a request, marked as this program's own. */
export function ownRequest(prompt: string): string {
  return `${MARK} ${prompt}`;
}

/** Whether a text that a user is said to have typed is such a request. */
export function isOwnRequest(text: unknown): boolean {
  return typeof text === "string" && text.trimStart().startsWith(MARK);
}

/** Whether the beginning of a file has one as a text of its own. */
export function holdsOwnRequest(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(`"${MARK} You read`);
}
