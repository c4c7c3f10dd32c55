// Views: summaries without the long parts, and an interaction together with its response.
import { describe, expect, test } from "vitest";
import type { Entry, EntryOf, Interaction } from "../../model/entry.js";
import { complete, summarise } from "./entry-reader.js";

const envelope = {
  position: 1,
  id: "i",
  created_at: "2026-11-15T06:39:37.123Z",
  recorded_at: "2026-11-15T06:39:37.123Z",
  recorded_by: "",
  session_id: "s",
  project: "p",
  client: "c",
  user_id: "u",
  tags: ["t"],
  parent_id: "",
  hash: "00",
};
const interaction: Interaction = {
  ...envelope,
  kind: "interaction",
  prompt: "p",
  response: "",
  response_summary: "own summary",
  memories_used: ["m1", "m2"],
  chunks_used: ["c1"],
  context_pack: { big: true },
  model: "own model",
  usage: { input_tokens: 1 },
  latency_ms: 5,
  error: "",
  extra: { a: 1, b: 1 },
};
const nothingGiven: EntryOf<"response"> = {
  ...envelope,
  position: 2,
  id: "r",
  kind: "response",
  interaction_id: "i",
  response: "",
  response_summary: "",
  memories_used: [],
  chunks_used: [],
  model: "",
  usage: {},
  error: "",
  extra: {},
};

describe("a summary", () => {
  test("of an interaction leaves out response and context pack, and says how long the response is", () => {
    const { response: _, context_pack: __, ...rest } = interaction;
    expect(summarise({ ...interaction, response: "héllo🙂" })).toEqual({ ...rest, response_chars: 6 });
  });

  test("of a response leaves out the response", () => {
    const { response: _, ...rest } = nothingGiven;
    expect(summarise({ ...nothingGiven, response: "four" })).toEqual({ ...rest, response_chars: 4 });
  });

  test("of any other kind is the entry itself", () => {
    const error: Entry = { ...envelope, kind: "error", error: "e", context: "", extra: {} };
    expect(summarise(error)).toEqual(error);
  });
});

describe("a completed interaction", () => {
  test("keeps its own where the response gives nothing, but is answered", () => {
    expect(complete(interaction, nothingGiven)).toEqual({ ...interaction, response: "", response_id: "r" });
  });

  test("shows what the response gives in place of its own", () => {
    const given = {
      response: "answer",
      response_summary: "its summary",
      model: "its model",
      usage: { output_tokens: 2 },
      latency_ms: 0,
    };
    expect(complete(interaction, { ...nothingGiven, ...given })).toMatchObject({ ...given, response_id: "r" });
    expect(complete(interaction, { ...nothingGiven, ...given }).usage).toEqual({ output_tokens: 2 });
  });

  test("adds references up, each once, its own first", () => {
    const completed = complete(interaction, { ...nothingGiven, memories_used: ["m3", "m1"], chunks_used: ["c0"] });
    expect(completed.memories_used).toEqual(["m1", "m2", "m3"]);
    expect(completed.chunks_used).toEqual(["c1", "c0"]);
  });

  test("adds extra up, and __proto__ is a key like any other", () => {
    const extra = JSON.parse('{"b":2,"__proto__":{"c":3}}');
    const completed = complete(interaction, { ...nothingGiven, extra });
    expect(JSON.stringify(completed.extra)).toBe('{"a":1,"b":2,"__proto__":{"c":3}}');
  });

  test("keeps envelope, prompt and context pack of the interaction", () => {
    const completed = complete(interaction, { ...nothingGiven, response: "answer" });
    expect(completed).toMatchObject({ ...envelope, kind: "interaction", prompt: "p", context_pack: { big: true } });
  });
});
