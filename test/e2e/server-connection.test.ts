// What a recorder on a server says of connections that fail, and of answers that are not what was asked for.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Connection } from "../../client/connection.js";
import { retryDelay } from "../../client/retry.js";
import { type ConnectionError, toConnectionError } from "../../client/server-errors.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { ServerConnection, wholeParts } from "../../src/recorder/remote/server-connection.js";
import { connect, heldPort, standIn } from "./connected-client.js";

async function openRemote(address: string, key?: string): Promise<Recorder> {
  const recorder = await openRecorder({ data: address, ...(key === undefined ? {} : { key }) });
  onTestFinished(() => recorder.close());
  return recorder;
}

const json = { "content-type": "application/json" };

/** A server that gives every request the same answer. */
function answering(status: number, headers: { readonly [name: string]: string }, body: string): Promise<string> {
  return standIn((_, response) => response.writeHead(status, headers).end(body));
}

const questions: { readonly [name: string]: (recorder: Recorder) => Promise<unknown> } = {
  "a list": (recorder) => recorder.listInteractions(),
  entries: (recorder) => recorder.listEntries(),
  "an entry": (recorder) => recorder.getEntry("a"),
  "a search": (recorder) => recorder.search("words"),
  usage: (recorder) => recorder.usage(),
  sessions: (recorder) => recorder.listSessions(),
  health: (recorder) => recorder.health(),
  verification: (recorder) => recorder.verify(),
  counts: (recorder) => recorder.count(),
  "a capture": (recorder) => recorder.append({ kind: "error", error: "e" }),
  "a memory": (recorder) => recorder.memories.add({ content: "Prefers tabs over spaces in Go", type: "preference" }),
  "a proposal": (recorder) => recorder.memories.propose({ content: "Prefers tabs", type: "preference" }),
  forgetting: (recorder) => recorder.forget({ entry: "a", reason: "asked to" }),
};

test.each(["", '{"entries":'])("an answer %j to any question is a fault that says that it broke off", async (body) => {
  const address = await answering(200, json, body);
  const recorder = await openRemote(address);
  for (const [name, ask] of Object.entries(questions)) {
    await expect(ask(recorder), name).rejects.toMatchObject({
      code: "store_unavailable",
      message: `the server at ${address} sent an incomplete answer: it is not valid JSON`,
      hint: expect.stringContaining("Try again"),
    });
  }
});

test.each(["{}", "[]", '"ok"', "null"])(
  "an answer %j to any question is a fault that names the server, the question and what to do",
  async (body) => {
    const address = await answering(200, json, body);
    const recorder = await openRemote(address);
    for (const [name, ask] of Object.entries(questions)) {
      await expect(ask(recorder), name).rejects.toMatchObject({
        name: "Fault",
        code: "store_unsuitable",
        message: expect.stringMatching(new RegExp(`^the server at ${address} gave no usable answer for /[a-z/]+: `)),
        hint: expect.stringContaining("Check the address"),
      });
    }
  },
);

test.each([
  [200, { "content-type": "text/html" }, "<h1>Welcome</h1>"],
  [200, {}, "ok"],
  [502, { "content-type": "text/html" }, "<h1>Bad Gateway</h1>"],
  [404, json, "{}"],
  [400, json, '{"error":"bad"}'],
  [400, json, '{"error":{"code":"field_invalid"}}'],
])("what answers %d %j %j is no Hansard server", async (status, headers, body) => {
  const address = await answering(status, headers, body);
  const recorder = await openRemote(address);
  for (const [name, ask] of Object.entries(questions)) {
    await expect(ask(recorder), name).rejects.toMatchObject({
      code: "store_unsuitable",
      message: `${address} answers with status ${status}, but not as a Hansard server`,
      hint: expect.stringContaining("Check the address"),
    });
  }
});

test.each([301, 302, 307, 308])("a redirect (%d) is reported and not followed, and gets no key", async (status) => {
  const reached: IncomingMessage[] = [];
  const target = await standIn((request, response) => {
    reached.push(request);
    response.writeHead(200, json).end('{"status":"ok","position":1}');
  });
  const keys: unknown[] = [];
  const address = await standIn(({ url, headers }, response) => {
    keys.push(headers.authorization);
    response.writeHead(status, { location: `${target}${url}` }).end();
  });
  const recorder = await openRemote(address, "secret");
  await expect(recorder.health()).rejects.toMatchObject({
    code: "store_unsuitable",
    message: `${address} redirects to ${target}/health`,
    hint: expect.stringContaining("Use the address that it redirects to"),
  });
  await expect(recorder.append({ kind: "error", error: "e" })).rejects.toMatchObject({ code: "store_unsuitable" });
  const { recorder: client, problems } = connect(address, { key: "secret" });
  await client.append({ kind: "error", error: "e" });
  await client.flush({ timeout_ms: 50 });
  expect(problems).toEqual([{ code: "server_away", message: `it redirects to ${target}/entries`, dropped: 0 }]);
  expect(keys.length).toBeGreaterThan(2);
  expect(new Set(keys)).toEqual(new Set(["Bearer secret"]));
  expect(reached).toEqual([]);
});

