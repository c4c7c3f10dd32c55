// How large a page of sessions may be.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../test/support/memory-recorder.js";

const MIB = 1024 * 1024;

test("a page of sessions ends before it has 32 MiB, and its cursor leads to each of the others once", async () => {
  const { recorder } = memoryRecorder();
  const sessions = Array.from({ length: 9 }, (_, nth) => `s${nth}`);
  for (const session_id of sessions) {
    await recorder.append({ kind: "session_info", session_id, metadata: { text: "x".repeat(10 * MIB) } });
  }
  const pages: (readonly string[])[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await recorder.listSessions({ limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page.sessions.map(({ session_id }) => session_id));
    // What arrives meanwhile moves no session to another page.
    if (cursor === undefined) await recorder.append({ kind: "error", session_id: "s2", error: "e" });
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(pages.flat().sort()).toEqual(sessions);
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 3]);
});
