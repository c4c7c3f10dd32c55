// Pages of other sites in the browser of somebody who runs a server: they reach this machine, and must get nothing.
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { serverOfFile, startServer, type TestServer } from "../e2e/http-client.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { speak } from "./raw-socket.js";

const server = serverOfFile();

/** `fetch` chooses its own host, so the request is written by hand. */
async function ask(to: TestServer, lines: readonly string[], target = "GET /entries"): Promise<[number, string?]> {
  const heard = await speak(to, `${target} HTTP/1.1\r\n${[...lines, "connection: close"].join("\r\n")}\r\n\r\n`);
  const [, status = "0"] = /^HTTP\/1\.1 (\d{3})/.exec(heard) ?? [];
  expect(heard.toLowerCase()).not.toContain("access-control-");
  const [, code] = /"code":"(\w+)"/.exec(heard) ?? [];
  return code === undefined ? [Number(status)] : [Number(status), code];
}

/** A server with a name beyond loopback, and the header of a key that it takes. */
async function allowingServer(name: string): Promise<{ readonly allowing: TestServer; readonly key: string }> {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  const { key } = await recorder.keys.create({ scope: "admin" });
  await recorder.close();
  return { allowing: await startServer({ data, allow_hosts: [name] }), key: `authorization: Bearer ${key}` };
}

const portOf = ({ address }: TestServer): string => new URL(address).port;

test.each([
  "evil.example",
  "evil.example:4747",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evil.example@127.0.0.1",
  "127.0.0.1@evil.example",
  "127.0.0.1,evil.example",
  "192.168.1.7",
  "[fe80::1]",
  "2130706433",
  "0x7f.1",
  "",
  " ",
  "127.0.0.1:port",
  "127.0.0.1/..",
])("a name that leads here without being ours is refused: %j", async (host) => {
  expect(await ask(server(), [`host: ${host}`])).toEqual([421, "host_foreign"]);
});

test.each(["127.0.0.1", "127.0.0.1:80", "LOCALHOST", "localhost.", "[::1]", "[::1]:4747", "127.3.2.1"])(
  "this machine's own names are ours, whatever port a tunnel gives them: %s",
  async (host) => {
    expect(await ask(server(), [`host: ${host}`])).toEqual([200]);
  },
);

test("no host, two hosts and an address with a host of its own are refused", async () => {
  expect(await ask(server(), [])).toEqual([421, "host_foreign"]);
  expect(await ask(server(), ["host: localhost", "Host: evil.example"])).toEqual([421, "host_foreign"]);
  expect(await ask(server(), ["host: localhost"], "GET http://evil.example/entries")).toEqual([421, "host_foreign"]);
  expect(await ask(server(), ["host: evil.example"], "GET http://localhost/entries")).toEqual([421, "host_foreign"]);
});

test("a foreign name opens nothing at all, not even what needs no key or leads nowhere", async () => {
  for (const path of ["/", "/health", "/docs", "/openapi.json", "/nowhere"]) {
    expect(await ask(server(), ["host: evil.example"], `GET ${path}`)).toEqual([421, "host_foreign"]);
  }
});

test("a name that was allowed is ours, and only that one", async () => {
  const { allowing, key } = await allowingServer("Record.example");
  expect(await ask(allowing, ["host: record.example:443", key])).toEqual([200]);
  expect(await ask(allowing, ["host: other.record.example"])).toEqual([421, "host_foreign"]);
});

test.each([
  "http://evil.example",
  "https://evil.example:4747",
  "http://localhost:3000",
  "http://127.0.0.1",
  "https://127.0.0.1:PORT",
  "http://localhost:PORT",
  "null",
  "",
  "file://",
  "chrome-extension://abc",
  "http://127.0.0.1:PORT.evil.example",
])("a request from a page of another origin is refused: %j", async (origin) => {
  const port = portOf(server());
  const lines = [`host: 127.0.0.1:${port}`, `origin: ${origin.replace("PORT", port)}`];
  expect(await ask(server(), lines)).toEqual([403, "origin_refused"]);
  const post = [...lines, "content-type: text/plain", "content-length: 0"];
  expect(await ask(server(), post, "POST /sessions/s/clear")).toEqual([403, "origin_refused"]);
});

