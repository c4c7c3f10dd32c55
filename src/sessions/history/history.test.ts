// History as specified: where it starts, how much it shows, and what it contains.
import { describe, expect, test } from "vitest";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";
import { assistant, call, recordedSession, result, system, user } from "../../../test/support/recorded-session.js";
import { RecorderError } from "../../model/rejection.js";

const said = (role: string, content: string): object => ({ role, content });

describe("the content of history", () => {
  test("is role and content, in order of position whatever the times say", async () => {
    const session = await recordedSession(
      { ...user("first"), created_at: "2026-11-15T00:00:02Z" },
      { ...assistant("second"), created_at: "2026-11-15T00:00:01Z", confidence: 0.5, extra: { note: 1 } },
    );
    expect(await session.history()).toStrictEqual([said("user", "first"), said("assistant", "second")]);
  });

  test("includes tool_calls, tool_call_id and name if present, and nothing else", async () => {
    const session = await recordedSession({ ...user("q"), name: "ada" }, assistant("let me see", "c1"), {
      ...result("c1", "seen"),
      name: "read",
    });
    expect(await session.history()).toStrictEqual([
      { role: "user", content: "q", name: "ada" },
      { role: "assistant", content: "let me see", tool_calls: [call("c1")] },
      { role: "tool", content: "seen", tool_call_id: "c1", name: "read" },
    ]);
  });

  test("reads null content with tool calls as an empty text", async () => {
    const session = await recordedSession(user("q"), assistant(null, "c1"), result("c1", "r"));
    expect((await session.history())[1]).toMatchObject({ role: "assistant", content: "" });
  });

  test("reads developer as system, timmy as assistant", async () => {
    const session = await recordedSession({ kind: "message", role: "developer", content: "be kind" }, user("q"), {
      kind: "message",
      role: "timmy",
      content: "a",
    });
    expect(await session.history()).toEqual([said("system", "be kind"), said("user", "q"), said("assistant", "a")]);
  });

  test("excludes errors, decisions, notes about the session and raw records", async () => {
    const session = await recordedSession(
      user("q"),
      { kind: "error", error: "e" },
      { kind: "decision", decision: "d" },
      { kind: "session_info", title: "t" },
      { kind: "raw", source: "x", record: { role: "user", content: "no" } },
      assistant("a"),
    );
    expect(await session.history()).toEqual([said("user", "q"), said("assistant", "a")]);
  });

  test("is empty for an unknown session", async () => {
    const session = await recordedSession();
    expect(await session.history()).toEqual([]);
    expect(await session.history({ format: "anthropic" })).toEqual({ system: "", messages: [] });
  });
});

