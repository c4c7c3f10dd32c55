// `hansard record`: from flags, from documents and from lines, and what happens to bad ones.
import { describe, expect, test } from "vitest";
import { withRecorder } from "../crash/sample-store.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readError, readJson, resultOf, runCli, startCli } from "./cli-run.js";

/** What is in the store, newest first, looked at without another command; nothing where there is none. */
async function stored(data: string): Promise<readonly unknown[]> {
  return withRecorder(data, async (recorder) => (await recorder.listEntries({ limit: 500 })).entries);
}

const toLines = (entries: readonly unknown[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

describe("from flags", () => {
  test("an interaction is stored as given, and its id and position are printed", async () => {
    const data = folderOfTest();
    const flags = ["--prompt", "Why?\n", "--response", "Because.", "--project", "web", "--session", "a/b"];
    const more = ["--client", "test", "--model", "m", "--memory", "m-1", "--memory", "m-2", "--chunk", "c-1"];
    const json = ["--context-pack", '{"rules":["brief"]}', "--usage", '{"input_tokens":3}', "--latency-ms", "12.5"];
    const { status, stdout, stderr } = await runCli(["record", ...flags, ...more, ...json], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const { id } = (await readJson(["list"], { data })).entries[0];
    expect(stdout).toBe(`Recorded ${id} at position 1.\n`);
    expect(await readJson(["show", id], { data })).toMatchObject({
      kind: "interaction",
      prompt: "Why?\n",
      response: "Because.",
      project: "web",
      session_id: "a/b",
      client: "test",
      model: "m",
      memories_used: ["m-1", "m-2"],
      chunks_used: ["c-1"],
      latency_ms: 12.5,
      context_pack: { rules: ["brief"] },
      usage: { input_tokens: 3 },
    });
  });

  test("--json prints the document of POST /interactions", async () => {
    const document = await readJson(["record", "--prompt", "x", "--id", "mine", "--created-at", "2026-11-15"], {
      data: folderOfTest(),
    });
    const created_at = "2026-11-15T00:00:00.000Z";
    expect(document).toEqual({ status: "recorded", id: "mine", created_at, position: 1 });
  });

  test.each([
    [["message", "--session", "s", "--role", "user", "--content", "hi", "--confidence", "0.5"], { confidence: 0.5 }],
    [
      ["tool_call", "--tool", "ls", "--args", '{"a":1}', "--result", "{}", "--is-error"],
      { is_error: true, result: "{}" },
    ],
    [["error", "--error", "boom", "--context", "starting"], { error: "boom", context: "starting" }],
    [["decision", "--decision", "go", "--rationale", "why not"], { decision: "go", rationale: "why not" }],
    [["consolidation", "--session", "s", "--through", "3", "--summary", "so far"], { through: 3 }],
    [["clear", "--session", "s"], { session_id: "s" }],
    [["session_info", "--session", "s", "--title", "T", "--metadata", '{"a":1}', "--parent", "p"], { parent: "p" }],
    [
      ["raw", "--source", "test", "--record", '{"a":[1]}', "--extra", '{"n":1}'],
      { record: { a: [1] }, extra: { n: 1 } },
    ],
  ])("every kind has its flags: %j", async ([kind, ...flags], expected) => {
    const data = folderOfTest();
    const document = await readJson(["record", "--kind", kind as string, ...flags], { data });
    expect(document).toMatchObject({ status: "recorded", entries: [{ position: 1 }] });
    expect(await stored(data)).toMatchObject([{ kind, ...expected }]);
  });

  test("a response completes an interaction that was recorded without one", async () => {
    const data = folderOfTest();
    await readJson(["record", "--prompt", "Why?", "--id", "q"], { data });
    const flags = ["--kind", "response", "--interaction-id", "q", "--response", "Because."];
    await readJson(["record", ...flags], { data });
    expect(await readJson(["show", "q"], { data })).toMatchObject({ prompt: "Why?", response: "Because." });
    const again = ["--kind", "response", "--interaction-id", "q", "--response", "Otherwise."];
    expect(await readError(["record", ...again], { data })).toMatchObject({ status: 1, code: "already_completed" });
  });

  test("a text that looks like an option is recorded as the text it is", async () => {
    const data = folderOfTest();
    await readJson(["record", "--prompt", "--json"], { data });
    await readJson(["record", "--prompt=--data", "--response", "-"], { data });
    expect(await stored(data)).toMatchObject([{ prompt: "--data" }, { prompt: "--json" }]);
  });

  test("the same id with the same content is stored once; with other content it is a conflict", async () => {
    const data = folderOfTest();
    const args = ["record", "--id", "mine", "--prompt", "x"];
    await runCli(args, { data });
    expect((await runCli(args, { data })).stdout).toBe("Already recorded: mine at position 1.\n");
    expect(await readJson(args, { data })).toMatchObject({ status: "already_recorded", position: 1 });
    const other = await readError(["record", "--id", "mine", "--prompt", "y"], { data });
    expect(other).toMatchObject({ status: 1, code: "id_conflict", field: "id" });
    expect(await stored(data)).toHaveLength(1);
  });

  test.each([
    [["--prompt", " \n"], "prompt_blank"],
    [["--response", "x"], "field_missing"],
    [["--kind", "message", "--role", "user", "--content", "hi"], "session_id_invalid"],
    [["--kind", "message", "--session", "s", "--role", "king", "--content", "hi"], "role_unknown"],
    [["--kind", "poem"], "kind_unknown"],
    [["--kind", "audit"], "kind_reserved"],
    [["--prompt", "x", "--id", "12"], "id_invalid"],
    [["--prompt", "x", "--created-at", "yesterday"], "time_invalid"],
    [["--prompt", "x", "--latency-ms", "soon"], "field_invalid"],
    [["--prompt", "x", "--usage", "{"], "option_invalid"],
    [["--prompt", "x", "--usage", "[]"], "field_invalid"],
    [["--prompt", "x", "--tool", "ls"], "option_misplaced"],
    [["--prompt", "x", "-"], "option_misplaced"],
    [["What is it?"], "argument_excess"],
  ])("refused input is status 2: %j", async (flags, code) => {
    expect(await readError(["record", ...flags], { data: folderOfTest() })).toMatchObject({ status: 2, code });
  });

  test("in plain words the error names the flag and what to do", async () => {
    const { status, stdout, stderr } = await runCli(["record", "--prompt", ""], { data: folderOfTest() });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(
      "error: prompt must be a string that is not blank\n" +
        "  field: --prompt\n" +
        "  hint:  Give the text that was sent to the model.\n",
    );
  });
});

describe("from standard input", () => {
  test.each([
    ["one document on several lines", '{\n  "prompt": "x"\n}\n', 1],
    ["one line without an end", '{"prompt":"x"}', 1],
    ["an array", '[{"prompt":"x"},\n{"kind":"error","error":"y"}]', 2],
    ["lines, with blank ones, a mark and carriage returns", '\ufeff{"prompt":"x"}\r\n\r\n{"prompt":"y"}\r\n', 2],
  ])("%s", async (_, input, count) => {
    const data = folderOfTest();
    const { status, entries } = await readJson(["record"], { data, input });
    expect({ status, positions: entries.map(({ position }: { position: number }) => position) }).toEqual({
      status: "recorded",
      positions: Array.from({ length: count }, (_, at) => at + 1),
    });
    expect(await stored(data)).toHaveLength(count);
  });

  test("the default kind is interaction; kind and labels given as flags apply to entries without their own", async () => {
    const data = folderOfTest();
    const input = toLines([
      { role: "user", content: "hi" },
      { kind: "interaction", prompt: "x", project: "own" },
    ]);
    await readJson(["record", "-", "--kind", "message", "--session", "s", "--project", "web"], { data, input });
    expect(await stored(data)).toMatchObject([
      { kind: "interaction", project: "own", session_id: "s" },
      { kind: "message", project: "web", session_id: "s" },
    ]);
  });

  test("thousands of lines are recorded in order, and once if repeated", async () => {
    const data = folderOfTest();
    const count = 2_345;
    const input = toLines(Array.from({ length: count }, (_, at) => ({ id: `n${at}`, prompt: `question ${at}` })));
    expect((await runCli(["record"], { data, input })).stdout).toBe(
      "Recorded 2,345 entries, the last at position 2345.\n",
    );
    expect((await runCli(["record"], { data, input })).stdout).toBe("Recorded 0 entries; 2,345 duplicates.\n");
    expect(await readJson(["show", "1000"], { data })).toMatchObject({ prompt: "question 999" });
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, entries: count });
  });

  test("a bad line is named, with what was stored before it and how to continue", async () => {
    const data = folderOfTest();
    const input = `${toLines(Array.from({ length: 1_100 }, () => ({ prompt: "x" })))}{bad}\n`;
    const { status, stdout, stderr } = await runCli(["record"], { data, input });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("error: line 1101: the input is not valid JSON");
    expect(stderr).toContain("The first 1,000 entries are stored, up to line 1000.");
    expect(await readJson(["stats"], { data })).toMatchObject({ entries: 1_000 });
    expect(await readError(["record"], { data, input })).toMatchObject({
      line: 1_101,
      index: 1_100,
      recorded: 1_000,
    });
  });

  test("a refused entry has its index in the whole input, from 0, blank lines and batches aside", async () => {
    const data = folderOfTest();
    const pair = '{"prompt":"a"}\n{"kind":"error"}\n';
    expect(await readError(["record"], { data, input: pair })).toMatchObject({
      status: 2,
      code: "field_missing",
      field: "error",
      line: 2,
      index: 1,
      recorded: 0,
    });
    const many = toLines(Array.from({ length: 700 }, () => ({ prompt: "x" })));
    expect(await readError(["record"], { data, input: `\n${many}\n\n${pair}` })).toMatchObject({
      code: "field_missing",
      line: 705,
      index: 701,
      recorded: 500,
    });
    const { stderr } = await runCli(["record"], { data, input: pair });
    expect(stderr).toMatch(/^error: line 2: error is missing\n/);
  });

  test("no index is given if the item of the list is unknown", async () => {
    const input = Buffer.from([...Buffer.from('[{"prompt":"x"},{"prompt":"'), 0xff, ...Buffer.from('"}]')]);
    const error = await readError(["record"], { data: folderOfTest(), input });
    expect(error).toMatchObject({ code: "utf8_invalid", line: 1 });
    expect(error).not.toHaveProperty("index");
  });

  test.each([
    ["a refused entry", '{"prompt":"x"}\n\n{"prompt":" "}\n', { code: "prompt_blank", line: 3, index: 1 }],
    ["the first line", '{bad\n{"prompt":"x"}\n', { code: "json_invalid", line: 1, index: 0 }],
    ["a line that is no object", '{"prompt":"x"}\n[1]\n', { code: "field_invalid", line: 2, index: 1 }],
    ["an item of an array", '[{"prompt":"x"},{"prompt":7}]', { code: "prompt_blank", index: 1 }],
    ["an array without items", "[]", { code: "entries_missing" }],
    ["a document that breaks off", '{\n  "prompt":', { code: "json_invalid" }],
    [
      "100,000 levels",
      `{"prompt":"x","deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      { code: "nesting_too_deep" },
    ],
    ["nothing at all", "", { code: "input_missing" }],
    ["nothing but white space", " \n\n", { code: "input_missing" }],
  ])("nothing is stored if a small input is refused: %s", async (_, input, expected) => {
    const data = folderOfTest();
    expect(await readError(["record"], { data, input })).toMatchObject({ status: 2, ...expected });
    expect(await stored(data)).toEqual([]);
  });

  test("text that is not UTF-8 is refused, not repaired", async () => {
    const input = Buffer.from([...Buffer.from('{"prompt":"'), 0xff, ...Buffer.from('"}')]);
    const error = await readError(["record"], { data: folderOfTest(), input });
    expect(error).toMatchObject({ status: 2, code: "utf8_invalid", line: 1, index: 0 });
  });

  test("an entry over 16 MiB is refused", async () => {
    const input = JSON.stringify({ prompt: "x".repeat(16 * 1024 * 1024) });
    expect(await readError(["record"], { data: folderOfTest(), input })).toMatchObject({ code: "entry_too_large" });
  });

  test("any string survives: NUL, emoji, lone surrogates, right-to-left text, __proto__", async () => {
    const data = folderOfTest();
    const prompt = '"\\u0000 🙂 \\ud800 \u202eשלום"';
    await readJson(["record"], { data, input: `{"prompt":${prompt},"__proto__":{"a":1}}` });
    const { stdout } = await runCli(["show", "1", "--json"], { data });
    const entry = JSON.parse(stdout);
    expect(entry.prompt).toBe(JSON.parse(prompt));
    expect(Object.keys(entry.extra)).toEqual(["__proto__"]);
    expect(stdout).not.toContain("\u202e");
  });

  test("what a program writes now and then is recorded while it still writes", async () => {
    const data = folderOfTest();
    const child = startCli(["record"], { data });
    const ended = resultOf(child);
    child.stdin?.write('{"prompt":"first"}\n');
    await expect.poll(() => readJson(["stats"], { data }).catch(() => undefined)).toMatchObject({ entries: 1 });
    child.stdin?.end('{"prompt":"second"}\n');
    expect(await ended).toMatchObject({ status: 0, stdout: "Recorded 2 entries, the last at position 2.\n" });
  });

  test("recording goes on after the reader of the output has gone", async () => {
    const data = folderOfTest();
    const child = startCli(["record", "--json"], { data });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.stdout?.destroy();
    child.stdin?.end(toLines(Array.from({ length: 2_000 }, () => ({ prompt: "x" }))));
    expect(await ended).toBe(0);
    expect(await readJson(["stats"], { data })).toMatchObject({ entries: 2_000 });
  });

  test("several commands at once lose nothing and leave no gap", async () => {
    const data = folderOfTest();
    const results = await Promise.all(
      Array.from({ length: 4 }, (_, writer) => {
        const entries = Array.from({ length: 600 }, (_, at) => ({ id: `w${writer}-${at}`, prompt: "x" }));
        return runCli(["record"], { asProgram: true, data, input: toLines(entries) });
      }),
    );
    expect(results.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      results.map(() => ({ status: 0, stderr: "" })),
    );
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, entries: 2_400, position: 2_400 });
    expect(await readJson(["show", "w3-599"], { data })).toMatchObject({ id: "w3-599" });
  });
});
