// The page at / in a real browser: what is recorded appears on it, as text and nothing else.
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findChromium } from "../../scripts/chromium.mjs";
import { startServer, type TestServer } from "./http-client.js";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS });
});

afterAll(() => browser?.close());

test("an empty store shows how to record the first entry, and shows it once it is there", async () => {
  const server = await startServer();
  const { page } = await openPage(server);
  await page.getByRole("heading", { name: "Nothing recorded yet" }).waitFor();
  await page.getByText(`curl ${server.address}/interactions`).waitFor();
  await server.post("/interactions", { prompt: "Is it there?\nSecond line", project: "atlas", session_id: "cli:anna" });
  await page.getByText("Is it there?", { exact: true }).waitFor();
  await page.getByText("atlas", { exact: true }).waitFor();
  await page.getByText("ok · 1 entry · version 1.2.3").waitFor();
  expect(await page.getByRole("heading", { name: "Nothing recorded yet" }).isVisible()).toBe(false);
  await page.getByRole("link", { name: "#1" }).click();
  await page.getByText('"prompt":"Is it there?\\nSecond line"').waitFor();
});

test("recorded text is shown as text, whatever it contains", async () => {
  const server = await startServer();
  const prompt = '<script>document.title = "owned"</script><img src=x onerror="document.title=1"><b>bold</b>';
  await server.post("/interactions", { prompt, project: "<i>p</i>", session_id: "<s>" });
  const { page } = await openPage(server);
  await page.getByText(prompt, { exact: true }).waitFor();
  await page.getByText("<i>p</i>", { exact: true }).waitFor();
  expect(await page.title()).toBe("Hansard");
  expect(await page.locator("main :is(b, i, s, img, script)").count()).toBe(0);
});

test("every kind has a row with its first line", async () => {
  const server = await startServer();
  await server.post("/entries", [
    { kind: "interaction", id: "i", prompt: "the prompt" },
    { kind: "response", interaction_id: "i", response: "four" },
    { kind: "message", session_id: "s", role: "user", content: [{ type: "text", text: "in parts" }] },
    { kind: "message", session_id: "s", role: "assistant", tool_calls: [{ function: { name: "look" } }] },
    {
      ...{ kind: "message", session_id: "s", role: "assistant" },
      content: [{ type: "tool_use", name: "look", input: { at: "it" } }],
    },
    {
      ...{ kind: "message", session_id: "s", role: "assistant", content: "" },
      thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }],
    },
    { kind: "tool_call", tool: "look", result: { found: 1 } },
    { kind: "error", error: "the error" },
    { kind: "decision", decision: "the decision" },
    { kind: "consolidation", session_id: "s", through: 1 },
    { kind: "clear", session_id: "s" },
    { kind: "session_info", session_id: "s", title: "the title" },
    { kind: "raw", source: "the source", record: {} },
  ]);
  const { page } = await openPage(server);
  await page.locator(".entry").nth(12).waitFor();
  expect(await page.locator(".entry .text").allTextContents()).toEqual([
    ...["the source", "the title", "s starts afresh", "through #1", "the decision", "the error"],
    ...[
      'look → {"found":1}',
      "assistant: (thinking) hm",
      'assistant: calls look {"at":"it"}',
      "assistant: calls look",
      "user: in parts",
      "answered, 4 characters",
      "the prompt",
    ],
  ]);
});

test.each(["ui/", "ui/sessions", "ui/sessions/worker.js"])("the page works at /%s as it does at /", async (address) => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "seen from every view" });
  const { page, problems } = await openPage(server);
  await page.goto(`${server.address}/${address}`);
  await page.getByText("seen from every view", { exact: true }).waitFor();
  expect(problems).toEqual([]);
});

test("neither the page nor the documentation asks any other server, and nothing is blocked or fails", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "p" });
  const { page, asked, problems } = await openPage(server);
  await page.locator(".entry").waitFor();
  await page.getByRole("link", { name: "Documentation" }).click();
  await page.getByRole("heading", { name: "Talking to Hansard over HTTP" }).waitFor();
  expect(problems).toEqual([]);
  expect(asked.filter((address) => !address.startsWith(`${server.address}/`))).toEqual([]);
});

test("a server that goes away is noticed, and so is its return", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "before" });
  const { page } = await openPage(server);
  await page.getByText("before", { exact: true }).waitFor();
  await server.close();
  await page.getByText("The server does not answer.").waitFor();
  const again = await startServer({ data: server.data, port: Number(new URL(server.address).port) });
  await again.post("/interactions", { prompt: "after" });
  await page.getByText("after", { exact: true }).waitFor();
  expect(await page.getByText("The server does not answer.").isVisible()).toBe(false);
});

test("on a phone nothing is wider than the screen", async () => {
  const server = await startServer();
  await server.post("/interactions", {
    prompt: "long".repeat(200),
    project: "p".repeat(200),
    session_id: "s".repeat(400),
  });
  const { page } = await openPage(server, { width: 360, height: 740 });
  await page.locator(".entry").waitFor();
  const overflow = () => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(await overflow()).toBe(0);
  await page.goto(`${server.address}/docs`);
  expect(await overflow()).toBe(0);
});

async function openPage(
  server: TestServer,
  viewport = { width: 1100, height: 800 },
): Promise<{ page: Page; asked: readonly string[]; problems: readonly string[] }> {
  const page = await browser.newPage({ viewport });
  onTestFinished(() => page.close());
  const asked: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${server.address}/`);
  return { page, asked, problems };
}

test("where the record has keys the page asks for one, shows the record with it, and forgets it with the tab", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "behind the door" });
  const { keys } = server.recorder;
  const { id, key } = await keys.create({ scope: "read" });
  const capture = await keys.create({ scope: "capture" });
  const { page } = await openPage(server);
  await page.getByRole("heading", { name: "This record has keys" }).waitFor();
  expect(await page.content()).not.toContain("behind the door");

  const enter = async (text: string): Promise<void> => {
    await page.getByLabel("Key").fill(text);
    await page.getByRole("button", { name: "Open the record" }).click();
  };
  await enter("hansard_none");
  await page.getByText("That key is not known here, or was revoked.").waitFor();
  await enter(capture.key);
  await page.getByText("That key may not read.").waitFor();
  await enter(key);
  await page.getByText("behind the door", { exact: true }).waitFor();
  expect(page.url()).not.toContain("hansard_");
  await page.getByRole("link", { name: "#1", exact: true }).click();
  await page.getByText('"prompt": "behind the door"').waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  await page.reload();
  await page.getByText("behind the door", { exact: true }).waitFor();
  const elsewhere = await openPage(server);
  await elsewhere.page.getByRole("heading", { name: "This record has keys" }).waitFor();
  await elsewhere.page.close();
  expect(await page.getByRole("heading", { name: "This record has keys" }).isVisible()).toBe(false);

  await keys.revoke(id);
  await page.getByRole("heading", { name: "This record has keys" }).waitFor();
  await expect.poll(() => page.content()).not.toContain("behind the door");
});
