// The event stream: heartbeats, how far a filter has looked, and shared bytes.
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { memoryRecorder } from "../../../../test/support/memory-recorder.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { EventStream, eventEncoder } from "./tail.js";

async function streamOf(
  recorder: Recorder,
  options: { readonly kind?: string } = {},
): Promise<{ readonly stream: EventStream; text(): string }> {
  const tail = recorder.tail(options);
  const start = await tail.started();
  const stream = new EventStream({ tail, start, isFromNow: true, encode: eventEncoder(), heartbeat_ms: 20 });
  onTestFinished(() => void stream.destroy());
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return { stream, text: () => text };
}

test("a quiet connection gets a comment now and then, which is not an event", async () => {
  const { recorder } = memoryRecorder();
  const { text } = await streamOf(recorder);
  await expect.poll(text).toMatch(/^retry: 1000\nid: 0\n\n:\n\n:\n\n/);
});

test("if a filter skips entries, the client learns how far it has looked", async () => {
  const { recorder } = memoryRecorder();
  const { text } = await streamOf(recorder, { kind: "decision" });
  await recorder.append([
    { kind: "error", error: "a" },
    { kind: "error", error: "b" },
  ]);
  await expect.poll(text).toContain("\n\nid: 2\n\n");
  expect(text().match(/^id: 2$/gm)).toHaveLength(1);
  await recorder.append({ kind: "decision", decision: "d" });
  await expect.poll(text).toMatch(/\n\nid: 3\ndata: \{"position":3,.*\}\n\n/);
});

test("while the reader takes nothing, not even heartbeats pile up", async () => {
  const { recorder } = memoryRecorder();
  const { stream } = await streamOf(recorder);
  await recorder.append({ kind: "error", error: "a" });
  stream.pause();
  for (let nth = 0; nth < 10; nth += 1) {
    await recorder.append({ kind: "error", error: "x".repeat(100_000) });
    await delay(20);
  }
  expect(stream.readableLength).toBeLessThan(400_000);
});

test("the same rows are the same bytes", () => {
  const encode = eventEncoder();
  const labels = { project: "", session_id: "", client: "", references: [] };
  const row = { position: 7, kind: "error", ...labels, json: Buffer.from('{"a":"ü"}') };
  const rows = [row, { ...row, position: 8 }];
  expect(encode(rows).toString()).toBe('id: 7\ndata: {"a":"ü"}\n\nid: 8\ndata: {"a":"ü"}\n\n');
  expect(encode(rows)).toBe(encode(rows));
  expect(encode([...rows])).not.toBe(encode(rows));
});

test("the stream ends with the recorder", async () => {
  const { recorder } = memoryRecorder();
  const { stream } = await streamOf(recorder);
  const ended = new Promise((resolve) => stream.on("end", resolve));
  await recorder.close();
  await ended;
});
