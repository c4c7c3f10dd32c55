// A session for people: its title above it, and what is no part of the conversation on a line of its own.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";

test("one session has its title and its id on top; what a tool noted for itself takes a line", async () => {
  const { recorder, ...bench } = importBench();
  const at = { created_at: "2026-05-04T08:00:00Z" };
  const call = { id: "c1", type: "function", function: { name: "grep", arguments: '{"q":"till"}' } };
  await recorder.append([
    { kind: "session_info", session_id: "s", title: "The *till*", metadata: { cwd: "/srv/shop" }, ...at },
    { kind: "raw", session_id: "s", source: "claude-code", record: { type: "summary", leaf: { uuid: "u" } }, ...at },
    { kind: "message", session_id: "s", role: "user", content: "Why?", ...at },
    { kind: "message", session_id: "s", role: "assistant", content: "Let me look.", tool_calls: [call], ...at },
  ]);
  const text = await bench.export({ format: "markdown", session_id: "s" });
  const stamp = "· 2026-05-04 08:00:00 UTC";
  expect(text).toBe(
    [
      ...["# The \\*till\\*", "", "Session s", ""],
      ...[`## #1 about the session: The \\*till\\* ${stamp}`, "", "```", '{"cwd":"/srv/shop"}', "```", ""],
      ...[`## #2 raw, claude-code ${stamp}`, "", "```", '{"type":"summary","leaf":{"uuid":"u"}}', "```", ""],
      ...[`## #3 user ${stamp}`, "", "```", "Why?", "```", ""],
      ...[`## #4 assistant ${stamp}`, "", "```", "Let me look.", 'calls grep {"q":"till"}', "```", "", ""],
    ].join("\n"),
  );
  expect(await bench.export({ format: "markdown" })).toMatch(/^# s\n\n## #1 /);
});
