// Branches that are left, and chosen again, after they were read: a file is never read again for that.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Entry, openRecorder, type Recorder } from "../../src/index.js";
import { recordsOf } from "../support/fixtures.js";
import { importBench } from "../support/import-target.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { tokensOf } from "../support/transcripts.js";

const data = join(folderOfFile(), "record");
let recorder: Recorder;

beforeAll(async () => {
  recorder = await openRecorder({ data });
});
afterAll(() => recorder.close());

/** Reads what there is, and says how many bytes that were. */
async function readOnce(path: string): Promise<number> {
  const watch = await recorder.watchFiles(path, { poll: true });
  await watch.caughtUp();
  await watch.close();
  return watch.counts.bytes;
}

async function history(session_id: string): Promise<readonly unknown[]> {
  const messages = await recorder.session(session_id).history({ max_messages: 50 });
  return messages.map(({ content }) => content);
}

async function entriesOf(session_id: string): Promise<readonly Entry[]> {
  let text = "";
  for await (const piece of recorder.exportEntries({ session_id })) text += piece;
  const entries = (recordsOf(text) as readonly Entry[]).filter((record) => "kind" in record);
  return entries.map((entry) => ({ ...entry, extra: entry.extra ?? {} }));
}

test("a message that is taken back after it was read leaves history", async () => {
  const file = join(folderOfTest(), "session-1.jsonl");
  const message = (id: string, type: string): object => ({ id, type, timestamp: "2026-05-04T08:00:00Z", content: id });
  const header = { sessionId: "rewound", projectHash: "p", startTime: "2026-05-04T08:00:00Z" };
  const lines = [
    header,
    message("g1", "user"),
    message("g2", "gemini"),
    message("g3", "user"),
    message("g4", "gemini"),
  ];
  writeFileSync(file, lines.map((item) => `${JSON.stringify(item)}\n`).join(""));
  await readOnce(file);
  appendFileSync(
    file,
    [{ $rewindTo: "g3" }, message("g5", "user")].map((item) => `${JSON.stringify(item)}\n`).join(""),
  );
  await readOnce(file);
  expect(await history("rewound")).toEqual(["g1", "g2", "g5"]);
  expect((await entriesOf("rewound")).filter(({ kind }) => kind === "message").length).toBe(5);
  expect(await recorder.importFiles(file)).toMatchObject({ added: 0, rejected: [] });
  // Written again, it is part of the talk again.
  appendFileSync(file, `${JSON.stringify(message("g3", "user"))}\n`);
  await readOnce(file);
  expect(await history("rewound")).toEqual(["g1", "g2", "g5", "g3"]);
  expect(await recorder.importFiles(file)).toMatchObject({ added: 0, rejected: [] });
});

test("a branch that is left after it was read leaves history, and one that is chosen again comes back, with its results", async () => {
  const file = join(folderOfTest(), "branches.jsonl");
  const said = (id: string, parentId: string | null, message: object): object => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-05-04T08:00:01.000Z",
    message: { usage: { input: 1, output: 1 }, ...message },
  });
  const call = { type: "toolCall", id: "b-t1", name: "read", arguments: {} };
  const steps = [
    [{ type: "session", version: 3, id: "branches", timestamp: "2026-05-04T08:00:00.000Z" }, []],
    [said("b1", null, { role: "user", content: "one" }), ["one"]],
    [said("b2", "b1", { role: "assistant", content: [{ type: "text", text: "two" }, call] }), undefined],
    [said("b3", "b2", { role: "toolResult", toolCallId: "b-t1", content: "three" }), ["one", "two", "three"]],
    [said("b4", "b3", { role: "assistant", content: "four" }), ["one", "two", "three", "four"]],
    [said("b5", "b1", { role: "assistant", content: "five" }), ["one", "five"]],
    [said("b6", "b4", { role: "user", content: "six" }), ["one", "two", "three", "four", "six"]],
    [said("b7", "b5", { role: "user", content: "seven" }), ["one", "five", "seven"]],
    [said("b8", "b3", { role: "user", content: "eight" }), ["one", "two", "three", "eight"]],
  ] as const;
  for (const [record, expected] of steps) {
    const text = `${JSON.stringify(record)}\n`;
    appendFileSync(file, text);
    expect(await readOnce(file)).toBe(text.length);
    if (expected !== undefined) expect(await history("branches")).toEqual(expected);
    expect(await recorder.importFiles(file)).toMatchObject({ added: 0, rejected: [] });
  }
  // What is said again was paid for once.
  const whole = importBench();
  await whole.import(file);
  expect(tokensOf(await entriesOf("branches"))).toEqual(tokensOf(await whole.entries()));
});