/** What a recorder and a client say of an address, in that order. */
async function failuresAt(address: string): Promise<readonly [Error & { hint: string }, string]> {
  const recorder = await openRemote(address);
  const fault = await recorder.health().catch((error: unknown) => error);
  const { recorder: client, problems } = connect(address);
  await client.append({ kind: "error", error: "e" });
  await client.flush({ timeout_ms: 1 });
  await expect.poll(() => problems).toHaveLength(1);
  return [fault as Error & { hint: string }, problems[0]?.message ?? ""];
}

test("a refused connection, an unknown host and a server without TLS or HTTP are each named in plain words", async () => {
  const closed = await heldPort();
  await closed.release();
  const plain = await answering(200, json, "{}");
  const mute = createServer((socket) => socket.end("220 mail.example ESMTP\r\n")).listen(0, "127.0.0.1");
  await once(mute, "listening");
  onTestFinished(() => void mute.close());
  const muteAddress = `http://127.0.0.1:${(mute.address() as { readonly port: number }).port}`;
  const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(`test/fixtures/tls/${name}`, "utf8"));
  const secure = createSecureServer({ cert, key } as object).listen(0, "127.0.0.1");
  await once(secure, "listening");
  onTestFinished(() => void secure.close());
  const securePort = (secure.address() as { readonly port: number }).port;
  const cases: readonly (readonly [address: string, words: string, hint: string])[] = [
    [`http://127.0.0.1:${closed.port}`, "connection refused: nothing listens on that port (ECONNREFUSED)", "the port"],
    [`http://localhost:${closed.port}`, "connection refused: nothing listens on that port (ECONNREFUSED)", "the port"],
    ["http://no-such-host.invalid:4747", "(ENOTFOUND|EAI_AGAIN)", "spelled"],
    [
      plain.replace("http:", "https:"),
      "the server does not speak TLS; is it an http:// address?",
      "http:// or https://",
    ],
    [
      `https://127.0.0.1:${securePort}`,
      "the TLS certificate is self-signed; name it in NODE_EXTRA_CA_CERTS",
      "certificate",
    ],
    [`http://127.0.0.1:${securePort}`, "the connection was closed before the answer was complete", "Try again"],
    [muteAddress, "the server does not speak HTTP; is it an https:// address?", "Try again"],
  ];
  for (const [address, words, hint] of cases) {
    const [fault, problem] = await failuresAt(address);
    const pattern = words.startsWith("(") ? new RegExp(words) : undefined;
    expect(fault).toMatchObject({ code: "store_unavailable", hint: expect.stringContaining(hint) });
    expect(fault.message).toContain(`the server at ${address} cannot be reached: `);
    for (const said of [fault.message, problem]) {
      if (pattern === undefined) expect(said).toContain(words);
      else expect(said).toMatch(pattern);
      expect(said).not.toContain("openssl");
    }
  }
});

test.each([
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed; name it in NODE_EXTRA_CA_CERTS"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "another host name"],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "no TLS connection: why"],
])("the TLS failure %s is explained, with its code", (code, words) => {
  const { message, code: failure } = toConnectionError(Object.assign(new Error("why"), { code }));
  expect([failure, message]).toEqual(["tls", expect.stringContaining(words)]);
  expect(message).toContain(code);
});

test("an incomplete answer, and an endless one, are reported as such", async () => {
  const broken = await standIn((_, response) => {
    response.writeHead(200, { ...json, "content-length": "100" }).write("{");
    setTimeout(() => response.destroy(), 10);
  });
  await expect((await openRemote(broken)).health()).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("the connection was closed before the answer was complete"),
    hint: expect.stringContaining("Try again"),
  });
  const endless = await standIn((_, response) => void response.writeHead(200, json).write("{"));
  const connection = new ServerConnection({ address: endless, key: undefined, answer_ms: 50 });
  await expect(connection.get("/health", [])).rejects.toMatchObject({
    message: `the server at ${endless} cannot be reached: no answer within 0.05 seconds`,
    hint: expect.stringContaining("a busy one may answer later"),
  });
  connection.close();
  await expect(connection.get("/health", [])).rejects.toMatchObject({
    message: expect.stringContaining("the connection is closed"),
  });
});

