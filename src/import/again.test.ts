// Sessions of an older version, derived again: what names other entries of a session names their new ones.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";
import type { JsonObject } from "../model/json.js";
import { hashOf } from "./claude-code/sent-requests.js";

const timestamp = "2026-05-04T08:00:00.000Z";
const session_id = "s-1";

/** A bench whose store has the session as an older version left it: known, with one answer. */
async function olderBench(tool: string) {
  const bench = importBench();
  const about = { session_id, client: tool, created_at: timestamp };
  const source = { tool, path: "/a.jsonl" };
  await bench.recorder.append({ kind: "session_info", id: `${tool}:info`, ...about, metadata: { source } });
  const said = { role: "assistant", content: "hello" };
  await bench.recorder.append({ kind: "message", id: `${tool}:m1`, ...about, ...said });
  return bench;
}

test("the requests of Claude Code's answers are put together from the new entries", async () => {
  const bench = await olderBench("claude-code");
  const sent = (role: string, words: string): JsonObject => ({ role, content: [{ type: "text", text: words }] });
  const [rules, hello, more] = [sent("user", "Wear the veil."), sent("assistant", "hello"), sent("user", "more")];
  const facts = { sessionId: session_id, timestamp, version: "2.1.327" };
  const blob = (message: JsonObject): object => ({
    ...facts,
    type: "api-request-blob",
    hash: hashOf(message),
    message,
  });
  const request = (id: string, base: object, tail: readonly JsonObject[]): object => ({
    ...{ ...facts, type: "api-request", id, shapeHash: "h", ...base, tail: tail.map(hashOf), params: {} },
  });
  const answer = (id: string, words: string): object => ({
    ...{ ...facts, type: "assistant", uuid: `line-${id}` },
    message: { id, role: "assistant", model: "m", content: [{ type: "text", text: words }] },
  });
  const shape = { system: [{ type: "text", text: "Be kind." }], tools: [] };
  const path = bench.write("a.jsonl", [
    ...[
      { ...facts, type: "api-request-shape", shapeHash: "h", shape },
      blob(rules),
      request("r1", { keep: 0 }, [rules]),
    ],
    ...[answer("m1", "hello"), blob(more), request("r2", { base: "r1", keep: 1 }, [hello, more]), answer("m2", "done")],
    // The rules once more, at another place.
    ...[request("r3", { keep: 0 }, [hello, rules]), answer("m3", "again")],
  ]);
  expect(await bench.import(path, { again: true })).toMatchObject({ rejected: [] });
  const answers = (await bench.entries()).filter(
    (entry) => entry.kind === "message" && entry.extra.message_id !== undefined,
  );
  const given = [];
  for (const { id } of answers) {
    const { exact, messages = [], system } = (await bench.recorder.context(id)) ?? {};
    given.push({ exact, system, messages: messages.map(({ entry_id: _, ...message }) => message) });
  }
  const rest = { exact: true, system: shape.system };
  const expected = [[rules], [rules, hello, more], [hello, rules]];
  expect(given).toEqual(expected.map((messages) => ({ ...rest, messages })));
  expect(await bench.import(path, { again: true })).toMatchObject({ added: 0 });
});

test("a list of what stays after Codex's compaction names the new entries", async () => {
  const bench = await olderBench("codex");
  const line = (type: string, payload: object): object => ({ timestamp, type, payload });
  const said = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });
  const path = bench.write("rollout-a.jsonl", [
    ...[line("session_meta", { id: session_id }), line("response_item", said("user", "first"))],
    ...[line("response_item", said("assistant", "one")), line("event_msg", { type: "user_message", message: "first" })],
    line("compacted", { message: "Summary.", replacement_history: [said("user", "first"), said("user", "Summary.")] }),
    line("response_item", said("assistant", "two")),
  ]);
  expect(await bench.import(path, { again: true })).toMatchObject({ rejected: [] });
  const [answer] = (await bench.entries()).filter((entry) => entry.kind === "message" && entry.content === "two");
  const context = await bench.recorder.context(answer?.id ?? "");
  expect(context?.messages.map(({ content }) => content)).toEqual(["first", "Summary."]);
});
