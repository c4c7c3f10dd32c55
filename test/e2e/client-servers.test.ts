// The client SDK before servers that are slow, broken or none at all, and that refuse.
import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import { readJson } from "./cli-run.js";
import { connect, PATIENTLY, spoolFiles, standBefore, standIn } from "./connected-client.js";
import { startServer } from "./http-client.js";

test("a server that is slow, busy, broken or no server at all is asked again until it is one", async () => {
  const server = await startServer();
  const troubles: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(500).end("<html>"),
    (response) =>
      response.writeHead(429, { "retry-after": "0" }).end('{"error":{"code":"rate_exceeded","message":"m"}}'),
    (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
    (response) => response.writeHead(201).end('{"status":"recorded","entries":[]}'),
    (response) => response.writeHead(201).end('{"status":"recorded","entries":[null]}'),
    // As many as were sent, and not those.
    (response) => response.writeHead(201).end('{"status":"recorded","entries":[{"id":"another","position":1}]}'),
    (response) => response.writeHead(302, { location: server.address }).end(),
    (response) => response.writeHead(401).end('{"error":{"code":"key_wrong","message":"m"}}'),
    (response) => response.writeHead(400).end("Bad Request"),
    (response) => response.destroy(),
    (response) => void response.writeHead(201).write("{"),
  ];
  const url = await standIn((request, response) => {
    const trouble = troubles.shift();
    if (trouble !== undefined) return trouble(response);
    response.writeHead(307, { location: `${server.address}${request.url}` }).end();
  });
  const { recorder, problems } = connect(url, { timeout_ms: 5_000 });
  await recorder.append({ kind: "error", error: "e", id: "e" });
  await vi.waitFor(() => expect(troubles).toEqual([]), { timeout: 20_000 });
  expect(recorder.counters).toEqual({ queued: 0, spooled: 1, sent: 0, dropped: 0 });
  expect(problems).toEqual([{ code: "server_away", message: "status 500", dropped: 0 }]);
});

test("what a closed recorder left in the spool is still counted, and the server's reason is reported", async () => {
  const url = await standIn((_, response) => {
    response.writeHead(401).end('{"error":{"code":"key_wrong","message":"this key is not known here"}}');
  });
  const { recorder, problems, spool } = connect(url);
  await recorder.append([
    { kind: "error", error: "e" },
    { kind: "error", error: "f" },
  ]);
  const left = { queued: 0, spooled: 2, sent: 0, dropped: 0 };
  expect(await recorder.close()).toEqual(left);
  expect(recorder.counters).toEqual(left);
  expect(await recorder.flush()).toEqual(left);
  expect(spoolFiles(spool)).toHaveLength(1);
  expect(problems).toEqual([{ code: "key_wrong", message: "this key is not known here", dropped: 0 }]);
});

test("refused entries are left out and reported, and the rest of the batch arrives", async () => {
  const server = await startServer();
  await server.post("/entries", { kind: "error", id: "taken", error: "other" });
  const { recorder, problems } = connect(server.address);
  const cycle: { [name: string]: unknown } = {
    big: 7n,
    run: () => 1,
    at: new Date(0),
    deep: { bad: { toJSON: () => no() } },
    picture: [
      Buffer.from("Höhe"),
      new Uint8Array([255, 0]),
      new Uint8Array([1, 2, 3]).buffer,
      new Float32Array([0.5, 2]),
    ],
    link: new URL("https://example.com"),
  };
  cycle.self = cycle;
  const no = (): never => {
    throw new Error("no");
  };
  await recorder.append([
    { kind: "error", error: "good" },
    { kind: "interaction", prompt: " " },
    { kind: "error", id: "taken", error: "mine" },
    { kind: "tool_call", id: "odd", tool: "t", args: cycle },
    null as never,
    { kind: "nothing" } as never,
    { kind: "error", error: "x".repeat(17 * 1024 * 1024) },
    { kind: "error", error: "last" },
  ]);
  expect(await recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 3, dropped: 5 });
  expect(problems.map(({ code }) => code).sort()).toEqual(
    ["entry_too_large", "field_invalid", "id_conflict", "kind_unknown", "prompt_blank"].sort(),
  );
  expect((await server.get("/entries/odd")).body.args).toEqual({
    big: "7",
    run: "[function run]",
    at: "1970-01-01T00:00:00.000Z",
    self: "[circular]",
    deep: { bad: "[not serialisable: no]" },
    picture: ["SMO2aGU=", "/wA=", "AQID", [0.5, 2]],
    link: "https://example.com/",
  });
  const { findings } = await readJson(["doctor"], { data: server.data });
  expect(findings.at(-1)).toMatchObject({ level: "warn", check: "clients" });
  expect(findings.at(-1).message).toBe(
    `entries that clients captured never arrived: 2 to 3, 5 to 6 of ${recorder.client_run}`,
  );
});

test.each([-1, 0.5, 5, 1e9])(
  "a refusal of an entry that was not sent (%d) is looked into, not asked again for ever",
  async (index) => {
    const refused = { error: { code: "field_invalid", message: "no", index } };
    const url = await standIn((_, response) => {
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(refused));
    });
    const { recorder, problems } = connect(url);
    await recorder.append(["a", "b", "c"].map((error) => ({ kind: "error", error })));
    expect(await recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 0, dropped: 3 });
    await recorder.close();
    const problem = { code: "field_invalid", message: "no" };
    expect(problems).toEqual([
      { ...problem, dropped: 1 },
      { ...problem, dropped: 2, times: 2 },
    ]);
  },
);

test("an entry that is too large for a proxy in front of the server does not block the others", async () => {
  const server = await startServer();
  const before = await standBefore(server.address, (request, response, pass) => {
    if (Number(request.headers["content-length"]) <= 2_000) return pass();
    request.resume().on("end", () => response.writeHead(413, { "content-type": "text/html" }).end("<h1>413</h1>"));
  });
  const { recorder, problems } = connect(before);
  const errors = ["first", "x".repeat(3_000), ...Array.from({ length: 30 }, (_, at) => `${at}`)];
  await recorder.append(errors.map((error) => ({ kind: "error", error })));
  expect(await recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 31, dropped: 1 });
  expect(problems).toEqual([{ code: "body_too_large", message: "status 413", dropped: 1 }]);
  const { entries } = (await server.get("/entries?limit=50")).body;
  expect(entries.map(({ error }: { error: string }) => error).toReversed()).toEqual(errors.toSpliced(1, 1));
});

test("closing sends as much as fits its time, leaves the rest in the spool, and the next recorder sends that once", async () => {
  const server = await startServer();
  let delay_ms = 150;
  const slow = await standBefore(server.address, (_, __, pass) => void setTimeout(pass, delay_ms));
  const { recorder, spool, problems } = connect(slow, { linger_ms: 60_000 });
  const entries = Array.from({ length: 20_000 }, (_, nth) => ({ kind: "error" as const, error: `e${nth}` }));
  await recorder.append(entries);
  const start = performance.now();
  const { sent, spooled, queued, dropped } = await recorder.close({ timeout_ms: 1_000 });
  // The machine may be busy.
  expect(performance.now() - start).toBeLessThan(3_000);
  expect(sent).toBeGreaterThanOrEqual(500);
  expect({ queued, dropped, all: sent + spooled }).toEqual({ queued: 0, dropped: 0, all: 20_000 });
  expect(spooled).toBeGreaterThan(0);
  expect(problems).toEqual([]);
  delay_ms = 0;
  const next = connect(slow, { spool });
  await next.recorder.flush(PATIENTLY);
  expect((await server.get("/health")).body.position).toBe(20_000);
}, 60_000);
