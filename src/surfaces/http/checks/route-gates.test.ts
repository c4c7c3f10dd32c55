// The gate of a route: the one it names, or the read gate if it reads and names none.
import { type FastifyContextConfig, fastify } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { memoryRecorder } from "../../../../test/support/memory-recorder.js";
import { createServer } from "../server.js";
// The scope of a route is declared there.
import type {} from "./callers.js";
import { defaultLimits } from "./limits.js";
import { addGates, type Gates } from "./read-gate.js";

/** The gates whose slots are taken while a route with this configuration answers. */
async function takenBy(config: FastifyContextConfig): Promise<readonly string[]> {
  const app = fastify();
  onTestFinished(() => app.close());
  const gates = addGates(app, { limits: defaultLimits, isPressed: () => false });
  app.get("/any-address", { config }, async () => taken(gates));
  const during = (await app.inject("/any-address")).json();
  expect(taken(gates)).toEqual([]);
  return during;
}

function taken(gates: Gates): readonly string[] {
  return Object.entries(gates).flatMap(([name, { running }]) => (running > 0 ? [name] : []));
}

test.each(["reads", "walks", "exports", "tails"] as const)("a route that names %s goes through it", async (gate) => {
  expect(await takenBy({ gate, need: "admin" })).toEqual([gate]);
  expect(await takenBy({ gate, need: "read" })).toEqual([gate]);
});

test("a route that reads and names no gate goes through the gate of reads", async () => {
  expect(await takenBy({ need: "read" })).toEqual(["reads"]);
});

test("a read route that declares no gate goes through none", async () => {
  expect(await takenBy({ need: "read", gate: "none" })).toEqual([]);
});

test.each(["open", "any", "capture", "review", "admin"] as const)(
  "a route of scope %s goes through none",
  async (need) => {
    expect(await takenBy({ need })).toEqual([]);
  },
);

test("while every gate is full, only captures, open routes and metrics are answered", async () => {
  const shut = { reads_running: 0, reads_waiting: 0, walks_running: 0, walks_waiting: 0, exports: 0, tails: 0 };
  const { recorder } = memoryRecorder();
  const app = createServer({ recorder, version: "1.2.3", limits: shut });
  onTestFinished(() => app.close());
  const statusOf = async (url: string): Promise<number> => (await app.inject(url)).statusCode;
  const reads = ["/entries", "/entries/1", "/interactions", "/sessions", "/sessions/s", "/search?q=a", "/reflection"];
  for (const address of [...reads, "/verify", "/export", "/tail"]) {
    expect([address, await statusOf(address)]).toEqual([address, 503]);
  }
  for (const address of ["/", "/docs", "/health", "/metrics"]) {
    expect([address, await statusOf(address)]).toEqual([address, 200]);
  }
  const captured = await app.inject({ method: "POST", url: "/interactions", payload: { prompt: "p" } });
  expect(captured.statusCode).toBe(201);
});
