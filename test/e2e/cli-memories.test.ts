// Memories on the command line: adding, listing, recalling, the passes, and deciding one candidate at a time.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { runOnTerminal } from "./terminal-run.js";

const data = folderOfFile();

beforeAll(async () => {
  await fillStore(data, [
    {
      kind: "message",
      id: "u1",
      session_id: "s",
      project: "atlas",
      role: "assistant",
      content: "Hello there.\n## Decision: write all commit messages in English\nThen we start.",
    },
    {
      kind: "message",
      id: "u2",
      session_id: "s",
      project: "atlas",
      role: "assistant",
      content: "## Fact: the staging database listens on port 5433\nGood.",
    },
    {
      kind: "message",
      id: "u3",
      session_id: "t",
      project: "atlas",
      role: "assistant",
      content: "## Requirement: the release notes are written on Thursdays",
    },
  ]);
});

test("extract proposes and explains, reinforce counts, and both print documents", async () => {
  const { stdout, stderr } = await runCli(["extract", "--explain"], { data });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^3 candidates proposed/), ""]);
  expect((await readJson(["extract"], { data })).candidates).toEqual([]);
  expect(await readJson(["reinforce"], { data })).toMatchObject({ reinforced: [], through: expect.any(Number) });
  expect((await readError(["extract", "nobody"], { data })).code).toBe("interaction_not_found");
  expect((await readError(["extract", "--after", "x"], { data })).code).toBe("option_invalid");
});

test("review shows each candidate in its context, and gives a verdict once the next one is decided", async () => {
  const queue = (await readJson(["memories", "--status", "candidate"], { data })).memories;
  expect(queue).toHaveLength(3);
  // Accepted, taken back and rejected with a reason; the second in other words; the third is left.
  const input = ["a", "u", "r", "2", "e", "The staging database of atlas is on port 5433", "", "q"].join("\n");
  const { status, stderr } = await runCli(["review"], { data, input });
  expect(status).toBe(0);
  expect(stderr).toContain("1 accepted, 1 rejected; 1 candidate waiting.");
  for (const { evidence } of queue) expect(stderr).toContain(`»${evidence[0].quote}«`);
  const of = async (id: string) => readJson(["memories", "show", id], { data });
  expect(await of(queue[0].id)).toMatchObject({ status: "rejected", reason: "obvious" });
  expect(await of(queue[1].id)).toMatchObject({
    content: "The staging database of atlas is on port 5433",
    status: "active",
  });
  expect(await of(queue[2].id)).toMatchObject({ status: "candidate" });
  const { stderr: rest } = await runCli(["review", "--project", "elsewhere"], { data, input: "" });
  expect(rest).toContain("Nothing to review in elsewhere. Candidates elsewhere: atlas: 1.");
});

test("the verdict on the last candidate can be taken back, too", async () => {
  const input = ["s", "a", "u", "q"].join("\n");
  const store = join(data, "last");
  const said = { kind: "message", session_id: "s", project: "atlas", role: "assistant" } as const;
  await fillStore(store, [
    { ...said, content: "## Decision: write all commit messages in English" },
    { ...said, content: "## Requirement: the release notes are written on Thursdays" },
  ]);
  const none = await runCli(["memories"], { data: store });
  expect(none.stdout).toMatch(/^No memories yet\. hansard extract proposes/);
  await runCli(["extract"], { data: store });
  const { stderr } = await runCli(["review"], { data: store, input });
  expect(stderr).toContain("0 accepted, 0 rejected; 2 candidates waiting.");
  const left = await runCli(["review"], { data: store, input: "r\n" });
  expect(left.stderr).toContain("0 accepted, 0 rejected; 2 candidates waiting.");
  const given = await runCli(["review"], { data: store, input: "s\na\n\n" });
  expect(given.stderr).toContain("1 accepted, 0 rejected; 1 candidate waiting.");
  const mistyped = ["recall", "--session", "typo", "--project", "atlas"];
  expect((await runCli(mistyped, { data: store })).stderr).toContain("Created session typo.");
  expect((await runCli(mistyped, { data: store })).stderr).toBe("");
});

