// The recording proxy as others meet it than the programs that were given its address: pages, links, requests within requests.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { serveProxy } from "../../src/surfaces/proxy/recording-proxy.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { speak } from "./raw-socket.js";

interface Heard {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A proxy, and what the server behind it hears. */
async function setUp() {
  const heard: Heard[] = [];
  const provider = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.url === "/v1/switch") {
      request.socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
      return;
    }
    heard.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    response.end("answered");
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const { recorder } = memoryRecorder();
  const to = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const proxy = await serveProxy({ recorder, port: 0, to, labels: {}, onLost: () => undefined });
  onTestFinished(async () => {
    await proxy.close();
    provider.closeAllConnections();
    provider.close();
    await recorder.close();
  });
  const ask = async (lines: readonly string[], body = "", target = "POST /v1/messages"): Promise<number> => {
    const head = [`${target} HTTP/1.1`, ...lines, "connection: close"].join("\r\n");
    const answer = await speak(proxy, `${head}\r\n\r\n${body}`);
    expect(answer.toLowerCase()).not.toContain("access-control-");
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
  };
  return { ask, heard, own: new URL(proxy.address).host };
}

const length = "content-length: 2";

test.each([
  ["a name that was made to lead here", ["host: evil.example"], 421],
  ["a name that looks like ours", ["host: 127.0.0.1.evil.example"], 421],
  ["two names", ["host: localhost", "host: evil.example"], 421],
  ["a page of another site", ["host: localhost", "origin: https://evil.example"], 403],
  ["a page of another program on this machine", ["host: localhost", "origin: http://localhost:3000"], 403],
  ["a page without an origin of its own", ["host: localhost", "origin: null"], 403],
  ["a picture in a page", ["host: localhost", "sec-fetch-site: cross-site", "sec-fetch-mode: no-cors"], 403],
  ["a link", ["host: localhost", "sec-fetch-site: cross-site", "sec-fetch-mode: navigate"], 403],
] as const)("%s is refused, and the provider hears nothing", async (_, lines, status) => {
  const { ask, heard } = await setUp();
  expect(await ask([...lines, length], "{}")).toBe(status);
  expect(await ask(lines, "", "GET /v1/models")).toBe(status);
  expect(await ask(lines, "", "OPTIONS /v1/messages")).toBe(status);
  expect(heard).toEqual([]);
});

test("programs are answered under every name of this machine", async () => {
  const { ask, heard, own } = await setUp();
  for (const host of [own, "localhost:4748", "[::1]:4748", "127.0.0.1"]) {
    expect(await ask([`host: ${host}`, length], "{}")).toBe(200);
  }
  expect(heard.map(({ line, body }) => [line, body])).toEqual(Array(4).fill(["POST /v1/messages", "{}"]));
});

test.each(["GET", "HEAD", "DELETE", "OPTIONS", "POST"])(
  "a body in chunks of a %s is one request for the provider too",
  async (method) => {
    const { ask, heard } = await setUp();
    const hidden = "POST /v1/hidden HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    const chunks = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    expect(await ask(["host: localhost", "transfer-encoding: chunked"], chunks, `${method} /v1/models`)).toBe(200);
    // What was hidden would have been heard before what is asked now, on the same connection.
    expect(await ask(["host: localhost", length], "{}")).toBe(200);
    expect(heard.map(({ line, body }) => [line, body])).toEqual([
      [`${method} /v1/models`, hidden],
      ["POST /v1/messages", "{}"],
    ]);
  },
);

test("headers of one connection are not forwarded, and the end of a body is", async () => {
  const { ask, heard } = await setUp();
  const names = "Connection: X-Mine, content-length, keep-alive";
  const own = ["x-mine: 1", "proxy-connection: keep-alive", "proxy-authorization: Basic eA==", "te: trailers"];
  expect(await ask(["host: localhost", names, ...own, "x-other: 2", length], "{}", "DELETE /v1/files/1")).toBe(200);
  const [{ headers, body } = { headers: {}, body: "" }] = heard;
  expect(body).toBe("{}");
  expect(Object.keys(headers).sort()).toEqual(["accept-encoding", "connection", "content-length", "host", "x-other"]);
});

test("a provider that changes the protocol unasked, or asked by a program, has not answered", async () => {
  const { ask, heard } = await setUp();
  expect(await ask(["host: localhost", length], "{}", "POST /v1/switch")).toBe(502);
  expect(await ask(["host: localhost", "upgrade: websocket", "connection: upgrade"], "", "GET /v1/switch")).toBe(502);
  expect(await ask(["host: localhost", length], "{}")).toBe(200);
  expect(heard).toHaveLength(1);
});
