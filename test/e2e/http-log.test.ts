// The log of a server: it names refused requests by address, key id and reason, and never holds a key or a recorded text.
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { createLogger } from "../../src/surfaces/http/logger.js";
import { type Serving, serve } from "../../src/surfaces/http/serve.js";

const SECRET = "the-recorded-secret";
const lines: string[] = [];
let recorder: Recorder;
let serving: Serving;
let reader: { readonly id: string; readonly key: string };
let revoked: typeof reader;

beforeAll(async () => {
  recorder = await openRecorder({ data: "memory:" });
  reader = await recorder.keys.create({ scope: "read" });
  revoked = await recorder.keys.create({ scope: "admin" });
  await recorder.keys.revoke(revoked.id);
  const { logger } = createLogger({ level: "debug", destination: { write: (line) => lines.push(line) } });
  serving = await serve({ recorder, version: "1.2.3", port: 0, logger, limits: { requests_per_second: 30 } });
});
afterAll(() => serving.close());
beforeEach(() => void lines.splice(0));

type Logged = { readonly [name: string]: unknown };
const INFO = 30;
const WARN = 40;

async function logged(isSought: (line: Logged) => boolean = () => true): Promise<Logged> {
  const read = (): Logged | undefined => lines.map((line) => JSON.parse(line) as Logged).find(isSought);
  await expect.poll(read).toBeDefined();
  return read() as Logged;
}

/** Bytes on a connection of their own, since no client sends them. */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(serving.address);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer));
  });
}

const refused: readonly (readonly [string, () => { path: string; headers: { [name: string]: string } }, Logged])[] = [
  ["no key", () => ({ path: `/entries?q=${SECRET}`, headers: {} }), { status: 401, code: "key_missing" }],
  [
    "a revoked key",
    () => ({ path: "/entries", headers: { authorization: `Bearer ${revoked.key}` } }),
    { status: 401, code: "key_wrong" },
  ],
  [
    "what is no key",
    () => ({ path: "/entries", headers: { authorization: `Bearer ${SECRET}` } }),
    { status: 401, code: "key_wrong" },
  ],
  [
    "a key of the wrong scope",
    () => ({ path: `/export?project=${SECRET}`, headers: { authorization: `Bearer ${reader.key}` } }),
    { status: 403, code: "scope_insufficient" },
  ],
  [
    "a page of another site",
    () => ({ path: "/entries", headers: { authorization: `Bearer ${reader.key}`, origin: `https://${SECRET}.test` } }),
    { status: 403, code: "origin_refused" },
  ],
];

test.each(refused)("%s is logged with its address and the id of the key that was sent", async (_, ask, expected) => {
  const { path, headers } = ask();
  await fetch(`${serving.address}${path}`, { headers });
  const line = await logged();
  expect(line).toMatchObject({ level: WARN, address: "127.0.0.1", method: "GET", ...expected });
  const sent = [reader, revoked].find(({ key }) => headers.authorization?.includes(key));
  expect(line.key_id).toBe(sent?.id);
});

test("another host, a malformed URL, and invalid HTTP are logged too", async () => {
  await sendRaw(`GET /entries HTTP/1.1\r\nhost: ${SECRET}.test\r\nconnection: close\r\n\r\n`);
  expect(await logged()).toMatchObject({ level: WARN, status: 421, code: "host_foreign", address: "127.0.0.1" });
  lines.splice(0);
  await sendRaw(`GET /entries/%zz${SECRET} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  expect(await logged()).toMatchObject({ level: INFO, status: 400, code: "request_invalid", address: "127.0.0.1" });
  lines.splice(0);
  await sendRaw(`${SECRET}\r\n\r\n`);
  expect(await logged()).toMatchObject({ level: INFO, status: 400, code: "request_invalid", address: "127.0.0.1" });
  lines.splice(0);
  await sendRaw(`GET /health HTTP/1.1\r\nhost: localhost\r\nexpect: ${SECRET}\r\nconnection: close\r\n\r\n`);
  expect(await logged()).toMatchObject({ level: INFO, status: 417, code: "expectation_refused" });
});

test("too much hurry is logged with the key that is in a hurry", async () => {
  const headers = { authorization: `Bearer ${reader.key}` };
  await Promise.all(Array.from({ length: 60 }, () => fetch(`${serving.address}/entries`, { headers })));
  const line = await logged(({ status }) => status === 429);
  expect(line).toMatchObject({ level: WARN, code: "rate_exceeded", address: "127.0.0.1", key_id: reader.id });
});

test("a client that hangs up on a tail is no error", async () => {
  // The bucket is filled again.
  await expect.poll(async () => (await fetch(`${serving.address}/health`)).status).toBe(200);
  lines.splice(0);
  const controller = new AbortController();
  const { key } = await recorder.keys.create({ scope: "read" });
  const tail = await fetch(`${serving.address}/tail`, {
    headers: { authorization: `Bearer ${key}` },
    signal: controller.signal,
  });
  expect(tail.status).toBe(200);
  controller.abort();
  const line = await logged(({ route }) => route === "/tail");
  expect(line).toMatchObject({ msg: "client hung up", status: 200 });
  expect(lines.map((text) => JSON.parse(text)).filter(({ level }) => level >= INFO)).toEqual([]);
});

test("neither a key nor a recorded text is in any line", async () => {
  const { id, key } = await recorder.keys.create({ scope: "admin" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ kind: SECRET, [SECRET]: SECRET });
  for (const [, ask] of refused) await fetch(`${serving.address}${ask().path}`, { headers: ask().headers });
  await fetch(`${serving.address}/entries`, { method: "POST", headers, body });
  await logged(({ status }) => status === 400);
  const text = lines.join("");
  expect(text).toContain(`"key_id":"${id}"`);
  for (const secret of [key, reader.key, revoked.key].map((one) => one.slice(25))) expect(text).not.toContain(secret);
  expect(text).not.toContain(SECRET);
});
