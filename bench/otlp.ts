// Traces over HTTP against a bare server that only decodes them; what memory a million spans take; and what captures wait beside
// them.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { type Started, start, startHansard } from "./http.js";
import { sampleInteraction } from "./sample-data.js";

/** As exporters send them by default. */
const SPANS = 512;
const SENDERS = 8;
const SPANS_PER_TRACE = 8;
const MEMORY_SPANS = 1_000_000;
const MEMORY_AFTER = 100_000;

export const otlp: Suite = {
  name: "otlp",
  about: "POST /v1/traces with 8 senders and 512 spans of 1.5 KB a request, against node:http that only decodes them",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const spans = Math.round(100_000 * scale);
    const runs = { bare: [] as number[], ours: [] as number[], alone: [] as number[], beside: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      runs.bare.push(await rateOf(await startBare(), spans));
      const store = join(folder, "store");
      rmSync(store, { recursive: true, force: true });
      runs.ours.push(await rateOf(await startHansard(store), spans));
      rmSync(store, { recursive: true, force: true });
      const { alone, beside } = await captureBeside(await startHansard(store), spans);
      runs.alone.push(alone);
      runs.beside.push(beside);
    }
    const store = join(folder, "memory");
    const { early, late } = await memoryOf(await startHansard(store), Math.round(MEMORY_SPANS * scale));
    return [
      { name: "node:http that decodes", value: median(runs.bare), unit: "spans/s" },
      { name: "POST /v1/traces", value: median(runs.ours), unit: "spans/s" },
      {
        name: "POST /v1/traces ÷ bare",
        of: ["POST /v1/traces", "node:http that decodes"],
        target: { at_least: 0.5 },
      },
      { name: "p99 of a capture, alone", value: median(runs.alone), unit: "ms" },
      { name: "p99 of a capture beside them", value: median(runs.beside), unit: "ms" },
      { name: "memory after a tenth of the spans", value: early, unit: "MB" },
      { name: `memory after ${(MEMORY_SPANS * scale).toLocaleString("en-US")} spans`, value: late, unit: "MB" },
      {
        name: "memory at the end ÷ after a tenth",
        of: [
          `memory after ${(MEMORY_SPANS * scale).toLocaleString("en-US")} spans`,
          "memory after a tenth of the spans",
        ],
        target: { at_most: 1.5 },
      },
    ];
  },
};

const BARE = `
  import { createServer } from "node:http";
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(200, { "content-type": "application/json" });
      response.end(resourceSpans.length > 0 ? "{}" : "");
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(\`http://127.0.0.1:\${server.address().port}\`));
`;

function startBare(): Promise<Started> {
  return start(spawn(process.execPath, ["--input-type=module", "-e", BARE], { stdio: ["ignore", "pipe", "inherit"] }));
}

async function rateOf(server: Started, spans: number): Promise<number> {
  try {
    // The first requests load modules.
    await send(server.address, SPANS * SENDERS);
    const beganMs = performance.now();
    await send(server.address, spans);
    return (spans * 1_000) / (performance.now() - beganMs);
  } finally {
    await stop(server.child);
  }
}

/** Captures every 10 ms: alone, then beside spans. */
async function captureBeside(server: Started, spans: number) {
  try {
    await captures(server.address, new Promise((resolve) => setTimeout(resolve, 1_000)));
    const alone = await captures(server.address, new Promise((resolve) => setTimeout(resolve, 3_000)));
    const beside = await captures(server.address, send(server.address, spans));
    return { alone: percentile(alone, 0.99), beside: percentile(beside, 0.99) };
  } finally {
    await stop(server.child);
  }
}

async function captures(address: string, until: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  for (let nth = 0; !isOver; nth += 1) {
    const beganMs = performance.now();
    await post(`${address}/interactions`, JSON.stringify(sampleInteraction(nth)));
    times.push(performance.now() - beganMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await until;
  return times;
}

async function memoryOf(server: Started, spans: number): Promise<{ readonly early: number; readonly late: number }> {
  try {
    const tenth = Math.min(MEMORY_AFTER, spans / 10);
    await send(server.address, tenth);
    const early = memoryMb(server.child);
    await send(server.address, spans - tenth);
    return { early, late: memoryMb(server.child) };
  } finally {
    await stop(server.child);
  }
}

const KB = 1_024;

function memoryMb({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / KB;
}

let sent = 0;

async function send(address: string, spans: number): Promise<void> {
  const template = bodyTemplate();
  let left = Math.ceil(spans / SPANS);
  const sender = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      sent += 1;
      await post(`${address}/v1/traces`, template.replaceAll(PLACE, sent.toString(16).padStart(PLACE.length, "0")));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function post(address: string, body: string): Promise<void> {
  const response = await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${text}`);
}

/** Stands for the number of the request in the ids of traces. */
const PLACE = "#".repeat(16);
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12);

function bodyTemplate(): string {
  const spans = Array.from({ length: SPANS }, (_, nth) => {
    const trace = Math.floor(nth / SPANS_PER_TRACE);
    const inTrace = nth % SPANS_PER_TRACE;
    const attributes = inTrace === 0 ? { "gen_ai.operation.name": "invoke_agent" } : callAttributes(nth);
    return {
      traceId: `${PLACE}${(trace + 1).toString(16).padStart(16, "0")}`,
      spanId: (nth + 1).toString(16).padStart(16, "0"),
      ...(inTrace === 0 ? {} : { parentSpanId: (nth - inTrace + 1).toString(16).padStart(16, "0") }),
      name: "chat gpt-5-mini",
      kind: 3,
      startTimeUnixNano: `17947253520${String(nth).padStart(8, "0")}`,
      endTimeUnixNano: `17947253530${String(nth).padStart(8, "0")}`,
      attributes: Object.entries(attributes).map(([key, value]) => ({
        key,
        value: typeof value === "number" ? { intValue: value } : { stringValue: value },
      })),
      status: { code: 0 },
    };
  });
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "bench" } }] };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "gen_ai" }, spans }] }] });
}

function callAttributes(nth: number): { readonly [key: string]: string | number } {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5-mini",
    "gen_ai.conversation.id": "bench",
    "gen_ai.response.id": `${PLACE}-${nth}`,
    "gen_ai.usage.input_tokens": 42,
    "gen_ai.usage.output_tokens": 7,
    "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: TEXT }] }]),
    "gen_ai.output.messages": JSON.stringify([
      { role: "assistant", parts: [{ type: "text", content: `Answer ${nth}` }] },
    ]),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.removeAllListeners("exit");
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await Promise.race([ended, gone]);
}
