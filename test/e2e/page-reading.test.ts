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
