// What a model was given, by the sentences of the specification: exact where it was recorded, else the session as it was.
import { describe, expect, test } from "vitest";
import { asked, recorded, says, toResult } from "../../test/support/asked-answers.js";
import { assistant, call, result, type SessionEntry, system, user } from "../../test/support/recorded-session.js";

describe("an exact context", () => {
  test("is what the caller recorded, with system, tools, the rest of the pack and what was used", async () => {
    const messages = [says("system", "be brief"), says("user", "hello?"), { ...says("tool", "r"), tool_call_id: "c" }];
    const pack = { messages, system: ["s"], tools: [{ name: "run" }], text: "rest" };
    const recorder = await recorded(asked("hello", pack, { memories_used: ["m1"], chunks_used: ["c1"] }));
    expect(await recorder.context("e1")).toEqual({
      answer: { entry_id: "e1", position: 1 },
      exact: true,
      source: "context_pack",
      messages,
      system: ["s"],
      tools: [{ name: "run" }],
      pack: { text: "rest" },
      memories: ["m1"],
      chunks: ["c1"],
      tokens: expect.any(Number),
      led_to: { tool_calls: [], errors: [], feedback: [] },
    });
  });

  test("a provider's request is named as what it is, and serves the assistant's message of the same answer", async () => {
    const extra = { message_id: "msg_1", request: { max_tokens: 9 } };
    const recorder = await recorded(
      ...[user("from the transcript"), { ...assistant("a"), extra: { message_id: "msg_1" } }],
      asked("sent", { messages: [says("user", "sent")] }, { extra }),
    );
    const context = await recorder.context("e2");
    expect(context).toMatchObject({ exact: true, source: "request", messages: [says("user", "sent")] });
    expect(context?.answer).toEqual({ entry_id: "e2", position: 2 });
  });

  test("messages that are none keep their text, whatever their shape; a list that is none was not recorded", async () => {
    const odd = [
      null,
      "bare",
      { role: null, content: "x" },
      { content: ["y", 3] },
      { role: "user", entry_id: "theirs" },
    ];
    const recorder = await recorded(asked("p", { messages: odd }), asked("q", { messages: "not a list" }));
    expect((await recorder.context("e1"))?.messages).toEqual([
      ...[
        { role: "", content: null },
        { role: "", content: "bare" },
        { role: "", content: "x" },
      ],
      ...[{ role: "", content: ["y", 3] }, { role: "user" }],
    ]);
    expect(await recorder.context("e2")).toMatchObject({ exact: false, pack: { messages: "not a list" } });
    expect(await recorder.told("e2", "NOT A list")).toMatchObject({
      verdict: "given",
      given: [{ role: "context_pack" }],
    });
    expect(await recorder.told("e1", "bare")).toMatchObject({ verdict: "given", given: [{ role: "" }] });
  });

  test("differs from the turn before by the byte, each message as often as it was given", async () => {
    const then = [says("system", "rule"), says("user", "same"), says("user", "same"), says("user", "Byte")];
    const now = [says("user", "same"), says("user", "byte"), says("user", "new")];
    const recorder = await recorded(asked("a", { messages: then }), asked("b", { messages: now }));
    expect((await recorder.context("e1"))?.previous).toBeUndefined();
    expect((await recorder.context("e2"))?.previous).toEqual({
      entry_id: "e1",
      kept: 1,
      added: [1, 2],
      removed: [says("system", "rule"), says("user", "same"), says("user", "Byte")].map((gone) => {
        return { ...gone, entry_id: "e1" };
      }),
      system: "same",
      tools: { added: [], removed: [] },
    });
  });

  test("differs from the turn before in its system prompt and its tools, by name", async () => {
    const messages = [says("user", "go")];
    const then = { messages, system: "Be kind.", tools: [{ name: "read" }, { function: { name: "write" } }] };
    const now = { messages, system: [{ text: "Be brief." }], tools: [{ name: "read" }, { name: "run" }] };
    const recorder = await recorded(asked("a", then), asked("b", now));
    const change = (await recorder.context("e2"))?.previous;
    expect(change).toMatchObject({ system: "changed", tools: { added: ["run"], removed: ["write"] } });
  });
});

