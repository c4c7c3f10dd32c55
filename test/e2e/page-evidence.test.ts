// What was recorded, set so that it can be read: calls and what came of them, what a search finds, and what is new.
import { expect, test } from "vitest";
import { loadDemo } from "../../src/recorder/demo.js";
import { startServer } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const open = browserOfFile();

/** As agents record them: an answer that says nothing, and its call as an entry of its own. */
function silentCalls(session_id: string, tools: readonly string[]): readonly object[] {
  return tools.flatMap((tool, at) => [
    {
      kind: "message",
      session_id,
      role: "assistant",
      content: "",
      tool_calls: [{ id: `call-${at}`, type: "function", function: { name: tool, arguments: "{}" } }],
    },
    { kind: "tool_call", session_id, tool, tool_call_id: `call-${at}`, args: {}, result: `came of ${tool}` },
  ]);
}

test("answers that only call tools are shown by their calls, which fold if there are many", async () => {
  const server = await startServer();
  const tools = ["read", "read", "grep", "read", "edit", "bash", "bash"];
  await server.post("/entries", [
    { kind: "message", session_id: "s", role: "user", content: "Mend it" },
    ...silentCalls("s", tools),
    { kind: "message", session_id: "s", role: "assistant", content: "Mended" },
  ]);
  const { page } = await open(`${server.address}/ui/sessions/s#4`);
  await page.getByText("Mended").waitFor();
  expect(await page.locator(".line").count()).toBe(3);
  const run = page.locator(".line[data-here]");
  await run.getByText("7 tool calls read ×3, grep, edit, bash ×2").waitFor();
  // What the model was given for the last of them can be asked for all the same.
  await page.keyboard.press("c");
  await run.getByText(/^Given 13 messages/).waitFor();
});

