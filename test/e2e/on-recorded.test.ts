// The hook of openRecorder and the server's line in the log: what was recorded, in kinds, places, labels and counts.
import { expect, onTestFinished, test } from "vitest";
import { openRecorder, type RecordedEntry, type Recorder, type RecorderOptions } from "../../src/index.js";
import { createLogger } from "../../src/surfaces/http/logger.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { startServer } from "./http-client.js";

const labels = { session_id: "s", project: "web", client: "c" };
const answered = {
  id: "q",
  prompt: "the prompt",
  response: "naïve 🙂",
  ...labels,
  memories_used: ["m1", "m2"],
  chunks_used: ["c1"],
};

async function open(options: RecorderOptions): Promise<Recorder> {
  const recorder = await openRecorder({ data: "memory:", ...options });
  onTestFinished(() => recorder.close());
  return recorder;
}

async function expectTold(data: string): Promise<void> {
  const batches: (readonly RecordedEntry[])[] = [];
  const recorder = await open({ data, onRecorded: (entries) => void batches.push(entries) });
  const { created_at, position } = await recorder.recordInteraction(answered);
  const counts = { memories_used: 2, chunks_used: 1, response_chars: 7 };
  expect(batches).toEqual([[{ kind: "interaction", id: "q", position, created_at, ...labels, ...counts }]]);
  await recorder.recordInteraction(answered);
  await expect(recorder.append({ kind: "error" } as never)).rejects.toThrow();
  expect(batches).toHaveLength(1);
  await recorder.append([
    { kind: "error", id: "e", error: "the error" },
    { kind: "error", id: "e", error: "the error" },
    { kind: "message", session_id: "s", role: "user", content: "the content" },
  ]);
  expect(batches[1]).toMatchObject([
    { kind: "error", id: "e", position: position + 1, project: "" },
    { kind: "message", position: position + 2, session_id: "s" },
  ]);
  expect(JSON.stringify(batches)).not.toMatch(/the (prompt|error|content)|naïve/);
}

test("it is called after each acknowledged batch, with what is new in it and no text", () => expectTold("memory:"));

test("through a server, too", async () => expectTold((await startServer()).address));

test("responses have counts, and entries recorded with a key are reported as well", async () => {
  const told: RecordedEntry[] = [];
  const recorder = await open({ onRecorded: (entries) => void told.push(...entries) });
  await recorder.recordInteraction({ id: "q", prompt: "p" });
  await recorder.recordedBy("0123456789abcdef").completeInteraction("q", { response: "done", chunks_used: ["c"] });
  expect(told.map(({ kind, response_chars, chunks_used }) => [kind, response_chars, chunks_used])).toEqual([
    ["interaction", 0, 0],
    ["response", 4, 1],
  ]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("broken hook");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken hook"))],
])("a hook that %s harms no capture, and is reported once", async (_, onRecorded) => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void (warning.message.includes("broken hook") && warnings.push(warning));
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const recorder = await open({ onRecorded });
  for (const prompt of ["a", "b", "c"]) await recorder.recordInteraction({ prompt });
  expect(await recorder.count()).toMatchObject({ entries: 3 });
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ name: "HansardWarning", code: "on_recorded_failed" });
});

test("a hook that throws what has no text harms nothing, and is reported once", async () => {
  const thrown = [
    Object.create(null),
    Symbol("s"),
    Object.assign(new Error("m"), { message: Object.create(null) }),
    {
      toString() {
        throw new Error("no text");
      },
    },
  ];
  const warnings: Error[] = [];
  const note = (warning: Error): void =>
    void (warning.message.startsWith("onRecorded failed") && warnings.push(warning));
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  for (const value of thrown) {
    const recorder = await open({
      onRecorded: () => {
        throw value;
      },
    });
    await recorder.recordInteraction({ prompt: "p" });
    expect(await recorder.count()).toMatchObject({ entries: 1 });
  }
  await expect.poll(() => warnings).toHaveLength(thrown.length);
});

test("a hook that never ends delays no capture, and anything but a function is refused", async () => {
  const recorder = await open({ onRecorded: () => new Promise(() => undefined) });
  await recorder.recordInteraction({ prompt: "p" });
  expect(await recorder.count()).toMatchObject({ entries: 1 });
  await expect(openRecorder({ data: "memory:", onRecorded: "x" as never })).rejects.toMatchObject({
    field: "onRecorded",
  });
});

test("a server logs a line for each interaction at level debug, and none at level info", async () => {
  for (const level of ["debug", "info"] as const) {
    const lines: string[] = [];
    const { logger } = createLogger({ level, destination: { write: (line) => lines.push(line) } });
    const recorder = await openRecorder({ data: "memory:" });
    const serving = await serve({ recorder, version: "1.2.3", port: 0, logger });
    const post = (path: string, body: object) =>
      fetch(`${serving.address}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
    await post("/interactions", answered);
    await post("/entries", { kind: "error", error: "the error" });
    await serving.close();
    const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "interaction_recorded");
    const counts = { memories_used: 2, chunks_used: 1, response_chars: 7 };
    expect(told).toMatchObject(level === "info" ? [] : [{ interaction_id: "q", position: 1, ...labels, ...counts }]);
    expect(lines.join("")).not.toMatch(/the (prompt|error)|naïve/);
  }
});
