// A session for people, as GitHub shows it: title, prompts as quotes, answers as Markdown, calls folded, no bookkeeping.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";

const at = { session_id: "s", created_at: "2026-05-04T08:00:00Z" };

test("prompts are quotes, answers Markdown, a call is one line with its output folded, and raw records are left out", async () => {
  const { recorder, ...bench } = importBench();
  const call = { id: "c1", type: "function", function: { name: "grep", arguments: '{"pattern":"till <b>"}' } };
  await recorder.append([
    { kind: "session_info", title: "The *till*", metadata: { cwd: "/srv/shop" }, ...at },
    { kind: "raw", source: "claude-code", record: { type: "summary" }, ...at },
    { kind: "message", role: "user", content: "Why?\n\nTell me.", ...at },
    { kind: "message", role: "assistant", content: "## Plan\n\nLet me `<look>`.", tool_calls: [call], ...at },
    { kind: "tool_call", tool: "grep", args: { pattern: "till <b>" }, result: "a ``` b", tool_call_id: "c1", ...at },
    { kind: "message", role: "assistant", content: "Found **it**.", ...at },
    { kind: "error", error: "boom", ...at },
  ]);
  expect(await bench.export({ format: "markdown", session_id: "s" })).toBe(
    [
      ...["# The \\*till\\*", ""],
      ...["Session s · 2026-05-04 08:00 to 2026-05-04 08:00 UTC · 1 prompt · 1 failure", ""],
      ...["## 1 · 2026-05-04 08:00 UTC", "", "> Why?", ">", "> Tell me.", ""],
      ...["#### Plan", "", "Let me `<look>`.", ""],
      ...["<details><summary>grep <code>till &lt;b&gt;</code></summary>", ""],
      ...["````", "a ``` b", "````", "", "</details>", ""],
      ...["Found **it**.", "", "**Error:** boom", "", ""],
    ].join("\n"),
  );
});

test("recorded text ends with its entry: no HTML, no image, no open fence", async () => {
  const { recorder, ...bench } = importBench();
  await recorder.append([
    { kind: "message", role: "user", content: "</blockquote><script>alert(1)</script>\n```\nopen", ...at },
    {
      kind: "message",
      role: "assistant",
      content: "![x](http://tracker)\n\n</details> `a` <img src=x> ~~~\n~~~~\nend",
      ...at,
    },
    { kind: "message", role: "assistant", content: "Next.", ...at },
    { kind: "tool_call", tool: "x</summary><b>", args: {}, result: "```\n</details>", is_error: true, ...at },
  ]);
  const text = await bench.export({ format: "markdown", session_id: "s" });
  expect(text).toContain("> &lt;/blockquote>&lt;script>alert(1)&lt;/script>\n> ```\n> open\n> ```\n\n");
  expect(text).toContain("\\![x](http://tracker)\n\n&lt;/details> `a` &lt;img src=x> ~~~\n~~~~\nend\n~~~~\n\nNext.\n");
  expect(text).toContain(
    "<details><summary>x&lt;/summary&gt;&lt;b&gt; — <b>failed</b></summary>\n\n````\n```\n</details>\n````\n",
  );
});

test("a call without a result says so, and results of messages stand with their calls", async () => {
  const { recorder, ...bench } = importBench();
  const call = (id: string) => ({ id, type: "function", function: { name: "ls", arguments: '{"path":"."}' } });
  await recorder.append([
    { kind: "message", role: "user", content: "Go", ...at },
    { kind: "message", role: "assistant", content: null, tool_calls: [call("a"), call("b")], ...at },
    { kind: "message", role: "tool", tool_call_id: "a", content: "x.ts", ...at },
    { kind: "message", role: "assistant", content: "Done", ...at },
  ]);
  const text = await bench.export({ format: "markdown", session_id: "s" });
  expect(text).toContain("<details><summary>ls <code>.</code></summary>\n\n```\nx.ts\n```");
  expect(text).toContain("<p>ls <code>.</code> — <b>no result</b></p>\n\nDone");
});
