// The page in a real browser: what is recorded appears on it at once, as text and nothing else, behind its door.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startServer } from "./http-client.js";
import { browserOfFile, overflowOf } from "./page-browser.js";

const open = browserOfFile();

test("an empty store shows how to record the first entry, and shows it once it is there", async () => {
  const server = await startServer();
  const { page } = await open(`${server.address}/`);
  await page.getByRole("heading", { name: "Nothing recorded yet" }).waitFor();
  await page.getByText(`curl ${server.address}/interactions`).waitFor();
  await page.getByText(`hansard import --data ${server.address}`).waitFor();
  await page.getByText(`openRecorder({ data: "${server.address}" })`).waitFor();
  await server.post("/interactions", { prompt: "Is it there?\nSecond line", project: "atlas", session_id: "cli:anna" });
  await page.locator(".day-rows li", { hasText: "Is it there?" }).first().waitFor();
  await page.getByRole("heading", { name: /atlas/ }).waitFor();
  expect(await page.getByRole("heading", { name: "Nothing recorded yet" }).isVisible()).toBe(false);
  await page.getByRole("link", { name: "Is it there?" }).first().click();
  await page.getByText("Second line").first().waitFor();
  expect(page.url()).toBe(`${server.address}/ui/sessions/cli%3Aanna`);
});

test("the first screen takes less than 150 KB of compressed script", async () => {
  const server = await startServer();
  const { page } = await open(`${server.address}/ui/entries`);
  await page.getByRole("heading", { name: "Nothing recorded yet" }).waitFor();
  const sizes = await page.evaluate<readonly number[]>(
    "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map((each) => each.encodedBodySize)",
  );
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(150_000);
});

test("recorded text is shown as text, whatever it contains", async () => {
  const server = await startServer();
  const prompt = '<script>document.title = "owned"</script><img src=x onerror="document.title=1"><b>bold</b>';
  const bidi = "\u202Eevil\u202C \u001b[31mred\u001b[0m";
  const markdown = "![x](https://example.com/x.png) [click](javascript:alert(1)) <iframe src=/></iframe>";
  await server.post("/interactions", {
    prompt,
    response: `${bidi}\n\n${markdown}`,
    project: "<i>p</i>",
    session_id: "<s>",
  });
  const { page, asked, problems } = await open(`${server.address}/ui/entries`);
  await page.locator(".gist", { hasText: prompt }).waitFor();
  await page.goto(`${server.address}/ui/sessions/%3Cs%3E`);
  await page.locator(".prose", { hasText: prompt }).waitFor();
  await page.getByText("javascript:alert(1)").waitFor();
  expect(await page.title()).toContain("Hansard");
  expect(await page.locator("main :is(b, i, s, img, script, iframe, a[href^='javascript'])").count()).toBe(0);
  expect(asked.filter((address) => !address.startsWith(`${server.address}/`))).toEqual([]);
  expect(problems).toEqual([]);
});

test("every kind has a line with its first words", async () => {
  const server = await startServer();
  await server.post("/entries", [
    { kind: "interaction", id: "i", prompt: "the prompt" },
    { kind: "response", interaction_id: "i", response: "four" },
    { kind: "message", session_id: "s", role: "user", content: [{ type: "text", text: "in parts" }] },
    { kind: "message", session_id: "s", role: "assistant", tool_calls: [{ function: { name: "look" } }] },
    {
      kind: "message",
      session_id: "s",
      role: "assistant",
      content: "",
      thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }],
    },
    { kind: "tool_call", tool: "look", args: { path: "here" }, result: { found: 1 } },
    { kind: "error", error: "the error" },
    { kind: "decision", decision: "the decision" },
    { kind: "consolidation", session_id: "s", through: 1 },
    { kind: "clear", session_id: "s" },
    { kind: "session_info", session_id: "s", title: "the title" },
    { kind: "raw", source: "the source", record: {} },
  ]);
  const { page } = await open(`${server.address}/ui/entries`);
  await page.locator(".entry-line").nth(11).waitFor();
  expect(await page.locator(".entry-line .gist").allTextContents()).toEqual([
    // Entries without a session, then the session that went on meanwhile.
    ...["the source", "the decision", "the error", "look here", "4 characters", "the prompt"],
    ...["the title", "Context cleared.", "through #1", "(thinking) hm", "calls look", "in parts"],
  ]);
});

