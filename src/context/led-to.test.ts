// Where what was given was recorded first, and what came of an answer.
import { expect, test } from "vitest";
import { asked, recorded, says, toResult } from "../../test/support/asked-answers.js";
import { assistant, call, type SessionEntry, user } from "../../test/support/recorded-session.js";

test("each exact message leads to the first entry that says it, and an answer to what came of it", async () => {
  const sent = [says("user", [{ type: "text", text: "fix it" }]), says("assistant", "done"), says("user", "again")];
  const recorder = await recorded(
    ...[asked("fix it", { messages: sent.slice(0, 1) }, { response: "done" }), asked("again", { messages: sent })],
    ...[
      { kind: "tool_call", tool: "run", result: "no", is_error: true },
      { kind: "error", error: "it broke" },
    ],
    ...[{ kind: "feedback", entry_id: "e2", score: -1, comment: "no" }, asked("why?", { messages: sent })],
  );
  const context = await recorder.context("e2");
  expect(context?.messages.map(({ entry_id }) => entry_id)).toEqual(["e1", "e1", "e2"]);
  expect(context?.led_to).toEqual({
    tool_calls: [{ entry_id: "e3", position: 3, tool: "run", is_error: true }],
    errors: [{ entry_id: "e4", position: 4, error: "it broke" }],
    feedback: [{ entry_id: "e5", position: 5, score: -1, label: "", comment: "no" }],
    next: { entry_id: "e6", position: 6, text: "why?" },
  });
});

test("a call that names no answer came from the one before, unless the user has spoken since; both ways agree", async () => {
  const ran = (tool_call_id: string): SessionEntry => ({ kind: "tool_call", tool: "run", result: "r", tool_call_id });
  const resultOf = { kind: "message", role: "user", content: [toResult(0)("c")] } as SessionEntry;
  const recorder = await recorded(
    ...[asked("go", { messages: [says("user", "go")] }), ran("unknown"), ran(""), resultOf, ran("")],
    ...[user("and now?"), ran(""), assistant("", "a", "b"), ran("a"), assistant("", "c"), ran("b"), ran("c")],
  );
  const answers = { e2: "e1", e3: "e1", e5: "e1", e7: "e7", e9: "e8", e11: "e8", e12: "e10" };
  for (const [id, entry_id] of Object.entries(answers)) {
    expect((await recorder.context(id))?.answer, id).toMatchObject({ entry_id });
  }
  expect(await recorder.context("e2")).toMatchObject({ exact: true, messages: [says("user", "go")] });
  for (const [id, calls] of Object.entries({ e1: ["e2", "e3", "e5"], e8: ["e9", "e11"], e10: ["e12"] })) {
    const found = (await recorder.context(id))?.led_to.tool_calls.map(({ entry_id }) => entry_id);
    expect(found, id).toEqual(calls);
  }
});

test("what a loop records nowhere but with what it sends leads to the first answer that was given it", async () => {
  const calls = { role: "assistant", content: null, tool_calls: [call("c")] };
  const seen = says("user", [{ type: "tool_result", tool_use_id: "c", content: "42 files" }]);
  const sent = [says("system", "be brief"), says("user", "count"), calls, seen, says("tool", "43 files")];
  const recorder = await recorded(
    ...[asked("count", { messages: sent.slice(0, 2) }), asked("count", { messages: sent.slice(0, 4) })],
    asked("count", { messages: sent }),
  );
  const leads = async (id: string): Promise<unknown> =>
    (await recorder.context(id))?.messages.map(({ entry_id }) => entry_id);
  expect(await leads("e3")).toEqual(["e1", "e1", "e2", "e2", undefined]);
  expect(await leads("e2")).toEqual(["e1", "e1", undefined, undefined]);
  expect(await leads("e1")).toEqual([undefined, "e1"]);
});