describe("a context that was not recorded", () => {
  test("is the session's history before the answer, each message with its entry", async () => {
    const recorder = await recorded(
      ...[system("be kind"), user("q1"), assistant("a1", "c1"), result("c1", "seen"), assistant("a2"), user("later")],
    );
    expect(await recorder.context("e5")).toMatchObject({
      exact: false,
      source: "history",
      memories: [],
      chunks: [],
      messages: [
        { ...says("system", "be kind"), entry_id: "e1" },
        { ...says("user", "q1"), entry_id: "e2" },
        { ...says("assistant", "a1"), tool_calls: [call("c1")], entry_id: "e3" },
        { ...says("tool", "seen"), tool_call_id: "c1", entry_id: "e4" },
      ],
      previous: { entry_id: "e3", kept: 2, added: [2, 3], removed: [] },
    });
  });

  test("of an interaction ends with its prompt, without responses that came later", async () => {
    const recorder = await recorded(...[asked("p1", undefined, { response: "" }), asked("p2", undefined)], {
      kind: "response",
      interaction_id: "e1",
      response: "late",
    });
    const given = [
      { ...says("user", "p1"), entry_id: "e1" },
      { ...says("user", "p2"), entry_id: "e2" },
    ];
    expect((await recorder.context("e2"))?.messages).toEqual(given);
    expect((await recorder.context("e3"))?.answer.entry_id).toBe("e1");
  });

  test("begins where the history began then: markers that came later change nothing", async () => {
    const recorder = await recorded(
      ...[user("old"), assistant("a"), { kind: "clear" }, user("new"), assistant("b"), { kind: "clear" }],
      { kind: "withdrawal", withdraws: 4 },
    );
    expect((await recorder.context("e2"))?.messages).toEqual([{ ...says("user", "old"), entry_id: "e1" }]);
    expect((await recorder.context("e5"))?.messages).toEqual([{ ...says("user", "new"), entry_id: "e4" }]);
  });

  test("of a tool call is that of the answer which made it, of an error that of the answer before", async () => {
    const recorder = await recorded(
      ...[user("q"), assistant("", "c1"), { kind: "tool_call", tool: "run", tool_call_id: "c1", result: "no" }],
      ...[{ kind: "error", error: "it broke" }, user("next")],
    );
    for (const id of ["e3", "e4"]) {
      expect(await recorder.context(id), id).toMatchObject({
        answer: { entry_id: "e2" },
        messages: [says("user", "q")],
      });
    }
    await expect(recorder.context("e5")).rejects.toMatchObject({ code: "field_invalid", field: "id" });
    expect(await recorder.context("none")).toBeUndefined();
    expect(await recorder.told(99, "x")).toBeUndefined();
  });
});