test("every address below /ui/ is the page's, also of a session that is called like a file", async () => {
  const server = await startServer();
  await server.post("/entries", { kind: "message", session_id: "worker.js", role: "user", content: "from every view" });
  const { page, problems } = await open(`${server.address}/ui/entries`);
  await page.locator(".entry-line", { hasText: "from every view" }).waitFor();
  await page.goto(`${server.address}/ui/sessions`);
  await page.getByRole("link", { name: "from every view" }).waitFor();
  await page.goto(`${server.address}/ui/sessions/worker.js`);
  await page.locator(".line", { hasText: "from every view" }).waitFor();
  await page.goto(`${server.address}/ui/no/such/view`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await page.goto(`${server.address}/docs`);
  await page.getByRole("heading", { name: "Hansard HTTP API" }).waitFor();
  expect(problems).toEqual([]);
});

test("a server that goes away is noticed, and so is its return, and nothing recorded meanwhile is missed", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "before" });
  const { page } = await open(`${server.address}/ui/entries`);
  await page.locator(".entry-line", { hasText: "before" }).waitFor();
  await server.close();
  await page.getByText("Can’t reach the server.").waitFor();
  expect(await page.locator(".entry-line", { hasText: "before" }).isVisible()).toBe(true);
  const again = await startServer({ data: server.data, port: Number(new URL(server.address).port) });
  await again.post("/interactions", { prompt: "after" });
  await page.locator(".entry-line", { hasText: "after" }).waitFor();
  await expect.poll(() => page.getByText("Can’t reach the server.").isVisible()).toBe(false);
});

test("a session that is opened while the server is away comes with it, and one that was open keeps its place", async () => {
  const server = await startServer();
  const said = (session_id: string, count: number): readonly object[] =>
    Array.from({ length: count }, (_, at) => ({
      kind: "message",
      session_id,
      role: "user",
      content: `line ${at} of ${session_id}`,
    }));
  await server.post("/entries", [...said("long", 80), ...said("short", 1)]);
  const { page: reading } = await open(`${server.address}/ui/sessions/long#60`);
  const here = reading.locator(".line[data-here]", { hasText: "line 59 of long" });
  await here.waitFor();
  await reading.locator('.map[data-whole="true"]').waitFor();
  const { page: opening } = await open(`${server.address}/ui/entries`);
  const line = opening.locator(".entry-line", { hasText: "line 0 of short" });
  await line.waitFor();
  await server.close();
  for (const page of [reading, opening]) await page.getByText("Can’t reach the server.").waitFor();
  await line.click();
  await opening.getByLabel("Find in this session").waitFor();
  const again = await startServer({ data: server.data, port: Number(new URL(server.address).port) });
  await opening.locator(".line", { hasText: "line 0 of short" }).waitFor();
  await again.post("/entries", { kind: "message", session_id: "long", role: "user", content: "after it came back" });
  await reading.getByRole("button", { name: "1 new", exact: true }).waitFor();
  await here.waitFor();
  await expect.poll(() => reading.getByText("Can’t reach the server.").isVisible()).toBe(false);
});