test("on a terminal an edit begins with the present text, and typed words are inserted at the cursor", async () => {
  const store = join(data, "edited");
  const said = { kind: "message", session_id: "s", project: "atlas", role: "assistant" } as const;
  await fillStore(store, [{ ...said, content: "## Decision: write all commit messages in English" }]);
  await runCli(["extract"], { data: store });
  const [{ content }] = (await readJson(["memories", "--status", "candidate"], { data: store })).memories;
  const HOME = "\u001b[1~";
  const answers: [after: string, keys: string][] = [
    ["(s): ", "e\r"],
    [`New text: ${content}`, `${HOME}Please \r`],
    ["submit the last verdict, [u]ndo: ", "\r"],
  ];
  const { status, text } = await runOnTerminal(["review"], {
    data: store,
    columns: 120,
    onText: (seen, type) => {
      const [after, keys] = answers[0] ?? ["", ""];
      if (answers.length === 0 || !stripVTControlCharacters(seen).includes(after)) return;
      answers.shift();
      type(keys);
    },
  });
  expect([status, text]).toEqual([0, expect.stringContaining("1 accepted, 0 rejected; 0 candidates waiting.")]);
  const { memories } = await readJson(["memories"], { data: store });
  expect(memories).toMatchObject([{ status: "active", content: `Please ${content}` }]);
});

test("errors name only flags of the command, and recall without a project lists those that have memories", async () => {
  const store = join(data, "refused");
  const added = ["memories", "add", "The release notes are written on Thursdays", "--project", "atlas"];
  await runCli(added, { data: store });
  const flagsNamed = async (...args: string[]) =>
    [...(await runCli(args, { data: store })).stderr.matchAll(/field: (.*)/g)].map(([, field]) => field);
  expect(await flagsNamed("memories", "add", "short")).toEqual([]);
  expect(await flagsNamed("memories", "add", "Answers come in German", "--confidence", "3")).toEqual(["--confidence"]);
  const [words, ...inVain] = ["Answers come in German", "--status", "candidate", "--valid-until", "2030-01-01"];
  expect(await flagsNamed("memories", "add", words as string, ...inVain)).toEqual(["--status"]);
  expect(await flagsNamed("memories", "list", ...inVain)).toEqual(["--valid-until"]);
  expect(await flagsNamed("memories", "show", "nobody", "--project", "atlas")).toEqual(["--project"]);
  expect(await flagsNamed("reinforce", "nobody")).toEqual([]);
  expect(await flagsNamed("extract", "--model", "m")).toEqual(["--model"]);
  expect(await flagsNamed("list", "--model", "m")).toEqual([]);
  const recalled = await runCli(["recall", "--project", "atlsa"], { data: store });
  expect(recalled.stderr).toBe("Nothing to recall for atlsa. Projects with memories: atlas.\n");
  expect((await runCli(["recall"], { data: store })).stderr).toContain("without --project. Projects with memories: ");
});

test("memories are added, listed and recalled; what waits is counted in stats", async () => {
  const added = await readJson(["memories", "add", "Answers come in German", "--type", "preference"], { data });
  expect(added).toMatchObject({ status: "active", type: "preference", source: "person" });
  const { stdout } = await runCli(["memories", "--unused"], { data });
  expect(stdout).toContain("Answers come in German");
  const recalled = await runCli(["recall", "which", "port?", "--project", "atlas"], { data });
  expect(recalled.stdout.split("\n")).toContain("- The staging database of atlas is on port 5433");
  expect((await readJson(["stats"], { data })).pending).toBe(1);
  expect((await runCli(["memories"], { data })).stderr).toContain("1 candidate waiting: hansard review");
  expect((await readError(["memories", "show", "nobody"], { data })).code).toBe("memory_not_found");
  expect((await readError(["memories", "gossip"], { data })).code).toBe("usage_invalid");
  expect((await readError(["memories", "add", "x", "--confidence", "7"], { data })).code).toBe(
    "confidence_out_of_range",
  );
});

