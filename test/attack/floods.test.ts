// Floods: too much at once, too fast, too slow or never finished. The server says so, and goes on serving the others.
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../e2e/http-client.js";
import { heardUntilClosed, openSocket, speak, statusesIn } from "./raw-socket.js";

test("headers that never end are cut off, and others are answered meanwhile", async () => {
  const server = await startServer({ limits: { head_ms: 2_000 } });
  const sockets = Array.from({ length: 50 }, () => openSocket(server));
  const heard = Promise.all(sockets.map(heardUntilClosed));
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write("x-drip: drop\r\n");
  }, 50);
  onTestFinished(() => clearInterval(dripping));
  for (const socket of sockets) socket.write("GET /entries HTTP/1.1\r\nhost: localhost\r\n");
  expect((await server.post("/interactions", { prompt: "meanwhile" })).status).toBe(201);
  for (const text of await heard) expect(statusesIn(text)).toEqual([408]);
});

test("connections that never say a word are cut off", async () => {
  const server = await startServer({ limits: { head_ms: 2_000 } });
  const heard = Array.from({ length: 10 }, () => heardUntilClosed(openSocket(server)));
  for (const text of await Promise.all(heard)) expect(statusesIn(text)).not.toContain(200);
});

test("a body that never ends is cut off, and nothing of it is stored", async () => {
  const server = await startServer({ limits: { request_ms: 500, head_ms: 300 } });
  const socket = openSocket(server);
  const head = "POST /entries HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5000";
  socket.write(`${head}\r\n\r\n{"kind":"error","error":"`);
  const dripping = setInterval(() => socket.writable && socket.write("x"), 50);
  onTestFinished(() => clearInterval(dripping));
  expect(statusesIn(await heardUntilClosed(socket))).toEqual([408]);
  expect((await server.get("/entries")).body.entries).toEqual([]);
});

test("a flood of headers is a 431", async () => {
  const server = await startServer();
  const flood = Array.from({ length: 20_000 }, (_, nth) => `x-${nth}: y\r\n`).join("");
  const heard = await speak(server, `GET /health HTTP/1.1\r\nhost: localhost\r\n${flood}\r\n`);
  expect(statusesIn(heard)).toEqual([431]);
});

