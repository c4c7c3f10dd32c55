// GET /tail on real sockets: every entry once and in order, across reconnects, processes and readers that stall.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { sampleEntries } from "../support/sample-entries.js";
import { usedBytes } from "../support/used-bytes.js";
import { runCli } from "./cli-run.js";
import { listen } from "./event-source.js";
import { serverOfFile, startServer } from "./http-client.js";

const errors = (count: number, error = "e"): EntryInput[] =>
  Array.from({ length: count }, () => ({ kind: "error", error }));
const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, at) => first + at);

test("entries recorded after the connection is open arrive as events with their position as id", async () => {
  const server = await startServer();
  await server.post("/entries", errors(2));
  const source = await listen(`${server.address}/tail`);
  expect(source.response.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  await server.post("/entries", sampleEntries);
  const events = await source.count(sampleEntries.length);
  expect(events.map(({ id }) => Number(id))).toEqual(upTo(14, 3));
  expect(events.map(({ entry }) => entry.id)).toEqual(sampleEntries.map(({ id }) => id));
  expect(events[2]?.entry).toEqual((await server.get("/entries/said")).body);
  expect(events[1]?.entry).toMatchObject({ id: "asked", response: "" });
  expect(source.text()).toMatch(/^retry: \d+\nid: 2\n\n/);
  expect(source.text()).not.toMatch(/^event:/m);
});

test("a client that comes back with Last-Event-ID gets exactly what it missed, also before its first event", async () => {
  const server = await startServer();
  await server.post("/entries", errors(3));
  const early = await listen(`${server.address}/tail`);
  await expect.poll(() => early.lastEventId()).toBe("3");
  early.close();
  await server.post("/entries", errors(3));
  let lastId = early.lastEventId();
  const seen: number[] = [];
  for (const taken of [1, 2, 250, 7]) {
    const source = await listen(`${server.address}/tail?after=0`, { headers: { "Last-Event-ID": lastId } });
    if (taken === 250) await server.post("/entries", errors(300, "x".repeat(1_000)));
    const events = (await source.count(taken)).slice(0, taken);
    source.close();
    seen.push(...events.map(({ entry }) => entry.position));
    lastId = events.at(-1)?.id ?? lastId;
  }
  expect(seen).toEqual(upTo(263, 4));
});

test("after=N starts after a position, and waits if the log has not reached it", async () => {
  const server = await startServer();
  await server.post("/entries", errors(5));
  const source = await listen(`${server.address}/tail?after=3`);
  const ahead = await listen(`${server.address}/tail?after=6`);
  expect((await source.count(2)).map(({ id }) => id)).toEqual(["4", "5"]);
  await server.post("/entries", errors(3));
  expect((await ahead.count(2)).map(({ id }) => id)).toEqual(["7", "8"]);
  expect(ahead.text()).toMatch(/^retry: \d+\n\nid: 7\n/);
});

describe("a request that makes no sense is refused", () => {
  const server = serverOfFile();

  test.each([
    ["after=x", "field_invalid", "after"],
    ["after=-1", "field_invalid", "after"],
    ["after=99999999999999999999", "field_invalid", "after"],
    ["kind=gossip", "kind_unknown", "kind"],
    ["role=king", "role_unknown", "role"],
    ["session_id=..", "session_id_invalid", "session_id"],
    ["since=7d", "parameter_unknown", "since"],
    ["after=1&after=2", "parameter_repeated", "after"],
  ])("%s", async (query, code, field) => {
    const { status, body } = await server().get(`/tail?${query}`);
    expect({ status, ...body.error }).toMatchObject({ status: 400, code, field });
  });

  test.each(["x", "-1", "1.5", "1, 2", "99999999999999999999"])("Last-Event-ID: %s", async (id) => {
    const { status, body } = await server().request("/tail", { headers: { "last-event-id": id } });
    expect({ status, ...body.error }).toMatchObject({ status: 400, code: "field_invalid", field: "last-event-id" });
  });

  test("other methods", async () => {
    expect(await server().post("/tail", {})).toMatchObject({ status: 405 });
    expect(await server().request("/tail", { method: "HEAD" })).toMatchObject({ status: 405 });
  });
});

test("filters apply to existing and new entries, and a response counts with its interaction", async () => {
  const server = await startServer();
  await server.post("/entries", sampleEntries);
  const listening = {
    "session_id=s:1&kind=response": ["answered"],
    "project=atlas": ["asked", "answered", "failed"],
    "project=-&kind=interaction": ["asked-again"],
    "role=assistant": ["called"],
    "client=cli": ["asked", "answered"],
  };
  for (const [query, ids] of Object.entries(listening)) {
    const source = await listen(`${server.address}/tail?after=0&${query}`);
    expect(
      (await source.count(ids.length)).map(({ entry }) => entry.id),
      query,
    ).toEqual(ids);
  }
  const live = await listen(`${server.address}/tail?kind=decision&project=-`);
  await server.post("/entries", [
    ...errors(100),
    { kind: "decision", id: "other", decision: "d", project: "p" },
    { kind: "decision", id: "mine", decision: "d" },
  ]);
  expect((await live.count(1)).map(({ entry }) => entry.id)).toEqual(["mine"]);
});

test("order and exactly once, while several processes write and several clients follow", async () => {
  const server = await startServer();
  const sources = await Promise.all(Array.from({ length: 5 }, () => listen(`${server.address}/tail`)));
  const input = '{"kind":"error","error":"w"}\n'.repeat(300);
  const writers = Array.from({ length: 2 }, () => runCli(["record"], { data: server.data, input }));
  const posting = Array.from({ length: 4 }, async () => {
    for (let nth = 0; nth < 100; nth += 1) await server.post("/entries", errors(1));
  });
  await Promise.all([...writers, ...posting]);
  for (const source of sources) {
    const events = await source.count(1_000);
    expect(events.map(({ entry }) => entry.position)).toEqual(upTo(1_000));
  }
});

test("what another process records appears by itself", async () => {
  const server = await startServer();
  const source = await listen(`${server.address}/tail`);
  await runCli(["record", "--kind", "error", "--error", "from elsewhere"], { data: server.data });
  await source.count(1);
});

test("a client that stops reading delays neither capture nor others, and uses no memory", async () => {
  const server = await startServer();
  const stalled = await Promise.all(
    Array.from({ length: 5 }, () => listen(`${server.address}/tail?after=0`, { reads: false })),
  );
  const healthy = await listen(`${server.address}/tail`, { keeps: false });
  const error = "x".repeat(50_000);
  const record = async (entries: number): Promise<void> => {
    for (let nth = 0; nth < entries; nth += 20) await server.recorder.append(errors(20, error));
  };
  await record(200);
  await healthy.count(200);
  const before = usedBytes();
  await record(1_000);
  await healthy.count(1_200);
  // Time enough for the others to have been given as much, were it not for them to ask for it.
  await delay(500);
  // Another 50 MB were recorded; kept for the stalled they would stay in memory once or five times.
  await expect.poll(() => usedBytes() - before).toBeLessThan(20_000_000);
  expect(healthy.events.map(({ id }) => Number(id))).toEqual(upTo(1_200));
  const late = stalled[0];
  let bytes = 0;
  late?.response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await expect.poll(() => bytes).toBeGreaterThan(1_200 * 50_000);
});

describe("the end", () => {
  test("closing the server ends all tails at once, those of stalled clients too", async () => {
    const server = await startServer({ drain_ms_max: 600_000 });
    const healthy = await listen(`${server.address}/tail`);
    const stalled = await listen(`${server.address}/tail?after=0`, { reads: false });
    await server.recorder.append(errors(400, "x".repeat(50_000)));
    await healthy.count(400);
    const iterating = server.recorder.tail().next();
    // It may wait ten minutes for requests, which is longer than this test may take.
    await server.close();
    await healthy.ended;
    expect(healthy.response.complete).toBe(true);
    stalled.response.resume();
    await stalled.ended;
    expect(await iterating).toEqual({ value: undefined, done: true });
  });

  test("a client that goes away leaves nothing behind", async () => {
    const server = await startServer();
    const opened: { position: number; next(): Promise<unknown> }[] = [];
    const open = server.recorder.tail.bind(server.recorder);
    server.recorder.tail = (options) => {
      const tail = open(options);
      opened.push(tail);
      return tail;
    };
    const sources = await Promise.all(Array.from({ length: 20 }, () => listen(`${server.address}/tail`)));
    for (const source of sources) source.close();
    expect(opened).toHaveLength(20);
    await Promise.all(opened.map(async (tail) => expect(await tail.next()).toMatchObject({ done: true })));
  });
});

test("a program that follows a store stays alive, and ends when it closes the recorder", async () => {
  const server = await startServer();
  const recorder = await openRecorder({ data: server.data, create: false });
  const seen: string[] = [];
  const following = (async () => {
    for await (const entry of recorder.tail()) seen.push(entry.id);
  })();
  await server.post("/entries", { kind: "error", error: "e", id: "a" });
  await expect.poll(() => seen).toEqual(["a"]);
  await recorder.close();
  await following;
  expect(() => recorder.tail()).toThrow("the recorder is closed");
});