test("an idle socket that the server closes is replaced without an error", async () => {
  let [asked, sockets] = [0, 0];
  const server = createServer((socket) => {
    sockets += 1;
    let isUsed = false;
    socket.on("error", () => undefined);
    socket.on("data", () => {
      asked += 1;
      // Once idle, it is closed at the moment it is used again.
      if (isUsed) return socket.resetAndDestroy();
      isUsed = true;
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`;
  const connection = new Connection({ address, key: undefined, keeps_process_alive: true });
  onTestFinished(() => connection.close());
  const question = { path: "/health", timeout_ms: 5_000 };
  expect((await connection.ask(question)).text).toBe("{}");
  await pause(20);
  expect((await connection.ask(question)).text).toBe("{}");
  expect([asked, sockets]).toEqual([3, 2]);
  await pause(20);
  const body = { type: "application/json", text: "{}" };
  const failure = await connection.ask({ ...question, body }).catch((error: unknown) => error);
  expect((failure as ConnectionError).code).toBe("broken");
});

test("an answer that is not read is ended, and one to a caller who has gone is aborted", async () => {
  const closed: string[] = [];
  const address = await standIn(({ url = "" }: IncomingMessage, response: ServerResponse) => {
    response.on("close", () => closed.push(url));
    response.writeHead(200, url === "/page" ? { "content-type": "text/html" } : json).write(" ");
  });
  const connection = new ServerConnection({ address, key: undefined });
  onTestFinished(() => connection.close());
  await expect(connection.open("/page")).rejects.toMatchObject({ code: "store_unsuitable" });
  await expect.poll(() => closed).toEqual(["/page"]);
  const stop = new AbortController();
  const { body } = await connection.open("/tail", { signal: stop.signal });
  const read = (async () => {
    for await (const _ of body) stop.abort();
  })();
  await expect(read).rejects.toMatchObject({ code: "store_unavailable" });
  await expect.poll(() => closed).toEqual(["/page", "/tail"]);
});

/** A body in pieces of 64 KB, as a socket gives it. */
async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function partsOf(text: string, separator: string): Promise<readonly string[]> {
  const parts: string[] = [];
  for await (const part of wholeParts(inPieces(text), separator)) parts.push(part);
  return parts;
}

test("a stream is split only at separators, also if a separator is split itself", async () => {
  const lines = [..."abcdefgh"].map((letter, at) => letter.repeat(30_000 * at + 1));
  const parts = await partsOf(`${lines.join("\n\n")}\n\nrest`, "\n\n");
  expect(parts.join("").split("\n\n")).toEqual([...lines, "rest"]);
  expect(parts.slice(0, -1).every((part) => part.endsWith("\n\n"))).toBe(true);
  for (const at of [65_534, 65_535, 65_536]) {
    const [first, ...others] = await partsOf(`${"x".repeat(at)}\n\ny`, "\n\n");
    expect([first?.length, others]).toEqual([at + 2, ["y"]]);
  }
});

test("cutting a stream takes as long as it is, however long its parts are", async () => {
  const took = async (parts: number): Promise<number> => {
    const text = `${"x".repeat(TOTAL / parts)}\n\n`.repeat(parts);
    const begun = performance.now();
    await partsOf(text, "\n\n");
    return performance.now() - begun;
  };
  await took(64);
  const ratios: number[] = [];
  for (let at = 0; at < 3; at++) ratios.push((await took(1)) / (await took(64)));
  expect(Math.min(...ratios)).toBeLessThan(8);
});

const TOTAL = 32 * 1024 * 1024;

test("retries wait twice as long each time, never longer than the maximum, and at least as long as the server asks", () => {
  const limits = { retry_ms_min: 100, retry_ms_max: 1_000 };
  for (const [failures, longest] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
    expect(retryDelay(failures, limits, 0, () => 0)).toBe(longest / 2);
    expect(retryDelay(failures, limits, 0, () => 1)).toBe(longest);
  }
  expect(retryDelay(1_000, limits)).toBeLessThanOrEqual(1_000);
  expect(retryDelay(0, limits, 5_000)).toBe(5_000);
});
