// Files: which ones tool calls read or changed, in which sessions, and the calls that named one.
import { expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";

function call(session_id: string, tool: string, args: EntryInput & object, more: object = {}): EntryInput {
  return { kind: "tool_call", session_id, project: "atlas", tool, args, result: "ok", ...more } as EntryInput;
}

const patch = "*** Begin Patch\n*** Update File: src/b.ts\n@@\n-a\n+b\n*** Add File: docs/new.md\n+x\n*** End Patch";

const work: readonly EntryInput[] = [
  { kind: "session_info", session_id: "one", project: "atlas", title: "First", metadata: { cwd: "/srv/atlas" } },
  call("one", "Read", { file_path: "/srv/atlas/src/a.ts" } as never),
  call("one", "Edit", { file_path: "src/a.ts" } as never),
  call("one", "Edit", { file_path: "src/a.ts" } as never, { is_error: true }),
  call("one", "Grep", { path: "src", pattern: "x" } as never),
  { kind: "session_info", session_id: "two", project: "atlas", title: "Second", metadata: { cwd: "C:\\work\\atlas" } },
  call("two", "apply_patch", { input: patch } as never),
  call("two", "read_file", { path: "C:\\work\\atlas\\src\\a.ts" } as never),
  call("two", "WebFetch", { path: "https://example.com/src/a.ts" } as never),
];

test("each path once, below the working directory, with reads, writes and sessions, the last first", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append(work);
  const { files } = await recorder.files();
  expect(files.map(({ path, reads, writes, last_position }) => [path, reads, writes, last_position])).toEqual([
    ["src/a.ts", 2, 1, 8],
    ["docs/new.md", 0, 1, 7],
    ["src/b.ts", 0, 1, 7],
  ]);
  expect(files[0]?.sessions).toEqual([
    { session_id: "two", title: "Second" },
    { session_id: "one", title: "First" },
  ]);
  const of = async (options: Parameters<typeof recorder.files>[0]) =>
    (await recorder.files(options)).files.map(({ path }) => path);
  expect(await of({ session_id: "one" })).toEqual(["src/a.ts"]);
  expect(await of({ path: "a.ts" })).toEqual(["src/a.ts"]);
  expect(await of({ path: "rc/a.ts" })).toEqual([]);
  expect(await of({ project: "elsewhere" })).toEqual([]);
  expect(await of({ limit: 1 })).toEqual(["src/a.ts"]);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await recorder.files({ limit: 1, ...(cursor === "" ? {} : { cursor }) });
    seen.push(...page.files.map(({ path }) => path));
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(["src/a.ts", "docs/new.md", "src/b.ts"]);
});

test("file: finds the calls that named a file by the end of its path, failed ones too", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append(work);
  const found = async (q: string) => (await recorder.search(q)).results.map(({ position }) => position);
  expect(await found("file:src/a.ts")).toEqual([8, 4, 3, 2]);
  expect(await found("file:a.ts kind:tool_call is:error")).toEqual([4]);
  expect(await found("file:/srv/atlas/src/a.ts")).toEqual([2]);
  expect(await found("file:rc/a.ts")).toEqual([]);
  expect(await found("file:new.md")).toEqual([7]);
});
