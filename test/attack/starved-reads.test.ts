// Reads on an overloaded machine: each gets an answer, even if only a timeout.
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../e2e/http-client.js";

const text = "What an agent said and did about a timeout. ".repeat(90);

test("a read without an answer in time is a 503 that says when to ask again, and capture goes on", async () => {
  const server = await startServer({ limits: { read_ms: 5 } });
  await server.post(
    "/entries",
    Array.from({ length: 3_000 }, (_, nth) => ({ kind: "error", error: `${nth} ${text}` })),
  );
  const late = await server.get("/search?q=timeout&facets=1");
  expect([late.status, late.body.error.code]).toEqual([503, "overloaded"]);
  expect(late.headers.get("retry-after")).toBe("1");
  expect((await server.post("/interactions", { prompt: "meanwhile" })).status).toBe(201);
});

test("every search is answered while a hundred writers record", async () => {
  const server = await startServer();
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const writers = Array.from({ length: 100 }, () => writeUntil(server, controller.signal));
  const statuses: number[] = [];
  const untilMs = performance.now() + 6_000;
  const search = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const askedMs = performance.now();
      const { status, body } = await server.get("/search?q=timeout");
      statuses.push(status);
      expect(status === 200 ? body.results.length : body.error.code).toEqual(status === 200 ? 10 : "overloaded");
      // The deadline, and what the writers of this very process keep the answer waiting.
      expect(performance.now() - askedMs).toBeLessThan(20_000);
    }
  };
  await server.post(
    "/entries",
    Array.from({ length: 10 }, () => ({ kind: "error", error: text })),
  );
  await Promise.all([search(), search(), search()]);
  controller.abort();
  await Promise.all(writers);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
});

async function writeUntil(server: TestServer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { status } = await server.post("/interactions", { prompt: "p", response: text });
    expect([201, 503]).toContain(status);
  }
}