describe("told", () => {
  test("given: every place, how far from the end, compared as a search compares", async () => {
    const messages = [says("system", "Never PUSH\nto main."), says("user", "go"), says("user", "push again")];
    const recorder = await recorded(asked("go", { messages, tools: [{ name: "push_it" }] }));
    const told = await recorder.told("e1", "push");
    expect(told).toMatchObject({ verdict: "given", exact: true, first_given: { entry_id: "e1" } });
    expect(told?.given.map(({ role }) => role)).toEqual(["tools", "system", "user"]);
    const distances = told?.given.map(({ tokens_from_end }) => tokens_from_end) ?? [];
    expect(distances).toEqual([...distances].sort((left, right) => right - left));
    expect(await recorder.told("e1", "push\nto")).toMatchObject({ verdict: "given" });
    expect(await recorder.told("e1", "push to")).toMatchObject({ verdict: "given" });
    expect(await recorder.told("e1", "pushed to")).toMatchObject({ verdict: "never", given: [] });
  });

  test("the prompt was given, although the recorded messages lack it", async () => {
    const recorder = await recorded(asked("the very question", { messages: [says("user", "before")] }));
    expect(await recorder.told("e1", "very question")).toMatchObject({ verdict: "given", given: [{ entry_id: "e1" }] });
  });

  test("fell out of recorded contexts: since when, and by a marker or by the agent", async () => {
    const ruled = { messages: [says("system", "use tabs"), says("user", "a")] };
    const bare = { messages: [says("user", "b")] };
    const recorder = await recorded(
      ...[asked("a", ruled), asked("a2", ruled), asked("b", bare), { kind: "clear" }, asked("c", bare)],
    );
    const ends = { last_given: { entry_id: "e2", position: 2 }, first_given: { entry_id: "e1", position: 1 } };
    expect(await recorder.told("e3", "use tabs")).toMatchObject({ verdict: "fell_out", why: "removed", ...ends });
    expect(await recorder.told("e5", "use tabs")).toMatchObject({ verdict: "fell_out", why: "clear", ...ends });
    expect(await recorder.told("e5", "use spaces")).toEqual({
      verdict: "never",
      exact: true,
      given: [],
      answer: { entry_id: "e5", position: 5 },
    });
  });

  test("the summary of a consolidation is given, until the next one or a clear; a system's words outlast both", async () => {
    const recorder = await recorded(
      ...[{ kind: "message", role: "system", content: "be brief" }, user("q"), assistant("a")],
      ...[{ kind: "consolidation", through: 3, summary: "they agreed" }, user("go"), assistant("done")],
      ...[{ kind: "consolidation", through: 6, summary: "they went" }, user("on"), assistant("fine")],
      ...[{ kind: "clear" }, user("new"), assistant("yes")],
    );
    expect(await recorder.told("e6", "they AGREED")).toMatchObject({ verdict: "given", given: [{ entry_id: "e4" }] });
    expect(await recorder.told("e9", "they agreed")).toMatchObject({
      verdict: "fell_out",
      why: "consolidation",
      last_given: { position: 6 },
    });
    expect(await recorder.told("e12", "they went")).toMatchObject({
      verdict: "fell_out",
      why: "clear",
      last_given: { position: 9 },
    });
    expect(await recorder.told("e12", "be brief")).toMatchObject({ verdict: "given", first_given: { position: 3 } });
  });

  test.each([
    ["a line break", "count the lamps\n  of the east", "lamps of the EAST"],
    ["typographic quotes and a dash", "say \u201cnever push\u201d \u2013 ever", 'say "never push" - ever'],
    ["an escape within JSON", JSON.stringify({ cmd: 'echo "two\nwicks"' }), 'echo "two wicks"'],
    ["nothing but punctuation", "what \u2026", "\u2026"],
  ])("fell out although it was written with %s", async (_, text, phrase) => {
    const recorder = await recorded(
      ...[user(text), assistant("yes"), { kind: "consolidation", through: 2 }, user("go"), assistant("done")],
    );
    expect(await recorder.told(5, phrase)).toMatchObject({ verdict: "fell_out", why: "consolidation" });
  });

  test.each<[string, readonly SessionEntry[]]>([
    ["clear", [{ kind: "clear" }]],
    ["consolidation", [{ kind: "consolidation", through: 2 }]],
    ["removed", [{ kind: "withdrawal", withdraws: 1 }]],
    ["window", Array.from({ length: 300 }, (_, at) => [user(`u${at}`), assistant(`a${at}`)]).flat()],
  ])("fell out of the session by %s", async (why, between) => {
    const recorder = await recorded(user("the rule is 7"), assistant("yes"), ...between, user("go"), assistant("done"));
    const last = between.length + 4;
    const told = await recorder.told(last, "rule IS 7");
    expect(told).toMatchObject({
      verdict: "fell_out",
      exact: false,
      why,
      first_given: { entry_id: "e2", position: 2 },
    });
    // 500 messages are shown: with the rule and what was said before the answer, as many as that.
    expect(told?.last_given).toEqual(
      why === "window" ? { entry_id: "e500", position: 500 } : { entry_id: "e2", position: 2 },
    );
  });

  test.each<[string, readonly SessionEntry[]]>([
    ["interactions make two messages each", Array.from({ length: 300 }, (_, at) => asked(`p${at}`, undefined))],
    [
      "one message holds the results of several tools",
      Array.from({ length: 110 }, (_, at) => [
        ...[user(`u${at}`), assistant("", `a${at}`, `b${at}`, `c${at}`), user(["a", "b", "c"].map(toResult(at)))],
      ]).flat(),
    ],
  ])("fell out of a window that fewer entries fill than it has messages: %s", async (_, between) => {
    const first = between[0]?.kind === "interaction" ? [asked("the rule is 7", undefined)] : [user("the rule is 7")];
    const recorder = await recorded(...first, ...between);
    const answers = between.flatMap(({ kind, role }, at) => {
      return kind === "interaction" || role === "assistant" ? [first.length + at + 1] : [];
    });
    const told = await recorder.told(answers.at(-1) as number, "rule is 7");
    expect(told).toMatchObject({ verdict: "fell_out", why: "window", exact: false });
    const last = told?.last_given?.position as number;
    expect(answers).toContain(last);
    expect(await recorder.told(last, "rule is 7")).toMatchObject({ verdict: "given" });
    const next = answers.find((position) => position > last) as number;
    expect(await recorder.told(next, "rule is 7")).toMatchObject({ verdict: "fell_out", why: "window" });
  });

  test.each<[string, readonly SessionEntry[]]>([
    ["a result without its call", [user("q"), { kind: "message", role: "tool", content: "lost", tool_call_id: "c9" }]],
    ["a call without its result", [user("q"), { ...assistant("", "c1"), tool_calls: [call("c1", '{"a":"lost"}')] }]],
    ["an answer before any question", [assistant("lost")]],
    [
      "the arguments of a run that no message asked for",
      [user("q"), { kind: "tool_call", tool: "t", args: { a: "lost" } }],
    ],
    ["errors and decisions", [user("q"), { kind: "error", error: "lost" }, { kind: "decision", decision: "lost" }]],
  ])("what history leaves out was never given: %s", async (_, before) => {
    const recorder = await recorded(...before, assistant("a"), user("next"), assistant("b"));
    const last = before.length + 3;
    expect(await recorder.told(last, "lost")).toMatchObject({ verdict: "never", exact: false });
    expect(await recorder.told(last, "next")).toMatchObject({ verdict: "given" });
  });

  test("a summary of a response was in no model's context, a response that came later was", async () => {
    const recorder = await recorded(
      asked("p1", undefined, { response: "", response_summary: "in short" }),
      asked("p2", undefined),
      { kind: "response", interaction_id: "e1", response: "at length" },
      ...[asked("p3", undefined), { kind: "clear" }, asked("p4", undefined)],
    );
    expect(await recorder.told("e6", "in short")).toMatchObject({ verdict: "never" });
    expect(await recorder.told("e2", "at length")).toMatchObject({ verdict: "never" });
    const given = { entry_id: "e4", position: 4 };
    expect(await recorder.told("e6", "at length")).toMatchObject({
      verdict: "fell_out",
      why: "clear",
      first_given: given,
      last_given: given,
    });
  });

  test("in a session with recorded and unrecorded calls, and messages, each answer has its own", async () => {
    const recorder = await recorded(
      ...[asked("first rule", undefined), asked("b", { text: "recalled rule" }), asked("c", { messages: [] })],
      ...[user("said rule"), assistant("d"), asked("own rule", undefined), assistant("e")],
    );
    const verdicts = async (id: string, text: string) => {
      const told = await recorder.told(id, text);
      return [told?.verdict, told?.exact, told?.first_given?.entry_id, told?.last_given?.entry_id];
    };
    expect(await verdicts("e2", "first rule")).toEqual(["given", false, "e1", undefined]);
    expect(await verdicts("e3", "first rule")).toEqual(["fell_out", true, "e1", "e2"]);
    expect(await verdicts("e7", "first rule")).toEqual(["fell_out", false, "e1", "e2"]);
    expect(await verdicts("e7", "recalled rule")).toEqual(["fell_out", false, "e2", "e2"]);
    expect(await verdicts("e7", "said rule")).toEqual(["given", false, "e5", undefined]);
    expect(await verdicts("e3", "said rule")).toEqual(["never", true, undefined, undefined]);
    expect(await verdicts("e7", "own rule")).toEqual(["fell_out", false, "e6", "e6"]);
  });

  test("requests that were imported behind their transcript come in the order in which they were sent", async () => {
    const named = (message_id: string) => ({ extra: { message_id } });
    const sent = (content: string) => ({ messages: [says("system", content)] });
    const recorder = await recorded(
      ...[user("q1"), { ...assistant("a1"), ...named("m1") }, user("q2"), { ...assistant("a2"), ...named("m2") }],
      ...[asked("q1", sent("use tabs"), named("m1")), asked("q2", sent("use spaces"), named("m2"))],
    );
    expect(await recorder.told("e2", "use tabs")).toMatchObject({ verdict: "given", exact: true });
    expect(await recorder.told("e4", "use tabs")).toMatchObject({
      verdict: "fell_out",
      exact: true,
      last_given: { entry_id: "e5" },
      why: "removed",
    });
    expect(await recorder.told("e2", "use spaces")).toMatchObject({ verdict: "never", exact: true });
  });

  test("a text is one of a part: what only two of them make together was not given", async () => {
    const content = [
      { type: "text", text: "Never" },
      { type: "text", text: "push" },
    ];
    const tools = [{ name: "run", parameters: { description: "Runs  it" } }];
    const recorder = await recorded(
      asked("p", { messages: [says("user", content)], system: [{ text: "Be\nbrief" }], tools }),
    );
    const verdict = async (text: string) => (await recorder.told("e1", text))?.verdict;
    expect(await verdict("NEVER")).toBe("given");
    expect(await verdict("never push")).toBe("never");
    expect(await verdict("neverpush")).toBe("never");
    expect(await verdict("be\nBRIEF")).toBe("given");
    expect(await verdict("be brief")).toBe("given");
    expect(await verdict("runs  it")).toBe("given");
    expect(await verdict("runs it")).toBe("given");
    expect(await verdict("runsit")).toBe("never");
  });

  test("what no answer was given before a clear was never given", async () => {
    const recorder = await recorded(user("lost words"), { kind: "clear" }, user("q"), assistant("a"));
    expect(await recorder.told("e4", "lost words")).toMatchObject({ verdict: "never" });
  });

  test("text that is empty or too long is refused", async () => {
    const recorder = await recorded(asked("p", {}));
    await expect(recorder.told("e1", " \n")).rejects.toMatchObject({
      code: "query_empty",
      field: "q",
      hint: "Give a word or a phrase.",
    });
    await expect(recorder.told("e1", "x".repeat(40_000))).rejects.toMatchObject({ code: "query_too_long", field: "q" });
    await expect(recorder.told("e1", 7 as never)).rejects.toMatchObject({ code: "field_invalid", field: "q" });
    await expect(recorder.context("e1", { masked: "maybe" })).rejects.toMatchObject({ field: "masked" });
  });
});

