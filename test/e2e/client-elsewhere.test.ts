// The client SDK where there is no Node: in a browser, and in a runtime that has the web's functions and nothing else.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { startServer } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const openPage = browserOfFile();
const clientFolder = join(repositoryRoot, "dist", "client");

/** What an agent's author would serve: a page with the client's files, and the record under the same address. */
async function siteBefore(hansard: string): Promise<string> {
  const site = createServer((asked, response) => {
    const { url = "/", method } = asked;
    if (url.endsWith(".js")) {
      response.writeHead(200, { "content-type": "text/javascript" });
      response.end(readFileSync(join(clientFolder, normalize(url))));
    } else if (method === "POST") {
      const { "content-type": type } = asked.headers;
      const onward = request(`${hansard}${url}`, { method, headers: { "content-type": type } }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      asked.pipe(onward);
    } else {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>An agent</title>");
    }
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  onTestFinished(() => void site.closeAllConnections());
  onTestFinished(() => void site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

/** What an agent does there; a model's answer is made up, and its bytes come in two pieces. */
const AGENT = `
  const recorder = connectRecorder({ url, project: "web" });
  const body = new ReadableStream({ start(to) { to.enqueue(bytes.slice(0, 40)); to.enqueue(bytes.slice(40)); to.close(); } });
  const model = async () => new Response(body, { headers: { "content-type": "application/json" } });
  const ask = recordingFetch(recorder, { fetch: model });
  const said = { method: "POST", body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Why?" }] }) };
  const answer = await recorder.within({ session_id: "elsewhere" }, () => ask("https://example.com/v1/chat/completions", said));
  const { choices } = await answer.json();
  await recorder.session("elsewhere").message({ role: "user", content: choices[0].message.content });
  return recorder.close();
`;
const COMPLETION = JSON.stringify({
  id: "c",
  model: "m",
  usage: { prompt_tokens: 1, completion_tokens: 2 },
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Because, é 👋🏽." } }],
});

async function expectRecorded(server: Awaited<ReturnType<typeof startServer>>): Promise<void> {
  const { entries } = (await server.get("/sessions/elsewhere/entries")).body;
  const seen = entries.map((entry: { [name: string]: unknown }) => [entry.kind, entry.project, entry.client_seq]);
  expect(seen.sort()).toEqual([
    ["interaction", "web", 1],
    ["message", "web", 2],
  ]);
  expect((await server.get("/interactions")).body.interactions[0]).toMatchObject({ prompt: "Why?", model: "m" });
}

test("in a browser it captures, records a fetch, and delivers", async () => {
  const server = await startServer();
  const url = await siteBefore(server.address);
  const { page, problems } = await openPage(url);
  const counters = await page.evaluate(`(async () => {
    const { connectRecorder, recordingFetch } = await import("/index.js");
    const [url, bytes] = [location.origin, new TextEncoder().encode(${JSON.stringify(COMPLETION)})];
    ${AGENT}
  })()`);
  expect(counters).toEqual({ queued: 0, spooled: 0, sent: 2, dropped: 0 });
  expect(problems).toEqual([]);
  await expectRecorded(server);
});

test("in a runtime that has the web's functions and nothing of Node it does the same", async () => {
  const server = await startServer();
  const bundle = await rolldown({ input: join(clientFolder, "index.js"), platform: "neutral" });
  const { output } = await bundle.generate({ format: "iife", name: "client" });
  const web = {
    fetch,
    URL,
    URLSearchParams,
    Request,
    Response,
    Headers,
    Blob,
    ReadableStream,
    TextDecoder,
    TextEncoder,
    AbortController,
    AbortSignal,
    crypto,
    performance,
    setTimeout,
    clearTimeout,
    console,
    Uint8Array,
    ArrayBuffer,
    url: server.address,
    bytes: new TextEncoder().encode(COMPLETION),
  };
  const runtime = createContext(web);
  runInContext(output[0].code, runtime);
  expect(runInContext("typeof process + typeof Buffer + typeof setImmediate", runtime)).toBe("undefined".repeat(3));
  const agent = `const { connectRecorder, recordingFetch } = client; (async () => { ${AGENT} })()`;
  expect({ ...(await runInContext(agent, runtime)) }).toEqual({ queued: 0, spooled: 0, sent: 2, dropped: 0 });
  await expectRecorded(server);
});
