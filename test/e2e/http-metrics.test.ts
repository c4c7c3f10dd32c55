// The figures of a server: what is in them is true, and nothing recorded is.
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/surfaces/http/serve.js";
import { startServer, type TestServer } from "./http-client.js";

async function figures(server: TestServer): Promise<ReadonlyMap<string, number>> {
  const { status, headers, text } = await server.get("/metrics");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      return [name as string, Number(value)];
    }),
  );
}

test("there is a figure for every queue, every lag and every refusal", async () => {
  const server = await startServer();
  await server.post("/entries", [
    { kind: "error", error: "one" },
    { kind: "error", error: "two" },
  ]);
  await server.get("/entries");
  await server.post("/entries", { kind: "gossip" });
  await server.get("/nowhere");
  const known = await figures(server);
  const expected = {
    hansard_capture_waiting_entries: 0,
    hansard_capture_waiting_bytes: 0,
    hansard_request_bodies_bytes: 0,
    hansard_reads_running: 0,
    hansard_reads_waiting: 0,
    hansard_exports_running: 0,
    hansard_tail_listeners: 0,
    hansard_log_position: 2,
    hansard_index_lag_entries: 0,
    hansard_store_well: 1,
    'hansard_commits_total{outcome="ok"}': 1,
    hansard_commit_entries_sum: 2,
    'hansard_http_refused_total{code="kind_unknown"}': 1,
    'hansard_http_refused_total{code="route_not_found"}': 1,
    'hansard_http_request_duration_seconds_count{method="POST",route="/entries",status="201"}': 1,
    'hansard_http_request_duration_seconds_count{method="GET",route="none",status="404"}': 1,
  };
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, known.get(name)]))).toEqual(expected);
  expect(known.get("hansard_text_index_lag_entries")).toBeGreaterThanOrEqual(0);
  expect(known.get("hansard_http_connections")).toBeGreaterThan(0);
  expect(known.get("process_resident_memory_bytes")).toBeGreaterThan(0);
});

test("two servers on one recorder both count its commits", async () => {
  const first = await startServer();
  const { address, close } = await serve({ version: "1.2.3", port: 0, recorder: first.recorder });
  onTestFinished(close);
  await first.post("/entries", { kind: "error", error: "one" });
  const counted = 'hansard_commits_total{outcome="ok"}';
  expect((await figures(first)).get(counted)).toBe(1);
  expect(await (await fetch(`${address}/metrics`)).text()).toContain(`${counted} 1`);
});

test("followers are counted while they follow", async () => {
  const server = await startServer();
  const controller = new AbortController();
  await fetch(`${server.address}/tail`, { signal: controller.signal });
  expect((await figures(server)).get("hansard_tail_listeners")).toBe(1);
  controller.abort();
  await expect.poll(async () => (await figures(server)).get("hansard_tail_listeners")).toBe(0);
});

test("neither recorded text nor addresses nor keys are in them", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "sesame", project: "sesame", session_id: "sesame" });
  await server.get("/sessions/sesame/entries");
  await server.get("/search?q=sesame");
  await server.get("/sesame");
  const { key } = await server.recorder.keys.create({ scope: "read", name: "sesame" });
  const { status, text } = await server.request("/metrics", { headers: { authorization: `Bearer ${key}` } });
  expect(status).toBe(200);
  expect(text).toContain('route="/sessions/:id/entries"');
  expect(text).not.toMatch(/sesame|hansard_[0-9a-f]{16}/);
});
