// The page with hostile data: entries that are costly to show, and a server that fails.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { serverOfFile, startServer } from "./http-client.js";
import { browserOfFile, overflowOf } from "./page-browser.js";

const open = browserOfFile();
const server = serverOfFile();

const said = (session_id: string, content: unknown, more: object = {}) => ({
  kind: "message",
  session_id,
  role: "assistant",
  content,
  ...more,
});

test("a table of few characters and millions of cells stays text", async () => {
  const wide = `${"|a".repeat(2_000)}\n${"|-".repeat(2_000)}\n${"b\n".repeat(1_900)}`;
  const small = "|head|other|\n|-|-|\n|cell|more|";
  await server().post("/entries", [said("tables", wide), said("tables", small)]);
  const { page, problems } = await open(`${server().address}/ui/sessions/tables#2`);
  await page.getByRole("cell", { name: "cell", exact: true }).waitFor();
  expect(await page.locator(".prose", { hasText: "|a|a|a" }).locator("table").count()).toBe(0);
  expect(problems).toEqual([]);
});

test("errors, decisions, summaries and titles of any length are cut like speech, and opened step by step", async () => {
  const line = "x".repeat(500_000);
  const { status } = await server().post("/entries", [
    { kind: "session_info", session_id: "lines", title: "T".repeat(200_000) },
    { kind: "error", session_id: "lines", id: "long-error", error: line, context: line },
    { kind: "decision", session_id: "lines", decision: line, rationale: line },
    { kind: "feedback", session_id: "lines", entry_id: "long-error", comment: line },
    said("lines", "", { tool_calls: [{ id: "call", function: { name: "run", arguments: line } }] }),
  ]);
  expect(status).toBe(201);
  const { page, problems } = await open(`${server().address}/ui/sessions/lines`);
  await page.locator(".error-text", { hasText: "xxx" }).waitFor();
  const longest = "Math.max(...[...document.querySelectorAll('main *')].map((each) => each.innerHTML.length))";
  await page.locator(".decision", { hasText: "xxx" }).waitFor();
  expect(await page.evaluate<number>(longest)).toBeLessThan(200_000);
  await page.getByRole("button", { name: "Show 488,000 more characters" }).first().click();
  await page.getByRole("button", { name: "Show 388,000 more characters" }).waitFor();
  await page.goto(`${server().address}/ui/sessions`);
  await page.getByRole("link", { name: /^T{200}…$/ }).waitFor();
  expect(problems).toEqual([]);
});

test("ten thousand calls or parts in one message are drawn a hundred first", async () => {
  const calls = Array.from({ length: 10_000 }, (_, at) => ({
    id: `call ${at}`,
    type: "function",
    function: { name: `<b>tool</b> ${at}`, arguments: `{"at":${at}}` },
  }));
  const parts = Array.from({ length: 10_000 }, (_, at) => ({ type: "text", text: `part ${at}.` }));
  await server().post("/entries", [said("many", "calls", { tool_calls: calls }), said("many", parts)]);
  const { page, problems } = await open(`${server().address}/ui/sessions/many`);
  await page.getByText("part 99.", { exact: true }).waitFor();
  expect(await page.getByText("part 100.", { exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: /^10,000 tool calls/ }).click();
  await page.getByRole("button", { name: "<b>tool</b> 99 99" }).waitFor();
  expect(await page.locator(".call").count()).toBe(100);
  await page.locator(".calls").getByRole("button", { name: "Show 9,900 more" }).click();
  await expect.poll(() => page.locator(".call").count()).toBe(1_000);
  expect(problems).toEqual([]);
});

test("memories whose words, projects and quotes are one long word are no wider than the screen, and cut in lists", async () => {
  const word = "w".repeat(280);
  const other = "v".repeat(270);
  const project = "p".repeat(200);
  await server().post("/entries", [
    said("words", word, { id: "long-word", project }),
    said("words", other, { id: "other-word", project, role: "user" }),
  ]);
  const evidence = (entry_id: string, quote: string) => ({
    type: "knowledge",
    content: quote,
    evidence: [{ entry_id, quote }],
  });
  const added = await server().post("/memories", { id: "one-word", ...evidence("long-word", word) });
  const waiting = { id: "waiting-word", status: "candidate", source: "person", ...evidence("other-word", other) };
  expect([added.status, (await server().post("/memories", waiting)).body]).toMatchObject([
    201,
    { status: "candidate" },
  ]);
  const { page, problems } = await open(`${server().address}/ui/memory?tab=active`);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    for (const address of ["/ui/memory?tab=active", "/ui/memory/one-word", "/ui/memory", "/ui/system", "/ui/entries"]) {
      await page.goto(`${server().address}${address}`);
      await page.locator("main h1").waitFor();
      await page
        .getByText(/w{100}|walks|chain/)
        .first()
        .waitFor();
      expect(await overflowOf(page), `${address} at ${width}`).toBe(0);
    }
    await page.goto(`${server().address}/ui/memory?tab=active`);
    const height = await page
      .locator(".memories li")
      .first()
      .evaluate((row) => row.clientHeight);
    expect(height).toBeLessThan(250);
  }
  expect(problems).toEqual([]);
});