test("an edit is a difference, and long JSON is folded", async () => {
  const server = await startServer();
  const found = Array.from({ length: 80 }, (_, at) => ({ path: `src/file-${at}.ts`, lines: [at, at + 1], score: 0.5 }));
  await server.post("/entries", [
    {
      kind: "tool_call",
      session_id: "s",
      tool: "Edit",
      result: "ok",
      args: { file_path: "a.ts", old_string: "a\nb\nc\nd\none\ntwo\nthree", new_string: "a\nb\nc\nd\none\n2\nthree" },
    },
    { kind: "tool_call", session_id: "s", tool: "find", args: {}, result: JSON.stringify({ total: 80, found }) },
  ]);
  const { page } = await open(`${server.address}/ui/sessions/s`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.locator('.diff-line[data-sign="+"]').waitFor();
  expect((await page.locator(".diff-line").allTextContents()).map((line) => line.trimEnd())).toEqual([
    ...["@@ 2 lines unchanged @@", " c", " d", " one", "-two", "+2", " three"],
  ]);
  await page.getByRole("button", { name: "find" }).click();
  await page.getByText("[80 items]").waitFor();
  expect(await page.getByText("src/file-3.ts").count()).toBe(0);
  await page.getByText("[80 items]").click();
  await page.getByText("src/file-3.ts").waitFor();
  await page.getByRole("button", { name: "Show 30 more" }).click();
  await page.getByText("src/file-79.ts").waitFor();
});

test("a session that was read to its end has nothing new", async () => {
  const server = await startServer();
  const said = Array.from({ length: 700 }, (_, at) => ({
    kind: "message",
    session_id: "s",
    role: "user",
    content: `line ${at}`,
  }));
  await server.post("/entries", said);
  const { page } = await open(`${server.address}/ui/sessions/s`);
  await page.locator('.map[data-whole="true"]').waitFor();
  expect(await page.getByRole("button", { name: /\d new$/ }).count()).toBe(0);
  await server.post("/entries", { kind: "message", session_id: "s", role: "user", content: "the newest" });
  await page.getByRole("button", { name: "1 new", exact: true }).waitFor();
});

test("after the last match of a session comes the first of the next one, if a search led here", async () => {
  const server = await startServer();
  const said = (session_id: string, ...contents: readonly string[]): readonly object[] =>
    contents.map((content) => ({ kind: "message", session_id, role: "user", content }));
  await server.post("/entries", [...said("older", "a comet", "nothing", "comet again"), ...said("newer", "one comet")]);
  const { page } = await open(`${server.address}/ui/search?q=comet`);
  await page.locator(".entry-line", { hasText: "one comet" }).click();
  const here = page.locator(".line[data-here]");
  await here.getByText("one").waitFor();
  const found = page.locator(".find output");
  await expect.poll(() => found.textContent()).toBe("1 of 1");
  await page.keyboard.press("n");
  await expect.poll(() => here.textContent()).toContain("a comet");
  await expect.poll(() => found.textContent()).toBe("1 of 2");
  await page.keyboard.press("n");
  await expect.poll(() => here.textContent()).toContain("comet again");
  await page.keyboard.press("p");
  await expect.poll(() => here.textContent()).toContain("a comet");
  await page.keyboard.press("p");
  await expect.poll(() => here.textContent()).toContain("one comet");
});

test("an entry recorded long after it happened does not appear as new", async () => {
  const server = await startServer();
  const now = Date.now();
  const old = Array.from({ length: 150 }, (_, at) => ({
    kind: "message",
    session_id: "old",
    role: "user",
    content: `old ${at}`,
    created_at: new Date(now - 86_400_000 - at * 60_000).toISOString(),
  }));
  await server.post("/entries", [{ kind: "message", session_id: "s", role: "user", content: "newest" }, ...old]);
  const { page } = await open(`${server.address}/ui/entries`);
  await page.locator(".entry-line", { hasText: "newest" }).waitFor();
  await server.post("/entries", { kind: "message", session_id: "s", role: "user", content: "just now" });
  await page.locator(".entry-line", { hasText: "just now" }).waitFor();
  const gists = await page.locator(".entry-line .gist").allTextContents();
  expect(gists.slice(0, 4)).toEqual(["just now", "newest", "old 0", "old 1"]);
});

test("names of tools complete themselves, sessions are sorted by cost, and memories have bars over time", async () => {
  const server = await startServer();
  await loadDemo(server.recorder, Date.now());
  const { page } = await open(`${server.address}/ui/sessions`);
  await page.getByRole("button", { name: "Cost" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBe("cost");
  const costs = async () => (await page.locator("td.cost").allTextContents()).map((cost) => Number(cost.slice(1)) || 0);
  // The sessions and their costs load separately, so there may be no row yet.
  const isSorted = (all: readonly number[]) => all.length > 1 && all.every((cost, at) => cost <= (all[at - 1] ?? cost));
  await expect.poll(async () => isSorted(await costs())).toBe(true);
  await page.keyboard.press("/");
  await page.keyboard.type("tool:read");
  await page.getByRole("option", { name: "tool:read_file" }).click();
  await expect.poll(() => page.getByLabel("Search the record").inputValue()).toBe("tool:read_file ");
  await page.goto(`${server.address}/ui/memory?tab=active`);
  const bars = page.locator("li", { hasText: "The ledger always wins" }).locator('.uses rect:not([height="0"])');
  await expect.poll(() => bars.count()).toBe(2);
});

test("several candidates are judged at once", async () => {
  const server = await startServer();
  await loadDemo(server.recorder, Date.now());
  const { page } = await open(`${server.address}/ui/memory`);
  await page.getByLabel("Choose Always run make unlock before a second deploy").check();
  await page.getByLabel("Choose Use banker's rounding for all invoice totals").check();
  await page.getByRole("button", { name: "Reject 2" }).click();
  await page.getByRole("heading", { name: "3 candidates" }).waitFor();
  const rejected = (await server.get("/memories?status=rejected")).body.memories;
  expect(rejected.map(({ content }: { content: string }) => content)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Always run make/), expect.stringMatching(/^Use banker's/)]),
  );
});
