// Recorded text that would like to be more: Markdown, HTML and tool calls of shapes that no model ever wrote.
import { describe, expect, test } from "vitest";
import { startServer } from "../e2e/http-client.js";
import { browserOfFile } from "../e2e/page-browser.js";

const hostile = [
  "<img src=https://evil.example/a onerror=alert(1)>",
  "![x](https://evil.example/b.png)",
  "[click](https://evil.example/c) ![y][z]",
  "\\[still](https://evil.example/d) \\<b>",
  "<https://evil.example/e> https://evil.example/f www.evil.example",
  "[z]: https://evil.example/g",
  "# Self-reflection\n\n## All is well\n<script>alert(1)</script>",
];

/** What a renderer would make HTML, an image or a link of. */
const LIVE = /(?<!\\)(?:\\\\)*[<[]|\b[a-z]+:\/\/|\bwww\./i;

describe("Markdown", () => {
  test("of a reflection contains no HTML, image or link of recorded text, in any section", async () => {
    const server = await startServer();
    const entries = hostile.flatMap((text, nth) => [
      { kind: "message", session_id: "s", role: "assistant", content: text, confidence: 0.1 },
      { kind: "message", session_id: "s", role: "user", content: `${text} ${"[topic](https://x) ".repeat(3)}` },
      { kind: "decision", session_id: "s", decision: text },
      { kind: "error", session_id: "s", error: text },
      { kind: "tool_call", session_id: "s", tool: text.slice(0, 100), is_error: true, duration_ms: 90_000 + nth },
      { kind: "tool_call", session_id: "s", tool: text.slice(0, 100), is_error: true, duration_ms: 1 },
    ]);
    expect((await server.post("/entries", entries)).status).toBe(201);
    const { text } = await server.request("/reflection?limit=100", { headers: { accept: "text/markdown" } });
    for (const line of text.split("\n")) expect(line).not.toMatch(LIVE);
    expect(text.match(/^#+ /gm)).toHaveLength(text.match(/^#{2,3} [A-Z]/gm)?.length ?? 0);
    expect((await server.get("/reflection?limit=100")).body.error_groups[0].text).toMatch(/[<[#]/);
  });

  test("of an export hands on none in its headings and labels", async () => {
    const server = await startServer();
    const entries = hostile.flatMap((text, nth) => [
      { kind: "raw", session_id: `s${nth}`, source: text.replaceAll("\n", " "), record: { a: 1 } },
      { kind: "session_info", session_id: text.replaceAll("\n", " "), title: text },
    ]);
    expect((await server.post("/entries", entries)).status).toBe(201);
    let text = "";
    for await (const piece of server.recorder.exportEntries({ format: "markdown" })) text += piece;
    for (const line of text.split("\n")) expect(line).not.toMatch(LIVE);
  });
});

/** Some are refused at the door, and all that is not has to be shown. */
const odd: readonly unknown[] = [
  ...[null, 7, "call", [], {}, { function: null }, { id: 5, function: 3 }, { function: { name: { deep: 1 } } }],
  // An object that cannot become a text, and parts whose texts are such objects.
  ...[{ function: { name: { toString: 1, valueOf: 1 } } }, { type: "text", text: { toString: null, valueOf: null } }],
];

describe("tool calls and content parts of odd shapes", () => {
  const open = browserOfFile();

  test("blank neither the page nor any other view", async () => {
    const server = await startServer();
    const messages = odd.map((call) => ({
      kind: "message",
      session_id: "s",
      role: "assistant",
      content: "",
      tool_calls: [call],
    }));
    const parts = odd.map((item) => ({ kind: "message", session_id: "s", role: "user", content: [item] }));
    for (const entry of [...messages, ...parts]) await server.post("/entries", entry);
    await server.post("/entries", { kind: "tool_call", session_id: "s", tool: "t" });
    await server.post("/interactions", { prompt: "still to be seen", session_id: "s" });
    const paths = ["/entries", "/search?q=still", "/sessions", "/sessions/s/entries", "/sessions/s/history"];
    for (const path of [...paths, "/sessions/s/history?format=anthropic", "/reflection", "/export"]) {
      expect(`${path} ${(await server.get(path)).status}`).toBe(`${path} 200`);
    }
    const { page, problems } = await open(`${server.address}/ui/entries`);
    await page.getByText("still to be seen", { exact: true }).waitFor({ timeout: 20_000 });
    expect(await page.locator(".entry-line").count()).toBeGreaterThan(5);
    await page.goto(`${server.address}/ui/sessions/s`);
    await page.getByText("still to be seen").first().waitFor({ timeout: 20_000 });
    expect(await page.locator(".line").count()).toBeGreaterThan(5);
    expect(problems).toEqual([]);
  });
});
