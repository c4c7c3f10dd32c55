// What Claude Code put between a person and the model: commands, attachments, compactions, and the requests that it wrote down.
import { describe, expect, test } from "vitest";
import { counts, type ImportBench, importBench } from "../../../test/support/import-target.js";
import { expectLegalHistory } from "../../../test/support/transcripts.js";
import type { Entry } from "../../index.js";
import type { JsonObject } from "../../model/json.js";
import { hashOf } from "./sent-requests.js";

interface Line {
  readonly [name: string]: unknown;
}

/** Lines of one session, a second after each other; each hangs on the one before, unless it says otherwise. */
function transcript(...lines: readonly Line[]): readonly Line[] {
  let last: unknown = null;
  return lines.map((line, nth) => {
    const uuid = `u${nth}`;
    const timestamp = new Date(Date.UTC(2026, 9, 1, 8, 0, nth)).toISOString();
    const made: Line = { uuid, parentUuid: last, sessionId: "s", timestamp, version: "2.1.327", ...line };
    last = made.uuid ?? last;
    return made;
  });
}

const user = (content: unknown, more: Line = {}): Line => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const meta = (content: unknown): Line => user(content, { isMeta: true });
const answer = (id: string, ...content: readonly object[]): Line => ({
  type: "assistant",
  message: { id, role: "assistant", model: "m", content, usage: { input_tokens: 10, output_tokens: 2 } },
});
const text = (words: string): JsonObject => ({ type: "text", text: words });
const call = (id: string): JsonObject => ({ type: "tool_use", id, name: "Bash", input: { command: id } });
const result = (id: string): JsonObject => ({ type: "tool_result", tool_use_id: id, content: `result of ${id}` });
const attached = (attachment: Line, more: Line = {}): Line => ({ type: "attachment", attachment, ...more });
const command = (name: string, args = ""): string =>
  `<command-message>${name.slice(1)}</command-message>\n<command-name>${name}</command-name>\n<command-args>${args}</command-args>`;

const CAVEAT = "<local-command-caveat>Caveat: do not respond.</local-command-caveat>";

async function imported(...lines: readonly Line[]): Promise<ImportBench> {
  const bench = importBench();
  const path = bench.write("s.jsonl", transcript(...lines));
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0 });
  expect((await bench.import(path)).added).toBe(0);
  await expectLegalHistory(bench.recorder, "s");
  return bench;
}

/** Messages as `injected: content`, calls as `tool command → result`. */
async function said(bench: ImportBench): Promise<readonly string[]> {
  return (await bench.entries()).flatMap(lineOf);
}

function lineOf(entry: Entry): readonly string[] {
  if (entry.kind === "tool_call") return [`${entry.tool} ${entry.args.command ?? ""} → ${entry.result}`];
  if (entry.kind !== "message") return [];
  const words =
    typeof entry.content === "string"
      ? entry.content
      : (entry.content as { text?: string }[]).map((part) => part.text ?? "[image]").join(" | ");
  return [`${entry.injected || entry.role}: ${words}`];
}

describe("slash commands", () => {
  test("with a prompt: what was typed is the user's, the expansion is injected", async () => {
    const bench = await imported(
      user(command("/tend", "elm at dusk")),
      meta([text("Tend the hive elm at dusk.")]),
      answer("m1", text("Tended.")),
    );
    expect(await said(bench)).toEqual([
      "user: /tend elm at dusk",
      "command: Tend the hive elm at dusk.",
      "assistant: Tended.",
    ]);
    const [typed] = (await bench.entries()).filter(({ kind }) => kind === "message");
    expect(typed?.extra).toMatchObject({ command: { name: "/tend", args: "elm at dusk" } });
    expect(await bench.recorder.session("s").summary()).toMatchObject({ messages: 2 });
  });

  test("of its own, with what they printed; spaces stand between the tags", async () => {
    const typed =
      "<command-name>/model</command-name>\n            <command-message>model</command-message>\n            <command-args>haiku</command-args>";
    const output = "<local-command-stdout>Set model to haiku</local-command-stdout>";
    const bench = await imported(meta(CAVEAT), user(typed), user(output), user("Go on."), answer("m1", text("Yes.")));
    expect(await said(bench)).toEqual([
      `other: ${CAVEAT}`,
      "user: /model haiku",
      `output: ${output}`,
      "user: Go on.",
      "assistant: Yes.",
    ]);
  });

  test("in a system record, behind a reminder of the same line, and without arguments or an expansion", async () => {
    const bench = await imported(
      { type: "system", subtype: "local_command", content: "<command-name>/mcp</command-name>" },
      user([text("<system-reminder>The file a.ts is open.</system-reminder>"), text(command("/init"))]),
      answer("m1", text("Done.")),
    );
    expect(await said(bench)).toEqual([
      "user: /mcp",
      "reminder: <system-reminder>The file a.ts is open.</system-reminder>",
      "user: /init",
      "assistant: Done.",
    ]);
  });

  test("an expansion without its command is injected all the same", async () => {
    const bench = await imported(
      user("Hello"),
      answer("m1", text("Hi.")),
      meta("Base directory for this skill: /skills/bees"),
      meta("Continue."),
    );
    expect(await said(bench)).toEqual([
      "user: Hello",
      "assistant: Hi.",
      "command: Base directory for this skill: /skills/bees",
      "other: Continue.",
    ]);
  });
});