test("a memory has its uses, and what followed them", async () => {
  const recorder = await openRecorder({ data });
  const { id } = await recorder.memories.add({
    content: "The gateway of atlas restarts at midnight",
    project: "atlas",
  });
  const turn = await recorder.recordInteraction({
    session_id: "uses",
    project: "atlas",
    prompt: "When does it restart?",
    memories_used: [id],
    response: "The gateway of atlas restarts at midnight.",
  });
  await recorder.append({ kind: "error", session_id: "uses", error: "it did not" });
  await recorder.feedback({ entry_id: turn.id, score: -1, comment: "no" });
  await recorder.append({ kind: "message", session_id: "uses", role: "user", content: "It restarted at noon" });
  await recorder.memories.reinforce({ interaction_id: turn.id });
  expect((await recorder.memories.get(id))?.uses).toEqual([
    {
      entry_id: turn.id,
      position: turn.position,
      created_at: turn.created_at,
      session_id: "uses",
      given: true,
      used: true,
      confirmed: false,
      followed: {
        errors: 1,
        low_confidence: 0,
        next: "It restarted at noon",
        feedback: [{ score: -1, label: "", comment: "no" }],
      },
    },
  ]);
  await recorder.close();
  const { stdout } = await runCli(["memories", "show", id], { data });
  expect(stdout).toContain(
    `given, used: ${turn.id} in uses, followed by 1 error, feedback -1 no\n    » It restarted at noon\n`,
  );
});

test("those that are like another one, or contradict one, are listed by themselves", async () => {
  const port = (number: number) => [
    "memories",
    "add",
    `The museum shop listens on port ${number}`,
    "--type",
    "project",
  ];
  const first = await readJson(port(8080), { data });
  const other = await readJson(port(9090), { data });
  expect(other).toMatchObject({ conflicts_with: [first.id], similar_to: [] });
  const { memories } = await readJson(["memories", "--similar"], { data });
  expect(memories.map(({ id }: { id: string }) => id)).toEqual([other.id, first.id]);
});

test("review reports unknown input, and shows the text that a candidate contradicts", async () => {
  const store = join(data, "contradicting");
  await fillStore(store, [
    { kind: "message", session_id: "s", project: "atlas", role: "user", content: "Shall we start? Never use it." },
  ]);
  const nothing = await runCli(["extract", "--explain"], { data: store });
  expect(nothing.stdout).toMatch(
    /^0 candidates proposed\.\nReviewed 1 entry: 1 user message, .*\n[\s\S]*No rule matched/,
  );
  expect(nothing.stdout).toMatch(
    / · skipped: Never use it\.\n {4}always: It may hold for one task only, or refers to other text\. \(\S+\)\n/,
  );
  await runCli(["memories", "add", "The staging database listens on port 5433", "--project", "atlas"], { data: store });
  await fillStore(store, [
    {
      kind: "message",
      session_id: "t",
      project: "atlas",
      role: "assistant",
      content: "## Fact: the staging database listens on port 5434",
    },
  ]);
  expect((await runCli(["extract"], { data: store })).stdout).toMatch(/^1 candidate proposed/);
  // A key that there is not, a reason that there is not, an edit without words: nothing of it decides.
  const { stderr } = await runCli(["review"], { data: store, input: ["x", "r", "9", "e", "", "q"].join("\n") });
  expect(stderr).toMatch(/Contradicts \S+: The staging database listens on port 5433 \(active\)/);
  expect(stderr).toContain('Unknown key "x".');
  expect(stderr).toContain("Unknown reason 9");
  expect(stderr).toContain("The text is empty; nothing was decided.");
  expect(stderr).toContain("0 accepted, 0 rejected; 1 candidate waiting.");
});