describe("the start of history", () => {
  test("is after the last clear", async () => {
    const session = await recordedSession(user("old"), { kind: "clear" }, user("new"), assistant("a"));
    expect(await session.history()).toEqual([said("user", "new"), said("assistant", "a")]);
  });

  test("is after the greatest through, whichever consolidation came last", async () => {
    const session = await recordedSession(
      ...[user("1"), assistant("2"), user("3"), assistant("4"), user("5")],
      { kind: "consolidation", through: 4 },
      { kind: "consolidation", through: 2 },
    );
    expect(await session.history()).toEqual([said("user", "5")]);
  });

  test("is a user's turn: what others said before it is dropped", async () => {
    const session = await recordedSession(user("1"), assistant("2"), user("3"), assistant("4"));
    expect(await session.history({ max_messages: 3 })).toEqual([said("user", "3"), said("assistant", "4")]);
  });

  test("is the nearest user's message before the window, if the window has none", async () => {
    const session = await recordedSession(user("1"), user("2"), assistant("3"), assistant("4"), assistant("5"));
    expect(await session.history({ max_messages: 3 })).toEqual([
      said("user", "2"),
      ...["4", "5"].map((content) => said("assistant", content)),
    ]);
  });

  test("is a user's message far before the window, past results inside users' messages", async () => {
    const rounds = Array.from({ length: 200 }, (_, nth) => [
      assistant([{ type: "tool_use", id: `c${nth}`, name: "read", input: {} }]),
      user([{ type: "tool_result", tool_use_id: `c${nth}`, content: "seen" }]),
    ]);
    const session = await recordedSession(user("0"), assistant("1"), user("2"), ...rounds.flat());
    const history = await session.history({ max_messages: 5 });
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
    expect([history[0]?.content, history[4]?.tool_call_id]).toEqual(["2", "c199"]);
  });

  test("is never before the boundary, also if there is no user's message after it", async () => {
    const session = await recordedSession(user("1"), { kind: "clear" }, assistant("2"), system("3"));
    expect(await session.history()).toEqual([]);
    expect(await session.history({ max_messages: 1, max_tokens: 1 })).toEqual([]);
  });

  test("is the newest consolidation's summary, as recorded, as one user's message that does not count", async () => {
    const session = await recordedSession(
      ...[system("s"), user("1"), assistant("2"), user("3"), assistant("4")],
      { kind: "consolidation", through: 3, summary: "first" },
      { kind: "consolidation", through: 3, summary: " what\nwas said ", trigger: "auto", tokens_before: 900 },
    );
    const front = [said("system", "s"), said("user", " what\nwas said ")];
    const talk = [said("user", "3"), said("assistant", "4")];
    expect(await session.history()).toEqual([...front, ...talk]);
    expect(await session.history({ max_messages: 2 })).toEqual([...front, ...talk]);
    expect(await session.consolidate(5)).toEqual({ through: 5 });
    expect(await session.history()).toEqual([]);
  });

  test("is a summary alone, if everything was consolidated; a blank one is left out", async () => {
    const session = await recordedSession(user("1"), assistant("2"));
    await session.consolidate(2, { summary: "counting" });
    expect(await session.history()).toEqual([said("user", "counting")]);
    expect(await session.history({ format: "anthropic" })).toEqual({
      system: "",
      messages: [said("user", "counting")],
    });
    const blank = await recordedSession(user("1"), assistant("2"), { kind: "consolidation", through: 2, summary: " " });
    expect(await blank.history()).toEqual([]);
  });

  test("is a summary as the user's message of what follows in the middle of a turn", async () => {
    const session = await recordedSession(
      ...[user("1"), assistant("", "a"), result("a"), assistant("", "b"), result("b"), assistant("", "c"), result("c")],
      { kind: "consolidation", through: 3, summary: "so far" },
    );
    const roles = async (max_messages: number): Promise<readonly string[]> =>
      (await session.history({ max_messages })).map(({ role }) => role);
    expect(await roles(500)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
    expect(await roles(3)).toEqual(["user", "assistant", "tool"]);
    await expect(roles(1)).rejects.toMatchObject({ code: "budget_too_small", least: 2 });
  });

  test("is followed by the messages that the newest consolidation keeps, after its summary; they count", async () => {
    const session = await recordedSession(
      ...[user("1"), assistant("2", "a"), result("a", "3"), user("4"), assistant("5"), user("6")],
      { kind: "consolidation", through: 5, summary: "so far", kept: [4, 3, 2, 2, 5.0, 6, 99] },
    );
    expect((await session.history()).map(({ content }) => content)).toEqual(["so far", "2", "3", "4", "5", "6"]);
    expect((await session.history({ max_messages: 3 })).map(({ content }) => content)).toEqual([
      ...["so far", "4", "5", "6"],
    ]);
    await session.withdraw(4);
    expect((await session.history()).map(({ content }) => content)).toEqual(["so far", "2", "3", "5", "6"]);
  });

  test("after a clear drops the summary and kept messages, and consolidation starts over", async () => {
    const session = await recordedSession(
      ...[system("s"), user("1"), assistant("2"), { kind: "consolidation", through: 3, summary: "gone", kept: [2] }],
      ...[{ kind: "clear" }, user("6"), assistant("7")],
    );
    expect(await session.summary()).toMatchObject({ consolidated_through: 0 });
    expect((await session.history()).map(({ content }) => content)).toEqual(["s", "6", "7"]);
    expect(await session.consolidate(3)).toEqual({ through: 0 });
    expect(await session.consolidate(7, { summary: "new" })).toEqual({ through: 7 });
    expect((await session.history()).map(({ content }) => content)).toEqual(["s", "new"]);
  });

  test("excludes messages of other sessions that a consolidation names by mistake", async () => {
    const session = await recordedSession(
      ...[{ ...user("elsewhere"), session_id: "other" }, user("1"), assistant("2"), user("3")],
      { kind: "consolidation", through: 3, kept: [1, 2] },
    );
    expect((await session.history()).map(({ content }) => content)).toEqual(["1", "3"]);
  });

  test("has all system messages in front, also those before a clear or a consolidation, which do not count", async () => {
    const session = await recordedSession(
      ...[system("s0"), { kind: "clear" }, system("s1"), user("1"), assistant("2"), system("s2"), user("3")],
      { kind: "consolidation", through: 5 },
    );
    const systems = [said("system", "s0"), said("system", "s1"), said("system", "s2")];
    expect(await session.history({ max_messages: 1 })).toEqual([...systems, said("user", "3")]);
  });

  test("has all system messages, however many there are", async () => {
    const systems = Array.from({ length: 2_500 }, (_, index) => system(`s${index}`));
    const session = await recordedSession(...systems, user("q"));
    const history = await session.history();
    expect(history).toHaveLength(2_501);
    expect(history[2_499]).toEqual(said("system", "s2499"));
  });
});

describe("the size of history", () => {
  test.each([0, -1, "0"])("is zero for max_messages %s", async (max_messages) => {
    const session = await recordedSession(system("s"), user("q"));
    expect(await session.history({ max_messages })).toEqual([]);
  });

  test("is 500 messages by default", async () => {
    const talk = Array.from({ length: 600 }, (_, index) =>
      index % 2 === 0 ? user(`${index}`) : assistant(`${index}`),
    );
    const history = await (await recordedSession(...talk)).history();
    expect(history).toHaveLength(500);
    expect(history[0]).toEqual(said("user", "100"));
  });

  test("is counted after repair", async () => {
    const session = await recordedSession(user("1"), assistant("2"), result("nobody's"), assistant(" "), user("3"));
    expect(await session.history({ max_messages: 3 })).toHaveLength(3);
  });

  test("counts a call and its results one by one, and never separates them", async () => {
    const session = await recordedSession(user("1"), user("2"), assistant("3", "a", "b"), result("a"), result("b"));
    const refused = { code: "budget_too_small", field: "max_messages", least: 4 };
    await expect(session.history({ max_messages: 3 })).rejects.toMatchObject(refused);
    expect(await session.history({ max_messages: 4 })).toHaveLength(4);
    expect(await session.history({ max_messages: 5 })).toHaveLength(5);
  });

  test("of one long turn is its opening message and the newest calls with their results", async () => {
    const rounds = Array.from({ length: 300 }, (_, nth) => [assistant("", `c${nth}`), result(`c${nth}`)]);
    const session = await recordedSession(user("q"), ...rounds.flat());
    for (const [max_messages, shown] of [
      [50, 49],
      [500, 499],
      [undefined, 499],
      [601, 601],
    ] as const) {
      const history = await session.history({ max_messages });
      expect([history.length, history[0]?.content, history.at(-1)?.tool_call_id]).toEqual([shown, "q", "c299"]);
    }
    const history = await session.history({ max_tokens: 2_000 });
    expect(history[0]).toEqual(said("user", "q"));
    expect(history.length).toBeGreaterThan(40);
    const refused = await session.history({ max_tokens: 20 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecorderError);
    const { least = 0 } = refused as RecorderError;
    expect(await session.history({ max_tokens: least })).toHaveLength(3);
    await expect(session.history({ max_tokens: least - 1 })).rejects.toMatchObject({ code: "budget_too_small", least });
  });

  test("of an answer without its question is at least two", async () => {
    const session = await recordedSession(user("1"), assistant("2"));
    await expect(session.history({ max_messages: 1 })).rejects.toMatchObject({ code: "budget_too_small", least: 2 });
  });

  test.each(["many", Number.NaN, true])("is refused for max_messages %s", async (max_messages) => {
    const session = await recordedSession(user("q"));
    const refused = session.history({ max_messages: max_messages as number });
    await expect(refused).rejects.toMatchObject({ code: "limit_invalid", field: "max_messages" });
  });

  test("an unknown format is refused", async () => {
    const session = await recordedSession(user("q"));
    const refused = session.history({ format: "gemini" as "openai" });
    await expect(refused).rejects.toMatchObject({ code: "field_invalid", field: "format" });
  });
});

describe("a session of interactions", () => {
  test("reads as prompts and responses; one without a response as its prompt only", async () => {
    const session = await recordedSession(
      { kind: "interaction", prompt: "p1", response: "r1" },
      { kind: "interaction", prompt: "p2" },
    );
    expect(await session.history()).toEqual([said("user", "p1"), said("assistant", "r1"), said("user", "p2")]);
  });

  test("shows a response that came later", async () => {
    const { recorder } = memoryRecorder();
    await recorder.recordInteraction({ id: "i", session_id: "s", prompt: "p" });
    await recorder.completeInteraction("i", { response: "r" });
    expect(await recorder.session("s").history()).toEqual([said("user", "p"), said("assistant", "r")]);
  });

  test("shows them among messages, unless it was imported: a transcript has everything that was said", async () => {
    const entries = [{ kind: "interaction", prompt: "p", response: "r" }, user("q")] as const;
    const session = await recordedSession(...entries);
    expect(await session.history()).toEqual([said("user", "p"), said("assistant", "r"), said("user", "q")]);
    const imported = await recordedSession(...entries, { kind: "session_info", metadata: { source: { tool: "t" } } });
    expect(await imported.history()).toEqual([said("user", "q")]);
  });
});

describe("injected messages", () => {
  const injected = (content: string, kind = "reminder"): object => ({ ...user(content), injected: kind });
  const shown = async (
    session: Awaited<ReturnType<typeof recordedSession>>,
    options = {},
  ): Promise<readonly unknown[]> => (await session.history(options)).map(({ content }) => content);

  test("are part of history, where they stand", async () => {
    const session = await recordedSession(
      injected("You are in /home", "environment") as never,
      user("1"),
      injected("Be brief.") as never,
      assistant("2"),
    );
    expect(await shown(session)).toEqual(["You are in /home", "1", "Be brief.", "2"]);
  });

  test("start no turn: a window begins with what a user said", async () => {
    const session = await recordedSession(
      ...[user("1"), assistant("2"), user("3"), injected("reminder") as never, assistant("4", "c1"), result("c1")],
      ...[injected("another") as never, assistant("5")],
    );
    expect(await shown(session, { max_messages: 6 })).toEqual(["3", "reminder", "4", "result of c1", "another", "5"]);
    expect(await shown(session, { max_messages: 3 })).toEqual(["3", "another", "5"]);
  });

  test("stand for the user where nobody said anything", async () => {
    const session = await recordedSession(injected("Sort the jars.", "command") as never, assistant("Sorted."));
    expect(await shown(session)).toEqual(["Sort the jars.", "Sorted."]);
    await expect(session.history({ max_messages: 1 })).rejects.toMatchObject({ code: "budget_too_small", least: 2 });
  });

  test("end no turn for a consolidation", async () => {
    const session = await recordedSession(user("1"), assistant("2", "c1"), injected("x") as never, result("c1"));
    expect(await session.consolidate(3)).toEqual({ through: 0 });
  });

  test("are not counted as messages, and are found with is:injected", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append([
      { kind: "message", session_id: "s", role: "user", content: "AGENTS.md says: wear a veil", injected: "file" },
      { kind: "message", session_id: "s", role: "user", content: "wear a veil?" },
    ]);
    expect(await recorder.session("s").summary()).toMatchObject({ entries: 2, messages: 1 });
    const { results } = await recorder.search("veil is:injected");
    expect(results).toMatchObject([{ position: 1, injected: "file" }]);
    expect(await recorder.getEntry(2)).toMatchObject({ injected: "" });
  });

  test("have a name from the list, or are refused", async () => {
    const { recorder } = memoryRecorder();
    const entry = { kind: "message", session_id: "s", role: "user", content: "x", injected: "file " } as const;
    await expect(recorder.append(entry as never)).rejects.toMatchObject({ code: "field_invalid", field: "injected" });
  });
});