describe("commands for the shell", () => {
  const input = "<bash-input>cat hives.txt</bash-input>";
  const output = "<bash-stdout>alder</bash-stdout><bash-stderr>a warning</bash-stderr>";

  test("are calls of a tool, and what the model saw of them is injected", async () => {
    const bench = await imported(user(input), user(output), user("Which hive?"), answer("m1", text("Alder.")));
    expect(await said(bench)).toEqual([
      "! cat hives.txt → alder\na warning",
      `output: ${input}\n${output}`,
      "user: Which hive?",
      "assistant: Alder.",
    ]);
  });

  test("without output are calls without a result; output without a command is injected", async () => {
    const bench = await imported(user(input), user("Stop."), answer("m1", text("Stopped.")), user(output), user(input));
    expect(await said(bench)).toEqual([
      "! cat hives.txt → ",
      "user: Stop.",
      "assistant: Stopped.",
      `output: ${output}`,
      "! cat hives.txt → ",
    ]);
  });

  test("a pasted one stays a prompt", async () => {
    expect(await said(await imported(user("!echo bees")))).toEqual(["user: !echo bees"]);
  });

  test("that print more than an entry holds keep the beginning, and say how much it was", async () => {
    const bench = await imported(
      user(input),
      user(`<bash-stdout>${"x".repeat(20 * 1024 * 1024)}</bash-stdout>`),
      user("And?"),
    );
    const [ran, shown] = (await bench.entries()).filter(({ kind }) => kind === "tool_call" || kind === "message");
    expect(ran?.extra.truncated).toBe(20 * 1024 * 1024);
    expect(ran?.kind === "tool_call" && String(ran.result).length).toBeGreaterThan(14 * 1024 * 1024);
    expect(shown?.extra.truncated).toBeGreaterThan(20 * 1024 * 1024);
  });
});

describe("what was attached", () => {
  test("is injected as it was shown to the model, or by its texts in older versions", async () => {
    const bench = await imported(
      user("Look."),
      attached(
        { type: "instructions", files: [] },
        { rendered: [{ content: "Contents of CLAUDE.md: wear the veil." }] },
      ),
      attached({ type: "file", filename: "/srv/a.md", content: { type: "text", file: { content: "# Hives" } } }),
      attached({ type: "todo_reminder", content: [{ content: "count", status: "pending" }] }),
      attached({ type: "hook_additional_context", content: ["It rains."], hookName: "UserPromptSubmit" }),
      attached({ type: "queued_command", prompt: "And hurry.", commandMode: "prompt" }),
      attached({
        type: "queued_command",
        prompt: "<task-notification>done</task-notification>",
        commandMode: "task-notification",
      }),
      attached({ type: "hook_success", content: "", stdout: "{}" }),
      answer("m1", text("I see.")),
    );
    expect(await said(bench)).toEqual([
      "user: Look.",
      "file: Contents of CLAUDE.md: wear the veil.",
      "file: /srv/a.md\n\n# Hives",
      'reminder: {"content":"count","status":"pending"}',
      "hook: It rains.",
      "user: And hurry.",
      "other: <task-notification>done</task-notification>",
      "assistant: I see.",
    ]);
  });

  test("a system prompt is a system message, and another one replaces it", async () => {
    const prompt = (...systemPrompt: readonly string[]): Line => attached({ type: "prompt_snapshot", systemPrompt });
    const bench = await imported(
      ...[user("1"), prompt("Be kind.", "Be brief."), answer("m1", text("a")), prompt("Be kind.", "Be brief.")],
      ...[user("2"), prompt("Be strict."), answer("m2", text("b"))],
    );
    const history = await bench.recorder.session("s").history();
    expect(history.map(({ role, content }) => [role, content])).toEqual([
      ["system", "Be strict."],
      ...[
        ["user", "1"],
        ["assistant", "a"],
        ["user", "2"],
        ["assistant", "b"],
      ],
    ]);
    const { metadata } = (await bench.recorder.session("s").summary()) ?? {};
    expect(metadata).toMatchObject({ source: { lacks: ["rules files", "tool definitions"] } });
  });

  test("a session may begin with an image", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(await said(await imported(user([image]), answer("m1", text("A bee."))))).toEqual([
      "user: [image]",
      "assistant: A bee.",
    ]);
  });
});