test("accepted memories are written into a memory file between markers, and the rest of it stays", async () => {
  const folder = join(folderOfTest(), "shop");
  mkdirSync(folder);
  const [store, file] = [join(folder, "store"), join(folder, "AGENTS.md")];
  const add = (words: string, ...more: string[]) => runCli(["memories", "add", words, ...more], { data: store });
  await add("Prices are in cents --> always", "--type", "project", "--project", "shop");
  await add("Answer in German", "--type", "preference", "--project", "shop");
  await add("Of another project", "--project", "other");
  writeFileSync(file, "# Shop\r\n\r\n- answer in German.\r\n");
  const write = (...more: string[]) => runCli(["memories", "export", "--to", file, ...more], { data: store });
  expect((await write()).status).not.toBe(0);
  expect(readFileSync(file, "utf8")).toBe("# Shop\r\n\r\n- answer in German.\r\n");
  const { status, stdout } = await write("--yes");
  expect([status, stdout]).toEqual([0, expect.stringContaining("+ - Prices are in cents -- > always")]);
  const written = readFileSync(file, "utf8");
  expect(written).toMatch(
    /^# Shop\r\n\r\n- answer in German\.\r\n\r\n<!-- hansard:memories:begin -->\r\n<!-- .* -->\r\n- Prices/,
  );
  expect(written).not.toContain("another");
  expect((await write("--yes")).stdout).toContain("No change");
  writeFileSync(file, `${written}\r\nMore by hand.\r\n`);
  await add("Carts expire after a day", "--type", "knowledge", "--project", "shop");
  await write("--yes");
  expect(readFileSync(file, "utf8")).toMatch(
    /- Carts expire after a day\r\n<!-- hansard:memories:end -->\r\n\r\nMore by hand\.\r\n$/,
  );
  // A marker that somebody removed: nothing is guessed.
  for (const marker of ["<!-- hansard:memories:end -->", "<!-- hansard:memories:begin -->"]) {
    const broken = readFileSync(file, "utf8").replace(marker, "");
    writeFileSync(join(folder, "BROKEN.md"), broken);
    const failed = await runCli(["memories", "export", "--to", join(folder, "BROKEN.md"), "--yes"], { data: store });
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining("must stand there once each")]);
    expect(readFileSync(join(folder, "BROKEN.md"), "utf8")).toBe(broken);
  }
});

test("a session that begins is given the memories of its folder's project, and nothing whatever goes wrong", async () => {
  const folder = join(folderOfTest(), "shop");
  const store = join(folder, "store");
  mkdirSync(join(folder, ".git"), { recursive: true });
  await runCli(["memories", "add", "Prices are in cents", "--type", "project", "--project", "shop"], { data: store });
  const hook = async (input: string, at = store) => {
    const { status, stdout } = await runCli(["recall", "--hook"], { data: at, input });
    return [status, stdout];
  };
  const event = { hook_event_name: "SessionStart", session_id: "s1", cwd: join(folder, "src") };
  const [status, text] = await hook(JSON.stringify(event));
  expect([status, text]).toEqual([0, expect.stringMatching(/^Memories of this project.*\n.*Prices are in cents\n$/s)]);
  const { entries } = await readJson(["list", "--session", "s1"], { data: store });
  expect(entries).toMatchObject([{ kind: "raw", source: "hansard.recall" }]);
  for (const [input, at] of [
    ["", store],
    ["no JSON", store],
    [JSON.stringify({ ...event, cwd: "/elsewhere" }), store],
    [JSON.stringify(event), join(folder, "no-store")],
    [JSON.stringify(event), "http://127.0.0.1:9"],
  ] as const)
    expect(await hook(input, at)).toEqual([0, ""]);
});

test("after an import it is said how many suggestions wait", async () => {
  const folder = folderOfTest();
  const store = join(folder, "store");
  const line = { sessionId: "s", cwd: "/srv/shop", version: "2.1.0", timestamp: "2026-11-15T05:00:00Z" };
  const lines = Array.from({ length: 4 }, (_, nth) => [
    {
      ...line,
      uuid: `a${nth}`,
      type: "assistant",
      message: {
        role: "assistant",
        content: [{ type: "tool_use", id: `t${nth}`, name: "Bash", input: { command: "npm test" } }],
      },
    },
    {
      ...line,
      uuid: `r${nth}`,
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: `t${nth}`, content: "5 passed" }] },
    },
  ]).flat();
  writeFileSync(join(folder, "s.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const { stderr } = await runCli(["import", join(folder, "s.jsonl")], { data: store });
  expect(stderr).toContain("1 suggestion to review: hansard review");
  const { memories } = await readJson(["review"], { data: store });
  expect(memories).toMatchObject([
    { content: "Test: `npm test` (ran 4 times in 1 session, 4 without error)", confidence: 0.8 },
  ]);
});
