// Requests that two parsers could read differently are refused, and a request hidden behind them is never handled.
import { expect, test } from "vitest";
import { serverOfFile } from "../e2e/http-client.js";
import { speak, statusesIn } from "./raw-socket.js";

const server = serverOfFile();
const HIDDEN = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const post = (lines: string, body: string): string =>
  `POST /entries HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${lines}\r\n\r\n${body}`;

test.each([
  ["a length and chunks", post("content-length: 6\r\ntransfer-encoding: chunked", "0\r\n\r\n")],
  ["chunks and a length", post("transfer-encoding: chunked\r\ncontent-length: 6", "0\r\n\r\n")],
  ["two lengths", post("content-length: 2\r\ncontent-length: 40", "{}")],
  ["the same length twice", post("content-length: 2\r\ncontent-length: 2", "{}")],
  ["a list of lengths", post("content-length: 2, 2", "{}")],
  ["a length with a sign", post("content-length: +2", "{}")],
  ["a negative length", post("content-length: -2", "{}")],
  ["a hexadecimal length", post("content-length: 0x2", "{}")],
  ["a length larger than any number", post(`content-length: ${"9".repeat(40)}`, "{}")],
  ["a space before the colon", post("content-length : 2", "{}")],
  ["a header name with a tab", post("content-length\t: 2", "{}")],
  ["an unknown coding", post("transfer-encoding: xchunked", "0\r\n\r\n")],
  ["a coding after chunked", post("transfer-encoding: chunked, identity", "0\r\n\r\n")],
  ["two codings", post("transfer-encoding: chunked\r\ntransfer-encoding: identity", "0\r\n\r\n")],
  ["a folded coding", post("transfer-encoding:\r\n chunked", "0\r\n\r\n")],
  ["a folded header", post("x: a\r\n b\r\ncontent-length: 2", "{}")],
  ["a chunk size that is none", post("transfer-encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size that overflows", post("transfer-encoding: chunked", `${"f".repeat(20)}\r\n{}\r\n0\r\n\r\n`)],
  ["a chunk whose line ends with a line feed", post("transfer-encoding: chunked", "2\n{}\r\n0\r\n\r\n")],
  ["a chunk longer than it says", post("transfer-encoding: chunked", "1\r\n{}\r\n0\r\n\r\n")],
  ["lines that end with a line feed", "GET /health HTTP/1.1\nhost: localhost\n\n"],
  ["one line that ends with a line feed", "GET /health HTTP/1.1\r\nhost: localhost\nx: y\r\n\r\n"],
  ["a lone carriage return", "GET /health HTTP/1.1\r\nhost: localhost\rx: y\r\n\r\n"],
  ["NUL in a header", "GET /health HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n"],
  ["NUL in the address", "GET /hea\0lth HTTP/1.1\r\nhost: localhost\r\n\r\n"],
  ["a version that is none", "GET /health HTTP/9.9\r\nhost: localhost\r\n\r\n"],
  ["a method that is none", "GOT /health HTTP/1.1\r\nhost: localhost\r\n\r\n"],
])("%s is a 400, and nothing after it is answered", async (_, shape) => {
  const heard = await speak(server(), shape + HIDDEN);
  expect(statusesIn(heard)).toEqual([400]);
  expect(heard).toContain('"code":"request_invalid"');
});

test("requests one after the other in one packet are each answered once, in order", async () => {
  const first = post("content-length: 2", "{}");
  const heard = await speak(server(), first + first + HIDDEN);
  expect(statusesIn(heard)).toEqual([400, 400, 404]);
});

test("what a refused request still sends is not taken for another request", async () => {
  const guarded = `POST /nowhere HTTP/1.1\r\nhost: evil.example\r\ncontent-length: ${HIDDEN.length}\r\n\r\n`;
  const after = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  expect(statusesIn(await speak(server(), guarded + HIDDEN + after))).toEqual([421, 200]);
});

test("a tunnel and another protocol are not spoken", async () => {
  const tunnel = await speak(server(), "CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n");
  expect(statusesIn(tunnel)).not.toContain(200);
  const upgrade = "connection: upgrade, close\r\nupgrade: h2c";
  const upgraded = await speak(server(), `GET /health HTTP/1.1\r\nhost: localhost\r\n${upgrade}\r\n\r\n`);
  expect(statusesIn(upgraded)).not.toContain(101);
  const http2 = await speak(server(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  expect(statusesIn(http2)).toEqual([400]);
});

test.each([
  "/../../etc/passwd",
  "/..%2f..%2fetc%2fpasswd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/ui/theme.js/../../server.ts",
  "/ui/tokens.css%00.js",
  "/ui/../log.db",
  "/ui/%2e%2e/%2E./log.db",
  "/ui/..%2f..%2fserver.js",
  "//etc/passwd",
  "/..\\..\\log.db",
  "/log.db",
  "/keys.db",
  "/page/index.html",
])("an address that climbs out leads nowhere: %s", async (path) => {
  const heard = await speak(server(), `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  expect(statusesIn(heard)).toEqual([404]);
});

test.each(["..", ".", "%2e%2e", "..%2f..%2flog.db"])("a session called %s is no path", async (name) => {
  const heard = await speak(
    server(),
    `GET /sessions/${name}/entries HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
  );
  expect([200, 400, 404]).toContain(statusesIn(heard)[0]);
  expect(heard).not.toContain("SQLite");
});

test("keys of prototypes are keys like any other, and change nothing for anybody", async () => {
  const body =
    '{"kind":"raw","source":"x","record":{"__proto__":{"polluted":1},"constructor":{"prototype":{"a":1}}},"__proto__":{"kind":"error"}}';
  expect((await server().post("/entries", body)).status).toBe(201);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  const { entries } = (await server().get("/entries?kind=raw")).body;
  const { text } = await server().get(`/entries/${entries[0].id}`);
  expect(text).toContain('"__proto__":{"polluted":1}');
  expect(JSON.parse(text).kind).toBe("raw");
});

test("an expectation that cannot be met is refused in the usual shape, and nothing is stored", async () => {
  const body = JSON.stringify({ prompt: "expected" });
  const head = `POST /interactions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  for (const expectation of ["200-ok", "x"]) {
    const heard = await speak(server(), `${head}\r\nexpect: ${expectation}\r\n\r\n${body}`);
    expect(heard).toMatch(/^HTTP\/1\.1 417 /);
    const [, answer = ""] = heard.split("\r\n\r\n");
    expect(heard.toLowerCase()).toContain("content-type: application/json");
    expect(answer).toContain('"code":"expectation_refused"');
  }
  const met = await speak(server(), `${head}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n${body}`);
  expect(met).toMatch(/^HTTP\/1\.1 100 Continue[\s\S]*HTTP\/1\.1 201 /);
});