describe("a compaction", () => {
  const boundary = (more: Line = {}, metadata: Line = {}): Line => ({
    type: "system",
    subtype: "compact_boundary",
    parentUuid: null,
    compactMetadata: { trigger: "auto", preTokens: 900, ...metadata },
    ...more,
  });
  const summary = (words: string): Line => user(words, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
  const talk = [user("1"), answer("m1", text("one"), call("c1")), user([result("c1")]), answer("m2", text("two"))];
  const history = async (bench: ImportBench): Promise<readonly unknown[]> =>
    (await bench.recorder.session("s").history()).map(({ content }) => content);

  test("leaves its summary, what it keeps, and what follows", async () => {
    const kept = { preservedMessages: { uuids: ["u1", "u2", "u3"] } };
    const bench = await imported(
      ...talk,
      boundary({}, kept),
      summary("In short: 1."),
      user("3"),
      answer("m3", text("three")),
    );
    expect(await history(bench)).toEqual(["In short: 1.", "one", "result of c1", "two", "3", "three"]);
    const [made] = (await bench.entries()).filter(({ kind }) => kind === "consolidation");
    expect(made).toMatchObject({
      trigger: "auto",
      tokens_before: 900,
      summary: "In short: 1.",
      kept: [2, 3, 4].map((at) => at + 1),
    });
    const { messages } = (await bench.recorder.context("claude-code:m3")) ?? {};
    expect(messages?.map(({ content }) => content)).toEqual(["In short: 1.", "one", "result of c1", "two", "3"]);
    expect(await bench.recorder.told("claude-code:m3", "In short")).toMatchObject({ verdict: "given" });
    expect(await bench.recorder.told("claude-code:m3", "result of c1")).toMatchObject({ verdict: "given" });
  });

  test("keeps a segment where no lines are named, and nothing that is missing", async () => {
    const segment = { preservedSegment: { headUuid: "u1", tailUuid: "u3" } };
    const bench = await imported(...talk, boundary({}, segment), summary("Short."), user("3"));
    expect(await history(bench)).toEqual(["Short.", "one", "result of c1", "two", "3"]);
    const gone = { preservedMessages: { uuids: ["nowhere"] } };
    expect(await history(await imported(...talk, boundary({}, gone), summary("Short."), user("3")))).toEqual([
      "Short.",
      "3",
    ]);
  });

  test("without a summary, without a boundary, and two in a row", async () => {
    expect(await history(await imported(...talk, boundary(), user("3"), answer("m3", text("three"))))).toEqual([
      "3",
      "three",
    ]);
    expect(await history(await imported(...talk, summary("Short."), user("3")))).toEqual(["Short.", "3"]);
    const twice = await imported(...talk, boundary(), boundary(), summary("Shorter."), user("3"));
    expect(await history(twice)).toEqual(["Shorter.", "3"]);
    const bare = { type: "system", subtype: "compact_boundary", parentUuid: null };
    expect(await history(await imported(...talk, bare, summary("Short."), user("3")))).toEqual(["Short.", "3"]);
  });

  test("that begins a session drops nothing", async () => {
    expect(
      await history(await imported(summary("Of another session."), user("3"), answer("m3", text("three")))),
    ).toEqual([...["Of another session.", "3", "three"]]);
  });

  test("whose old lines are written once more behind it leaves history as it was", async () => {
    const lines = transcript(...talk, boundary(), summary("Short."), user("3"));
    const bench = importBench();
    await bench.import(
      bench.write("s.jsonl", [
        ...lines,
        ...lines.slice(0, 4),
        ...transcript(...talk, user("x"), user("y"), user("z"), user("4")).slice(7),
      ]),
    );
    expect(await history(bench)).toEqual(["Short.", "3", "4"]);
  });
});

describe("requests", () => {
  const sent = (content: unknown, role = "user"): JsonObject => ({ role, content }) as JsonObject;
  const blob = (message: JsonObject, hash = hashOf(message)): Line => ({
    type: "api-request-blob",
    hash,
    message,
    uuid: undefined,
  });
  const shape: Line = {
    type: "api-request-shape",
    shapeHash: "h",
    shape: { system: [text("Be kind.")], tools: [{ name: "Bash" }] },
    uuid: undefined,
  };
  const request = (id: string, tail: readonly JsonObject[], more: Line = {}): Line => ({
    type: "api-request",
    ...{ id, shapeHash: "h", keep: 0, tail: tail.map(hashOf), params: { model: "m" }, uuid: undefined },
    ...more,
  });
  const first = sent([text("CLAUDE.md: wear the veil."), text("1")]);
  const one = sent([text("one"), call("c1"), call("c2")], "assistant");
  const results = sent([result("c1"), result("c2")]);
  const opening = [
    user("1"),
    shape,
    blob(first),
    request("r1", [first]),
    answer("m1", text("one"), call("c1"), call("c2")),
  ];
  const following = [user([result("c1")]), user([result("c2")])];
  const contextOf = async (bench: ImportBench, id: string) => {
    const context = await bench.recorder.context(`claude-code:${id}`);
    const { exact, messages, system, tools, lacks } = context ?? {};
    const plain = messages?.map(({ entry_id: _, ...message }) => message);
    return { exact, messages: plain, system, tools, lacks };
  };

  test("are put together from earlier ones, blobs and lines; results of several calls are one message", async () => {
    const bench = await imported(
      ...opening,
      ...following,
      request("r2", [one, results], { base: "r1", keep: 1 }),
      answer("m2", text("two")),
    );
    const rest = { exact: true, system: [text("Be kind.")], tools: [{ name: "Bash" }], lacks: undefined };
    expect(await contextOf(bench, "m1")).toEqual({ messages: [first], ...rest });
    expect(await contextOf(bench, "m2")).toEqual({ messages: [first, one, results], ...rest });
    expect(await bench.recorder.told("claude-code:m2", "wear the veil")).toMatchObject({
      verdict: "given",
      exact: true,
    });
    expect(await bench.recorder.told("claude-code:m2", "wear the hat")).toMatchObject({
      verdict: "never",
      nearest: { ratio: 0.67 },
    });
    expect(await bench.recorder.told("claude-code:m2", "one")).toMatchObject({
      verdict: "given",
      only_own_words: true,
    });
    const { results: hits } = await bench.recorder.search("in:context veil");
    expect(hits).toMatchObject([{ id: "claude-code:m2", given: 2 }]);
    const blobs = (await bench.entries()).filter(
      (entry) => entry.kind === "raw" && entry.record.type === "api-request-blob",
    );
    expect(blobs).toEqual([]);
  });

  test("after a resume name everything once more, and after a refusal nothing new", async () => {
    const bench = await imported(
      ...[...opening, ...following, request("r2", [first, one, results]), request("r3", [], { base: "r2", keep: 3 })],
      answer("m2", text("two")),
    );
    expect((await contextOf(bench, "m2")).messages).toEqual([first, one, results]);
    const kept = (await bench.entries()).flatMap(
      ({ extra }) => (extra.given as { messages?: unknown[] })?.messages?.length ?? [],
    );
    expect(kept).toEqual([1, 2, 0]);
  });

  test("that hold a message of an earlier one in another place name it there", async () => {
    const note = sent("Be quick.");
    const bench = await imported(
      ...opening,
      ...following,
      blob(note),
      request("r2", [note, one, first]),
      answer("m2", text("two")),
    );
    expect((await contextOf(bench, "m2")).messages).toEqual([note, one, first]);
  });

  test.each([
    ["a base that is missing", [], request("r2", [one, results], { base: "r0", keep: 1 })],
    [
      "a blob that is not what its hash says",
      [blob(sent("other"), hashOf(sent("note")))],
      request("r2", [first, one, results, sent("note")]),
    ],
    ["a message that is nowhere", [], request("r2", [first, sent("nowhere")])],
    ["more kept than there was", [], request("r2", [], { base: "r1", keep: 9 })],
    ["no list", [], { ...request("r2", []), tail: "none" }],
  ])("with %s are not exact, and what was not found is unknown", async (_, more, broken) => {
    const bench = await imported(...opening, ...following, ...more, broken, answer("m2", text("two")));
    expect(await contextOf(bench, "m1")).toMatchObject({ exact: true });
    expect(await contextOf(bench, "m2")).toMatchObject({
      exact: false,
      lacks: expect.arrayContaining(["rules files"]),
    });
    expect(await bench.recorder.told("claude-code:m2", "wear a hat")).toMatchObject({ verdict: "unknown" });
  });

  test("are read in parts as a file grows, as in one piece", async () => {
    const lines = transcript(
      ...opening,
      ...following,
      request("r2", [one, results], { base: "r1", keep: 1 }),
      answer("m2", text("two")),
    );
    const bench = importBench();
    for (let count = 1; count <= lines.length; count += 1)
      await bench.import(bench.write("s.jsonl", lines.slice(0, count)));
    expect(await contextOf(bench, "m2")).toMatchObject({ exact: true, messages: [first, one, results] });
  });

  test("a total tells what a compaction cost, once", async () => {
    const total = (input: number, output: number): Line => ({
      type: "cost-state",
      ...{
        modelUsage: {
          m: { inputTokens: input, outputTokens: output, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
        },
        uuid: undefined,
      },
    });
    const boundary = { type: "system", subtype: "compact_boundary", parentUuid: null };
    const bench = await imported(
      ...[user("1"), answer("m1", text("one")), total(10, 2), user("2"), answer("m2", text("two")), boundary],
      ...[
        user("Short.", { isCompactSummary: true }),
        total(120, 11),
        user("3"),
        answer("m3", text("three")),
        total(130, 13),
      ],
    );
    expect((await bench.recorder.usage({ by: "session" })).rows).toMatchObject([
      { calls: 4, input_tokens: 130, output_tokens: 13 },
    ]);
  });
});

describe("a subagent's session", () => {
  const agent = (more: Line = {}): readonly Line[] =>
    transcript(user("Count the lines.", { isSidechain: true, agentId: "a1", ...more }), {
      ...answer("m9", text("Five.")),
      isSidechain: true,
      agentId: "a1",
    });
  const parent = transcript(user("Wear the veil, and send a scout."), answer("m1", text("It goes.")));

  test("says what its parent was given, whichever came first, and nothing where it never came", async () => {
    const bench = importBench();
    const late = agent().map((line) => ({ ...line, timestamp: "2026-10-02T08:00:00.000Z" }));
    await bench.import(bench.write("s/subagents/agent-a1.jsonl", late));
    expect(await bench.recorder.told("claude-code:m9", "wear the veil")).not.toHaveProperty("parent");
    await bench.import(bench.write("s.jsonl", parent));
    expect(await bench.recorder.told("claude-code:m9", "wear the veil")).toMatchObject({
      verdict: "unknown",
      parent: { session_id: "s", verdict: "given" },
    });
  });

  test("whose parents form a circle is answered once", async () => {
    const bench = importBench();
    await bench.import(bench.write("s/subagents/agent-a1.jsonl", agent()));
    const child = "s/agent-a1";
    await bench.recorder.append([
      { kind: "session_info", session_id: "s", parent: child },
      { kind: "message", session_id: "s", role: "assistant", content: "x", created_at: "2026-09-01T00:00:00Z" },
    ]);
    expect(await bench.recorder.told("claude-code:m9", "lines")).toMatchObject({
      parent: { session_id: "s", verdict: "never" },
    });
  });
});
