// `hansard proxy` between a program and its provider: the same bytes, recorded.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { expect, onTestFinished, test } from "vitest";
import { startModel } from "../support/model-server.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readJson, runCli, startCli } from "./cli-run.js";

async function startProxy(
  data: string,
  ...args: readonly string[]
): Promise<{ address: string; stop(): Promise<void> }> {
  const proxy = startCli(["proxy", "--port", "0", ...args], { data });
  const ended = once(proxy, "close");
  const stop = async (): Promise<void> => {
    proxy.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  };
  const [line] = await Promise.race([once(proxy.stdout as NodeJS.EventEmitter, "data"), ended]);
  onTestFinished(() => void proxy.kill("SIGKILL"));
  return { address: String(line).trim(), stop };
}

test("what passes is unchanged, streamed, and recorded in the session that it names", async () => {
  const [data, model] = [folderOfTest(), await startModel()];
  const { address, stop } = await startProxy(data, "--to", model, "--project", "web", "--session", "fallback");
  const client = new Anthropic({
    apiKey: "k",
    baseURL: address,
    maxRetries: 0,
    defaultHeaders: { "x-hansard-session": "mine" },
  });
  const wanted = { model: "asked", max_tokens: 9, messages: [{ role: "user", content: "hello" }] } as const;
  const message = await client.messages.stream({ ...wanted, messages: [...wanted.messages] }).finalMessage();
  expect(message.content).toEqual([{ type: "text", text: "You said: hello 👋🏽 é" }]);
  const body = (words: string) => ({
    method: "POST",
    body: JSON.stringify({ stream: true, messages: [{ role: "user", content: words }] }),
  });
  for (const words of ["hi", "fail 429", "error page"]) {
    const [plain, proxied] = await Promise.all(
      [model, address].map((base) => fetch(`${base}/v1/chat/completions`, body(words))),
    );
    expect(proxied?.status).toBe(plain?.status);
    expect(proxied?.headers.get("content-type")).toBe(plain?.headers.get("content-type"));
    expect(await proxied?.text()).toBe(await plain?.text());
  }
  // The first piece is there long before the last.
  const endless = await fetch(`${address}/v1/chat/completions`, body("never end"));
  const reader = (endless.body as ReadableStream<Uint8Array>).getReader();
  expect((await reader.read()).value?.length).toBeGreaterThan(0);
  await reader.cancel();
  expect((await fetch(`${address}/v1/models`)).status).toBe(404);
  // A client that takes it for a forward proxy gets an error, and others are not disturbed.
  const { hostname, port } = new URL(address);
  const asked = request({ hostname, port, path: "http://example.com/v1/messages", method: "POST" }).end("{}");
  expect(((await once(asked, "response")) as [IncomingMessage])[0].statusCode).toBe(421);
  await stop();
  const { interactions } = await readJson(["list", "--kind", "interaction"], { data });
  const seen = interactions.map(({ prompt, session_id, project, error }: { [name: string]: string }) => [
    ...[prompt, session_id, project, error === ""],
  ]);
  expect(seen.sort()).toEqual(
    [
      ["hello", "mine", "web", true],
      ["hi", "fallback", "web", true],
      ["fail 429", "fallback", "web", false],
      ["error page", "fallback", "web", false],
      ["never end", "fallback", "web", false],
    ].sort(),
  );
});

test("a call that is under way when the proxy is stopped is recorded as far as it came", async () => {
  const [data, model] = [folderOfTest(), await startModel()];
  const { address, stop } = await startProxy(data, "--to", model);
  const body = JSON.stringify({ stream: true, messages: [{ role: "user", content: "never end" }] });
  const answer = await fetch(`${address}/v1/chat/completions`, { method: "POST", body });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await stop();
  await expect(reader.closed).rejects.toThrow();
  const { interactions } = await readJson(["list", "--kind", "interaction"], { data });
  expect(interactions).toMatchObject([{ prompt: "never end", error: expect.stringMatching(/./) }]);
});

/** A streamed call in each provider's shape. */
const shapes: { readonly [path: string]: (words: string) => object } = {
  "/v1/chat/completions": (content) => ({ stream: true, messages: [{ role: "user", content }] }),
  "/v1/responses": (input) => ({ stream: true, input }),
  "/v1/messages": (content) => ({ stream: true, max_tokens: 9, messages: [{ role: "user", content }] }),
  "/v1beta/models/asked:streamGenerateContent?alt=sse": (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
};

test.each(Object.keys(shapes))("%s passes with every byte, streamed, failed and broken off", async (path) => {
  const [data, model] = [folderOfTest(), await startModel()];
  const { address, stop } = await startProxy(data, "--to", model);
  const troubles = ["hello é 👋🏽", "fail 429", "error page", "break off"];
  for (const words of troubles) {
    const body = JSON.stringify(shapes[path]?.(words));
    const [plain, proxied] = await Promise.all([model, address].map((base) => taken(`${base}${path}`, body)));
    expect(proxied, words).toEqual(plain);
  }
  await stop();
  const { interactions } = await readJson(["list", "--kind", "interaction"], { data });
  const seen = interactions.map(({ prompt, error }: { [name: string]: string }) => [prompt, error === ""]);
  expect(seen.toReversed()).toEqual(troubles.map((words) => [words, words.startsWith("hello")]));
});

/** Status, headers and bytes as far as they came, and whether they came to an end. */
async function taken(url: string, body: string) {
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
  const headers = [...response.headers].filter(([name]) => !["date", "connection", "keep-alive"].includes(name));
  let bytes = Buffer.alloc(0);
  let isWhole = true;
  try {
    for await (const piece of response.body as AsyncIterable<Uint8Array>) bytes = Buffer.concat([bytes, piece]);
  } catch {
    isWhole = false;
  }
  return { status: response.status, text: response.statusText, headers, isWhole, bytes: bytes.toString("hex") };
}

test("a provider that is not there, a path that names none and a bad address are told", async () => {
  const { address, stop } = await startProxy(folderOfTest());
  expect(await (await fetch(`${address}/nobody/v1`)).json()).toMatchObject({
    error: { message: "hansard proxy: the path must begin with one of /openai/, /anthropic/, /gemini/" },
  });
  await stop();
  const away = await startProxy(folderOfTest(), "--to", "http://127.0.0.1:1");
  expect((await fetch(`${away.address}/v1/messages`, { method: "POST", body: "{}" })).status).toBe(502);
  await away.stop();
  // An address that cannot be asked: the call has failed, and is recorded as that.
  const data = folderOfTest();
  const odd = await startProxy(data, "--to", "http://%zz@127.0.0.1:1");
  const body = JSON.stringify({ messages: [{ role: "user", content: "anybody there?" }] });
  expect((await fetch(`${odd.address}/v1/messages`, { method: "POST", body })).status).toBe(502);
  await odd.stop();
  expect((await readJson(["list", "--kind", "interaction"], { data })).interactions).toMatchObject([
    { prompt: "anybody there?", error: "URI malformed" },
  ]);
  expect((await runCli(["proxy", "--to", "nowhere"], { data: folderOfTest() })).status).toBe(2);
});