test("our own pages may ask, and programs that say no origin", async () => {
  const port = portOf(server());
  const host = `host: 127.0.0.1:${port}`;
  expect(await ask(server(), [host, `origin: http://127.0.0.1:${port}`])).toEqual([200]);
  expect(await ask(server(), [host, "sec-fetch-site: same-origin", "sec-fetch-mode: cors"])).toEqual([200]);
  expect(await ask(server(), [host])).toEqual([200]);
});

test("behind a proxy the page's origin is the name that was allowed", async () => {
  const { allowing, key } = await allowingServer("record.example");
  expect(await ask(allowing, ["host: localhost", "origin: https://record.example", key])).toEqual([200]);
  expect(await ask(allowing, ["host: localhost", "origin: https://evil.example"])).toEqual([403, "origin_refused"]);
});

test("nothing can be embedded in a page of another site, but a link there may lead here", async () => {
  for (const site of ["cross-site", "same-site"]) {
    for (const mode of ["no-cors", "cors", "websocket"]) {
      const lines = ["host: localhost", `sec-fetch-site: ${site}`, `sec-fetch-mode: ${mode}`];
      expect(await ask(server(), lines)).toEqual([403, "origin_refused"]);
    }
    const link = ["host: localhost", `sec-fetch-site: ${site}`, "sec-fetch-mode: navigate"];
    expect(await ask(server(), link, "GET /")).toEqual([200]);
  }
});

test("nothing can be framed or embedded in a page of another site, whatever it calls that", async () => {
  for (const site of ["cross-site", "same-site", "anything"]) {
    for (const destination of ["iframe", "frame", "embed", "object", "fencedframe"]) {
      const lines = ["host: localhost", `sec-fetch-site: ${site}`, "sec-fetch-mode: navigate"];
      for (const target of ["GET /export", "GET /entries", "GET /"]) {
        const framed = [...lines, `sec-fetch-dest: ${destination}`];
        expect(await ask(server(), framed, target)).toEqual([403, "origin_refused"]);
      }
    }
  }
});

test("no page of another site can have an export written down, not even by a link", async () => {
  const writing = await startServer();
  const asked = ["host: localhost", "sec-fetch-mode: navigate", "sec-fetch-dest: document"];
  for (const site of ["cross-site", "same-site"]) {
    expect(await ask(writing, [...asked, `sec-fetch-site: ${site}`], "GET /export")).toEqual([403, "origin_refused"]);
  }
  expect((await writing.get("/entries?kind=audit")).body.entries).toEqual([]);
  // The person who typed the address, a page of this server, and a program.
  for (const site of ["none", "same-origin"]) {
    expect(await ask(writing, [...asked, `sec-fetch-site: ${site}`], "GET /export")).toEqual([200]);
  }
  expect(await ask(writing, ["host: localhost"], "GET /export")).toEqual([200]);
  expect((await writing.get("/entries?kind=audit")).body.entries).toHaveLength(3);
});

test("no page of another site can record a recall in a session, and no GET can", async () => {
  await server().recorder.memories.add({ content: "The build runs at night", project: "p" });
  const path = "/recall?project=p&session_id=recalled";
  const asked = ["host: localhost", "sec-fetch-mode: navigate", "sec-fetch-dest: document"];
  const site = "sec-fetch-site: cross-site";
  expect(await ask(server(), [...asked, site, "content-length: 0"], "POST /recall")).toEqual([403, "origin_refused"]);
  for (const method of ["HEAD", "GET"]) expect(await ask(server(), asked, `${method} ${path}`)).toEqual([200]);
  expect((await server().get("/sessions/recalled/entries")).body.entries).toEqual([]);
});

test("a preflight gets no leave", async () => {
  const lines = ["host: localhost", "origin: http://evil.example", "access-control-request-method: POST"];
  expect(await ask(server(), lines, "OPTIONS /entries")).toEqual([403, "origin_refused"]);
});

test("every answer says that browsers must not guess, keep, embed or frame it", async () => {
  for (const path of ["/entries", "/health", "/nowhere", "/metrics", "/export"]) {
    const { headers } = await server().get(path);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
});