test("connections beyond the limit are not taken, and are once others have gone", async () => {
  const server = await startServer({ limits: { connections: 3 } });
  const sockets = [openSocket(server), openSocket(server), openSocket(server)];
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  await expect.poll(() => heardUntilClosed(openSocket(server))).toBe("");
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(() =>
      server.get("/health").then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test("a client that sends too many requests gets a Retry-After, and no other client does", async () => {
  const server = await startServer({ limits: { requests_per_second: 5 } });
  const { keys } = server.recorder;
  const [hasty, calm] = await Promise.all([keys.create({ scope: "read" }), keys.create({ scope: "read" })]);
  const ask = (key: string) => server.request("/sessions", { headers: { authorization: `Bearer ${key}` } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(hasty.key)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
  for (const { headers, body } of refused) {
    expect(body.error.code).toBe("rate_exceeded");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await ask(calm.key)).status).toBe(200);
  await expect.poll(async () => (await ask(hasty.key)).status).toBe(200);
});

test("guesses at keys are limited by address, not by the key they name", async () => {
  const server = await startServer({ limits: { requests_per_second: 5 } });
  await server.recorder.keys.create({ scope: "admin" });
  const guess = (nth: number) => {
    const key = `hansard_${String(nth).padStart(16, "0")}_${"A".repeat(43)}`;
    return server.request("/entries", { headers: { authorization: `Bearer ${key}` } });
  };
  const statuses = (await Promise.all(Array.from({ length: 20 }, (_, nth) => guess(nth)))).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});

test("large bodies beyond the memory limit are refused with Retry-After, and accepted once there is room", async () => {
  const server = await startServer({ limits: { bodies_bytes: 1024 * 1024 } });
  const body = JSON.stringify({ kind: "error", error: "x".repeat(700 * 1024) });
  const first = httpRequest(`${server.address}/entries`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": body.length },
  });
  first.write(body.slice(0, -10));
  await expect.poll(() => figure(server, "hansard_request_bodies_bytes")).toBeGreaterThan(600 * 1024);
  const refused = await server.post("/entries", body);
  expect([refused.status, refused.body.error.code]).toEqual([503, "overloaded"]);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await server.post("/interactions", { prompt: "a small one" })).status).toBe(201);
  first.end(body.slice(-10));
  const [answer] = (await once(first, "response")) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(201);
  await expect.poll(async () => (await server.post("/entries", body)).status).toBe(201);
  await expect.poll(() => figure(server, "hansard_request_bodies_bytes")).toBe(0);
});

test("reads beyond what can wait are refused, and capture goes on", async () => {
  const server = await startServer({ limits: { reads_running: 1, reads_waiting: 2 } });
  await server.post(
    "/entries",
    Array.from({ length: 500 }, (_, nth) => ({ kind: "error", error: `e ${nth}` })),
  );
  const reads = Array.from({ length: 60 }, () => server.get("/search?q=e&limit=500&facets=1"));
  const writes = Array.from({ length: 60 }, (_, nth) => server.post("/interactions", { prompt: `p ${nth}` }));
  const readStatuses = new Set((await Promise.all(reads)).map(({ status }) => status));
  expect(readStatuses).toEqual(new Set([200, 503]));
  expect(new Set((await Promise.all(writes)).map(({ status }) => status))).toEqual(new Set([201]));
  expect((await server.get("/search?q=e")).status).toBe(200);
});

test("a HEAD takes one place and gives it back", async () => {
  const server = await startServer({ limits: { reads_running: 1, reads_waiting: 0 } });
  for (let nth = 0; nth < 3; nth += 1) {
    expect((await server.request("/entries", { method: "HEAD" })).status).toBe(200);
  }
  expect((await server.get("/entries")).status).toBe(200);
});

test("followers beyond the limit are refused, and are taken once others have gone", async () => {
  const server = await startServer({ limits: { tails: 2 } });
  const controllers = [new AbortController(), new AbortController()];
  for (const { signal } of controllers) await fetch(`${server.address}/tail`, { signal });
  expect((await server.get("/tail")).body.error.code).toBe("overloaded");
  for (const controller of controllers) controller.abort();
  const again = new AbortController();
  onTestFinished(() => again.abort());
  await expect
    .poll(async () => (await fetch(`${server.address}/tail`, { signal: again.signal })).status, { interval: 50 })
    .toBe(200);
});

test("who asks for a lot and reads nothing is cut off", async () => {
  const server = await startServer({ limits: { stall_ms: 2_000 } });
  for (let nth = 0; nth < 24; nth += 1) {
    await server.post("/entries", { kind: "error", error: "large ".repeat(180_000) });
  }
  const socket = openSocket(server);
  socket.pause();
  socket.write("GET /export HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await expect.poll(() => figure(server, "hansard_exports_running")).toBe(1);
  await expect.poll(() => figure(server, "hansard_exports_running")).toBe(0);
  socket.destroy();
});

test("two hundred connections, and sixteen busy writers among them, are normal use", async () => {
  const server = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  onTestFinished(() => agent.destroy());
  const { key } = await server.recorder.keys.create({ scope: "admin" });
  const statuses: (number | undefined)[] = [];
  const ask = async (path: string, body?: unknown): Promise<void> => {
    const asking = httpRequest(`${server.address}${path}`, {
      agent,
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    }).end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    statuses.push(answer.statusCode);
  };
  const client = async (nth: number): Promise<void> => {
    for (let turn = 0; turn < (nth < 16 ? 50 : 3); turn += 1) {
      if (nth < 16) await ask("/entries", [{ kind: "error", error: "e".repeat(4_000) }]);
      else await ask(nth % 2 === 0 ? "/entries?limit=20" : "/search?q=e");
    }
  };
  await Promise.all(Array.from({ length: 200 }, (_, nth) => client(nth)));
  expect(statuses).toHaveLength(16 * 50 + 184 * 3);
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
});

/** One figure of the server's metrics. */
async function figure(server: TestServer, name: string): Promise<number | undefined> {
  const { text } = await server.get("/metrics");
  const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}