test("a letter that a long line repeats is marked as one piece, and however much matches, the page stays small", async () => {
  await server().post("/entries", [said("letters", "z".repeat(50_000)), said("letters", "q ".repeat(25_000))]);
  const { page, problems } = await open(`${server().address}/ui/sessions/letters?q=z`);
  await page.locator(".prose mark").first().waitFor();
  expect(await page.locator(".prose mark").count()).toBe(1);
  // Long words are told where they may break, also where they are marked.
  expect(await page.locator(".prose mark wbr").count()).toBeGreaterThan(5);
  await page.getByLabel("Find in this session").fill("q");
  await expect.poll(() => page.locator(".prose mark").count()).toBe(500);
  expect(problems).toEqual([]);
});

test("an address that cannot be decoded is the page's, and a place beyond the end of a session leads to its end", async () => {
  await server().post("/entries", [said("short", "its first words"), said("short", "its last words")]);
  const { page } = await open("about:blank");
  const answer = await page.goto(`${server().address}/ui/sessions/%E0%A4%A`);
  await page.getByRole("heading", { name: "This session isn’t in this store." }).waitFor();
  expect(answer?.headers()["content-security-policy"]).toContain("script-src 'self'");
  expect((await server().get("/sessions/%E0%A4%A")).headers.get("content-security-policy")).toContain(
    "default-src 'none'",
  );
  for (const [address, words] of Object.entries({ entries: /^There is no entry/, memories: /^There is no memory/ })) {
    await page.goto(`${server().address}/ui/${address}/nowhere`);
    await page.getByRole("alert").getByText(words).waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  }
  await page.goto(`${server().address}/ui/sessions/short#999999`);
  await page.locator(".line[data-here]", { hasText: "its last words" }).waitFor();
  await page.goto("about:blank");
  await page.goto(`${server().address}/ui/sessions/short#${"9".repeat(30)}`);
  await page.locator(".line", { hasText: "its last words" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("sessions that begin with JSON are named after the first words in it", async () => {
  const task = JSON.stringify({ kind: "task", body: { text: "Mend the totals of March", at: 3 } });
  await server().post("/entries", [
    said("json words", task, { role: "user" }),
    said("json title", "yes"),
    { kind: "session_info", session_id: "json title", title: '["Upgrade everything", "now"]' },
  ]);
  const { page } = await open(`${server().address}/ui/sessions`);
  await page.getByRole("link", { name: "Mend the totals of March", exact: true }).waitFor();
  await page.getByRole("link", { name: "Upgrade everything", exact: true }).waitFor();
});

test("a query that is refused says why, and searches no longer", async () => {
  const { page } = await open(`${server().address}/ui/search?q=kind:nothing`);
  await page.getByRole("status").getByText(/kind/).waitFor();
  expect(await page.getByText("Searching").count()).toBe(0);
});

test("entries that arrive while the reader has scrolled down are counted, and none is left out in between", async () => {
  const own = await startServer();
  const stream = (from: number, count: number) =>
    own.post(
      "/entries",
      Array.from({ length: count }, (_, at) => said(`s${from + at}`, `number ${from + at}.`)),
    );
  await stream(0, 150);
  const { page } = await open(`${own.address}/ui/entries`);
  await page.getByText("number 149.", { exact: true }).waitFor();
  await page.evaluate("scrollTo({ top: 400 })");
  for (let from = 150; from < 1_050; from += 300) await stream(from, 300);
  await page.getByRole("button", { name: "900 new entries" }).click();
  await page.getByText("number 1049.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Older entries" }).click();
  await expect.poll(() => numbersOn(page)).toHaveLength(1_000);
  expect(await numbersOn(page)).toEqual(Array.from({ length: 1_000 }, (_, at) => 1_049 - at));
});

function numbersOn(page: Page): Promise<readonly number[]> {
  return page.evaluate<readonly number[]>(
    "[...document.querySelectorAll('.entry-line .gist')].map((each) => Number(/[0-9]+/.exec(each.textContent)[0]))",
  );
}

/** A proxy in between, or a server under load, answers in its place. */
async function failing(page: Page, pattern: string, status: number, body: unknown): Promise<() => Promise<void>> {
  await page.route(pattern, (route) => route.fulfill({ status, json: body }));
  return () => page.unroute(pattern);
}

test("a temporary failure leaves nothing behind: access and summaries are requested again", async () => {
  await server().post("/entries", said("passing", "still there"));
  const { page } = await open("about:blank");
  const refused = { error: { code: "rate_limited", message: "too many requests" } };
  const others = [
    await failing(page, "**/access", 503, refused),
    await failing(page, `${server().address}/sessions/passing`, 503, refused),
  ];
  await page.goto(`${server().address}/ui/sessions/passing`);
  await page.getByText("Too many requests.").waitFor();
  await page.getByText("still there").first().waitFor();
  expect(await page.getByRole("button", { name: "Export" }).count()).toBe(0);
  for (const restore of others) await restore();
  await page.getByRole("button", { name: "Export" }).waitFor();
  await expect.poll(() => page.getByText("Too many requests.").count()).toBe(0);
});

test("an overload error is shown, and the request is retried until it succeeds", async () => {
  await server().post("/entries", said("patient", "worth waiting for", { role: "user" }));
  const { page } = await open("about:blank");
  const refused = { error: { code: "rate_exceeded", message: "too many requests" } };
  const lists: readonly (readonly [address: string, asks: string])[] = [
    ["/ui/entries", "/entries?*"],
    ["/ui/sessions", "/sessions?*"],
    ["/ui/sessions/patient", "/sessions/patient/entries?*"],
    ["/ui/search?q=waiting", "/search?*"],
  ];
  for (const [address, asks] of lists) {
    const restore = await failing(page, `${server().address}${asks}`, 429, refused);
    await page.goto(`${server().address}${address}`);
    await page.getByRole("alert").getByText("Too many requests.").waitFor();
    expect(await page.getByText("Nothing matches").count()).toBe(0);
    await restore();
    await page.getByText("worth waiting for").first().waitFor();
    await expect.poll(() => page.getByText("Too many requests.").count()).toBe(0);
  }
});

test("unexpected answers are reported by status, and never shown as healthy", async () => {
  const { page } = await open("about:blank");
  await failing(page, "**/health", 502, { error: "Bad Gateway" });
  await failing(page, "**/sessions?*", 502, { error: "Bad Gateway" });
  await page.goto(`${server().address}/ui/sessions`);
  await page.getByRole("alert").getByText("The server answered 502.").waitFor();
  expect(await page.locator(".state").textContent()).toBe("Checking the server");
});

test("times in the address that are none are refused in words, and nothing is drawn from them", async () => {
  await server().post("/entries", said("times", "something to draw"));
  const { page, problems } = await open(`${server().address}/ui/entries?since=never&until=x`);
  await page.getByRole("alert").getByText("Try again").waitFor();
  await page.locator(".activity .bar").first().waitFor({ state: "attached" });
  expect(await page.locator(".activity .brush").count()).toBe(0);
  expect(problems.filter((problem) => problem.includes("NaN"))).toEqual([]);
});

test("an answer that cannot be rendered fails in its view alone, and other views go on", async () => {
  const { page } = await open("about:blank");
  await failing(page, "**/memories?*", 200, { memories: [null], pending: 0, next_cursor: null });
  await page.goto(`${server().address}/ui/memory?tab=active`);
  await page.getByRole("alert").getByText("This view failed").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "System" }).click();
  await page.getByRole("heading", { name: "System" }).waitFor();
});
