// The collection of open traces: what leaves it, when, and how large it may become.
import { expect, test } from "vitest";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { Indexer } from "../../src/index/indexer.js";
import { GroupCommit } from "../../src/log/capture/group-commit.js";
import { OnceWriter } from "../../src/log/capture/record-once.js";
import type { JsonObject } from "../../src/model/json.js";
import { takeTelemetry } from "../../src/otlp/intake.js";
import { TraceReader } from "../../src/otlp/trace-reader.js";
import { agentTrace, span, traceId, traces } from "./otlp-bodies.js";

const BEGAN_MS = Date.UTC(2026, 10, 15);

function openTraces(open_max?: number) {
  const log = new MemoryLog();
  const index = new MemoryIndex();
  let now_ms = BEGAN_MS;
  const writeContext = { nowMs: () => now_ms, randomBytes: (count: number) => new Uint8Array(count) };
  const writer = new OnceWriter({ log, commit: new GroupCommit(log), writeContext });
  const indexer = new Indexer({ log, index });
  const reader = new TraceReader({ log, index, ...(open_max === undefined ? {} : { open_max }) });
  return {
    index,
    async take(spans: readonly JsonObject[]): Promise<void> {
      const bytes = Buffer.from(JSON.stringify(traces(spans)));
      await takeTelemetry({ signal: "traces", form: "json", bytes }, (entries) => writer.record(entries));
    },
    /** The traces that are derived after so many milliseconds. */
    async settle(ms: number): Promise<readonly string[]> {
      now_ms += ms;
      const groups: string[] = [];
      for (;;) {
        await indexer.catchUp();
        const { settled } = await reader.settle({ now_ms });
        for (const { group, entries } of settled) {
          await writer.record(entries);
          groups.push(group);
        }
        if (settled.length === 0) return groups;
      }
    },
  };
}

test("a trace is derived soon after its root, or 5 s after its last span", async () => {
  const open = openTraces();
  const [first, ...rest] = agentTrace(traceId(0));
  await open.take([first as JsonObject, span({ trace: traceId(1), id: "a", parent: "b" })]);
  expect(await open.settle(4_000)).toEqual([]);
  await open.take(rest);
  expect(await open.settle(100)).toEqual([]);
  expect(await open.settle(300)).toEqual([traceId(0)]);
  expect(await open.settle(1_000)).toEqual([traceId(1)]);
  expect(await open.settle(60_000)).toEqual([]);
  expect(await open.index.countDocuments("traces")).toBe(0);
});

test("a span every few seconds keeps a trace open for a minute, no longer", async () => {
  const open = openTraces();
  const settled: number[] = [];
  for (let nth = 0; nth < 20; nth += 1) {
    await open.take([span({ id: (nth + 1).toString(16), parent: "ffff" })]);
    if ((await open.settle(4_000)).length > 0) settled.push(nth);
  }
  expect(settled).toEqual([14]);
});

test("of more open traces than there may be, those that wait longest are derived at once", async () => {
  const open = openTraces(100);
  const tracesFrom = (from: number): readonly string[] => Array.from({ length: 100 }, (_, nth) => traceId(from + nth));
  for (const from of [0, 100, 200]) {
    await open.take(tracesFrom(from).map((trace) => span({ trace, id: "a", parent: "b" })));
    const settled = await open.settle(1);
    expect([...settled].sort()).toEqual(from === 0 ? [] : [...tracesFrom(from - 100)].sort());
  }
  expect(await open.index.countDocuments("traces")).toBe(100);
});
