// What a session's page says of the session besides its transcript.
import { expect, test } from "vitest";
import { serverOfFile } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const server = serverOfFile();
const open = browserOfFile();

test("the head says who worked, on what model, how much and for how much, and the tab is named after the session", async () => {
  const of = { session_id: "head", project: "atlas", client: "codex" };
  await server().post("/entries", [
    { ...of, kind: "session_info", title: "Round like the ledger" },
    { ...of, kind: "message", role: "user", content: "Round them" },
    { ...of, kind: "tool_call", tool: "edit", args: { file_path: "src/round.ts" }, result: "ok" },
    {
      ...of,
      kind: "message",
      role: "assistant",
      content: "Rounded.",
      extra: {
        model: "claude-sonnet-4-5",
        usage: { input_tokens: 1_000, output_tokens: 500, cache_read_input_tokens: 3_000 },
      },
    },
  ]);
  const { page, problems } = await open(`${server().address}/ui/sessions/head`);
  await page.getByRole("heading", { name: "Round like the ledger" }).waitFor();
  const facts = page.locator(".session-head .facts");
  await expect
    .poll(() => facts.textContent())
    .toMatch(/^atlas · codex · claude-sonnet-4-5 · .+ · 1 turn · 1 file · 4\.5 k tokens, 75 % cached · \$0\.\d+$/);
  expect(await page.title()).toBe("Round like the ledger · Hansard");
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await expect.poll(() => page.title()).toBe("Sessions · Hansard");
  expect(problems).toEqual([]);
});

/** Turns with a failed call every tenth, and a compaction in the middle. */
function turns(session_id: string, count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => [
    { kind: "message", session_id, role: "user", content: `question ${at + 1}` },
    ...(at % 10 === 4
      ? [{ kind: "tool_call", session_id, tool: "bash", args: { command: "make" }, is_error: true }]
      : []),
    { kind: "message", session_id, role: "assistant", content: `answer ${at + 1}` },
  ]).flat();
}

test("the outline says where turns failed, leads to any of them by mouse and keyboard, and marks the one being read", async () => {
  const entries = turns("outlined", 300);
  await server().post("/entries", entries.slice(0, 200));
  const [newest] = (await server().get("/sessions/outlined/entries?order=desc&limit=1")).body.entries;
  await server().post("/sessions/outlined/consolidate", {
    through: newest.position,
    summary: "What was asked before.",
  });
  await server().post("/entries", [
    ...entries.slice(200),
    { kind: "session_info", session_id: "below", parent: "outlined", title: "Look elsewhere" },
  ]);
  const { page, problems } = await open(`${server().address}/ui/sessions/outlined`);
  const rail = page.getByRole("navigation", { name: "Turns" });
  const current = rail.locator("[aria-current]");
  await expect.poll(() => current.textContent()).toMatch(/^1question 1$/);
  await rail.getByRole("link", { name: "5 question 5 1 failed" }).click();
  await page.locator(".line[data-here]", { hasText: "question 5" }).waitFor();
  await expect.poll(() => current.textContent()).toContain("question 5");
  // The arrow keys move in it, Enter leads on.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".line[data-here]", { hasText: "question 7" }).waitFor();
  expect(await rail.locator("li").count()).toBeLessThan(60);
  await page.keyboard.press("G");
  await expect.poll(() => current.textContent()).toContain("question 300");
  await rail.getByRole("link", { name: "Subagent: Look elsewhere" }).waitFor();
  await rail.locator(".rail-rows").evaluate((rows) => {
    (rows as unknown as { scrollTop: number }).scrollTop = 88 * 28;
  });
  await rail.getByRole("link", { name: "compacted" }).waitFor();
  await page.keyboard.press("t");
  await expect.poll(() => rail.count()).toBe(0);
  await page.getByRole("button", { name: "Turns" }).click();
  await rail.waitFor();
  expect(problems).toEqual([]);
});

test("on a phone the outline is behind a button, and closes once it led somewhere", async () => {
  await server().post("/entries", turns("pocket", 30));
  const { page } = await open(`${server().address}/ui/sessions/pocket`, { viewport: { width: 390, height: 844 } });
  await page.locator(".line").first().waitFor();
  const rail = page.getByRole("navigation", { name: "Turns" });
  expect(await rail.count()).toBe(0);
  await page.getByRole("button", { name: "Turns" }).click();
  await rail.getByRole("link", { name: "15 question 15" }).click();
  await page.locator(".line[data-here]", { hasText: "question 15" }).waitFor();
  expect(await rail.count()).toBe(0);
});

test("a call's row says what it did: the command and its error, the file and its lines, the pattern and its matches", async () => {
  const of = { kind: "tool_call", session_id: "rows" };
  const output = `compiling\nsrc/a.ts(2,1): error TS2345: no such token\nnpm error ${"w".repeat(300)}\nCommand exited with code 2`;
  await server().post("/entries", [
    { kind: "session_info", session_id: "rows", metadata: { cwd: "/srv/tool" } },
    { ...of, tool: "Bash", args: { command: "cd /srv/tool && npm run build" }, result: output, is_error: true },
    { ...of, tool: "Read", args: { file_path: "/srv/tool/src/a.ts", offset: 3, limit: 2 }, result: "x\ny" },
    { ...of, tool: "Write", args: { file_path: "/srv/tool/src/b.ts", content: "one\ntwo\n" }, result: "ok" },
    { ...of, tool: "Grep", args: { pattern: "token", path: "/etc" }, result: "a:1\nb:2\nc:3" },
    { ...of, tool: "mcp__tracker__find", args: { id: "T-1" }, result: "open" },
  ]);
  const more = await server().post("/entries", [
    { kind: "message", session_id: "rows", role: "assistant", content: "And on." },
    {
      ...of,
      tool: "apply_patch",
      args: { input: "*** Begin Patch\n*** Update File: src/c.ts\n@@\n-old\n+new\n+more\n*** End Patch" },
      result: "ok",
    },
    { ...of, tool: "Bash", args: { command: ["bash", "-lc", "\u001b[1mls"] }, result: { exit_code: 0, output: "" } },
    { ...of, tool: "Edit", args: { file_path: 7 }, result: "E".repeat(500), is_error: true },
  ]);
  expect(more).toMatchObject({ status: 201 });
  const { page, problems } = await open(`${server().address}/ui/sessions/rows`);
  const rows = page.locator(".call-line");
  await expect.poll(() => rows.count()).toBe(8);
  await expect.poll(async () => (await rows.allTextContents())[0]).toBe("$npm run build✗ failed exit 2 · 4 lines");
  expect((await rows.allTextContents()).slice(1, 6)).toEqual([
    "Readsrc/a.ts:3–42 lines",
    "Writesrc/b.ts+2 −0 ",
    "Searchtoken in /etc3 matches",
    "tracker › findT-14 B",
    "Patchsrc/c.ts+2 −1 ",
  ]);
  const error = page.getByText("src/a.ts(2,1): error TS2345: no such token", { exact: true });
  await error.waitFor();
  // A line that is cut makes its column no wider.
  const widths = (selector: string) => page.locator(selector).evaluateAll((all) => all.map((each) => each.clientWidth));
  expect(Math.max(...(await widths(".call")))).toBeLessThanOrEqual(Math.max(...(await widths(".line .body"))));
  await rows.first().click();
  await expect.poll(() => page.locator(".call-error").count()).toBe(1);
  expect(problems).toEqual([]);
});