test("entries that stream in at 200 a second all arrive, and leave the page responsive", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "first" });
  const { page } = await open(`${server.address}/ui/entries`);
  await page.locator(".entry-line", { hasText: "first" }).waitFor();
  const workingMs = await workOf(page);
  const streamed = (from: number) =>
    Array.from({ length: 40 }, (_, at) => ({
      kind: "message",
      session_id: `s${at % 3}`,
      role: "user",
      content: `streamed ${from + at}`,
    }));
  const startMs = Date.now();
  for (let round = 0; round < 15; round += 1) {
    await server.post("/entries", streamed(round * 40));
    await page.waitForTimeout(200);
  }
  await page.getByText("streamed 599", { exact: true }).waitFor();
  // Of the time that it takes the reader gets the greater part, whatever else this machine does.
  expect(await workingMs()).toBeLessThan((Date.now() - startMs) / 2);
});

/** How long the page's own thread works from now on; while the machine does other things it does not. */
async function workOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const workedMs = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const before = await workedMs();
  return async () => (await workedMs()) - before;
}

test("a verdict that could not be recorded is said to be lost, and its candidate waits again", async () => {
  const server = await startServer();
  const evidence = [{ entry_id: "said", quote: "the ledger wins" }];
  await server.post("/entries", {
    kind: "message",
    id: "said",
    session_id: "s",
    role: "user",
    content: "the ledger wins",
  });
  await server.post("/memories", {
    type: "project",
    content: "The ledger wins",
    evidence,
    status: "candidate",
    source: "person",
  });
  const { page } = await open("about:blank");
  await page.clock.install();
  await page.goto(`${server.address}/ui/memory`);
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText("Accepted “The ledger wins”.").waitFor();
  await server.close();
  await page.clock.runFor(10_000);
  await page.getByText("Not recorded: Can’t reach the server.").waitFor();
  await page.getByRole("button", { name: "Accept" }).waitFor();
});

test("on a phone nothing is wider than the screen", async () => {
  const server = await startServer();
  await server.post("/interactions", {
    prompt: "long".repeat(200),
    project: "p".repeat(200),
    session_id: "s".repeat(400),
  });
  const { page } = await open(`${server.address}/ui/entries`, { viewport: { width: 360, height: 740 } });
  await page.locator(".entry-line").waitFor();
  expect(await overflowOf(page)).toBe(0);
  for (const address of ["/ui/sessions", `/ui/sessions/${"s".repeat(400)}`, "/ui/search?q=long", "/docs"]) {
    await page.goto(`${server.address}${address}`);
    await page
      .getByText(/long|Talking/)
      .first()
      .waitFor();
    expect(await overflowOf(page), address).toBe(0);
  }
});

test("if the record has keys the page asks for one, shows the record with it, and forgets it with the tab", async () => {
  const server = await startServer();
  await server.post("/interactions", { prompt: "behind the door" });
  const { keys } = server.recorder;
  const { id, key } = await keys.create({ scope: "read" });
  const capture = await keys.create({ scope: "capture" });
  const { page } = await open(`${server.address}/ui/entries`);
  await page.getByRole("heading", { name: "Enter an access key" }).waitFor();
  expect(await page.content()).not.toContain("behind the door");

  const enter = async (text: string): Promise<void> => {
    await page.getByLabel("Key").fill(text);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await enter("hansard_none");
  await page.getByText("That key isn’t valid, or was revoked.").waitFor();
  await enter(capture.key);
  await page.getByText("That key cannot read.").waitFor();
  await enter(key);
  const line = page.locator(".entry-line", { hasText: "behind the door" });
  await line.waitFor();
  expect(page.url()).not.toContain("hansard_");

  await page.reload();
  await line.waitFor();
  const elsewhere = await open(`${server.address}/ui/entries`);
  await elsewhere.page.getByRole("heading", { name: "Enter an access key" }).waitFor();
  expect(await page.getByRole("heading", { name: "Enter an access key" }).isVisible()).toBe(false);

  // What is open goes with its key, without anybody asking for it.
  await keys.revoke(id);
  await server.post("/health");
  await page.getByRole("heading", { name: "Enter an access key" }).waitFor();
  await expect.poll(() => page.content()).not.toContain("behind the door");
});
