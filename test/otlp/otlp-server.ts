// A server for traces, and what it makes of them.
import { expect } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { startServer, type TestServer } from "../e2e/http-client.js";

export type TraceServer = TestServer & {
  /** Every entry, in order of position, once the traces that came were derived. */
  derived(): Promise<readonly JsonObject[]>;
};

/** Derivation waits 5 s after a trace without a root. */
const DERIVED_MS = 20_000;

export async function startTraceServer(options: Parameters<typeof startServer>[0] = {}): Promise<TraceServer> {
  const server = await startServer(options);
  return Object.assign(server, { derived: () => derivedIn(server) });
}

export async function derivedIn({ recorder }: Pick<TestServer, "recorder">): Promise<readonly JsonObject[]> {
  let entries: readonly JsonObject[] = [];
  await expect
    .poll(
      async () => {
        entries = await entriesOf(recorder);
        return openIn(entries);
      },
      { timeout: DERIVED_MS, interval: 100 },
    )
    .toEqual([]);
  return entries;
}

/** Raw spans and records that no note names. */
function openIn(entries: readonly JsonObject[]): readonly string[] {
  const noted = new Set<string>();
  for (const { source, record } of entries) {
    if (source !== "otlp.settled") continue;
    const { group, spans, logs } = record as { group: string; spans: readonly string[]; logs: readonly string[] };
    for (const id of spans) noted.add(`otlp:${group}:${id}`);
    for (const id of logs) noted.add(`otlp:log:${id}`);
  }
  return entries
    .filter(
      ({ source, record }) => source === "otlp.span" || (source === "otlp.log" && isGrouped(record as JsonObject)),
    )
    .map(({ id }) => String(id))
    .filter((id) => !noted.has(id));
}

/** A record outside of traces and sessions means nothing by itself. */
function isGrouped({ log, resource }: JsonObject): boolean {
  const text = JSON.stringify([log, resource]);
  return /"traceId":"[0-9a-f]{32}"/.test(text) || /session\.id|conversation\.id/.test(text);
}

async function entriesOf(recorder: TestServer["recorder"]): Promise<readonly JsonObject[]> {
  const lines: JsonObject[] = [];
  for await (const chunk of recorder.exportEntries()) {
    for (const line of chunk.split("\n")) if (line !== "") lines.push(JSON.parse(line) as JsonObject);
  }
  return lines.filter(({ kind, erased }) => typeof kind === "string" && kind !== "audit" && erased !== true);
}

export function ofKind(entries: readonly JsonObject[], kind: string): readonly JsonObject[] {
  return entries.filter((entry) => entry.kind === kind);
}

/** How many entries there are of each kind, raw ones by their source. */
export function countsOf(entries: readonly JsonObject[]): { readonly [kind: string]: number } {
  const counts: { [kind: string]: number } = {};
  for (const { kind, source } of entries) {
    const name = kind === "raw" ? String(source) : String(kind);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