test("what a part of a pack is called may tell that it is a secret, and its snippet shows none", async () => {
  const recorder = await recorded(asked("p", { messages: [], env: { password: "sesame-open-99x" } }));
  const told = await recorder.told("e1", "sesame");
  expect(told?.verdict).toBe("given");
  expect(JSON.stringify(told)).not.toContain("sesame");
});

test("what was forgotten is in no context: neither what was said nor what was given", async () => {
  const recorder = await recorded(
    ...[user("the secret plan"), assistant("a"), user("q"), assistant("b")],
    asked("x", { messages: [says("user", "the secret plan")] }),
    asked("y", { messages: [says("user", "y")] }),
  );
  await recorder.forget({ entry: "e1", reason: "asked" });
  expect(JSON.stringify(await recorder.context("e4"))).not.toContain("secret");
  expect(await recorder.told("e4", "secret plan")).toMatchObject({ verdict: "never" });
  expect(await recorder.told("e6", "secret plan")).toMatchObject({
    verdict: "fell_out",
    last_given: { entry_id: "e5" },
  });
  await recorder.forget({ entry: "e5", reason: "asked" });
  expect(await recorder.told("e6", "secret plan")).toMatchObject({ verdict: "never" });
  await expect(recorder.context("e5")).rejects.toMatchObject({ code: "entry_not_found" });
});

test("a pack of 10 MB in 10,000 messages is read, compared and asked", async () => {
  const messages = Array.from({ length: 10_000 }, (_, at) =>
    says(at % 2 === 0 ? "user" : "assistant", `${at} ${"word ".repeat(200)}`),
  );
  const recorder = await recorded(
    asked("0", { messages: messages.slice(0, 9_999) }),
    asked("1", { messages: [...messages.slice(0, 5_000), says("user", "one more"), ...messages.slice(5_001)] }),
  );
  const context = await recorder.context("e2");
  expect(context?.messages).toHaveLength(10_000);
  expect(context?.tokens).toBeGreaterThan(2_000_000);
  expect(context?.previous).toMatchObject({ kept: 9_998, added: [5_000, 9_999] });
  expect(await recorder.told("e2", "5000 word")).toMatchObject({ verdict: "fell_out", why: "removed" });
  const told = await recorder.told("e2", "word word");
  expect(told?.given).toHaveLength(50);
});
