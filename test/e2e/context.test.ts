// What a model was given, through every surface: the library on each engine, a server, the command line and the remote store.
import { beforeAll, expect, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { runCli } from "./cli-run.js";
import { serverOfFile } from "./http-client.js";

const server = serverOfFile();
const recorder = (): Recorder => server().recorder;

const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
const says = (role: string, content: string) => ({ role, content });
const rule = says("system", `Never push to main. Use ${token}`);

const entries: readonly EntryInput[] = [
  { kind: "message", id: "u1", session_id: "s", role: "user", content: "The port is 4747" },
  { kind: "message", id: "a1", session_id: "s", role: "assistant", content: "Noted" },
  { kind: "clear", id: "c", session_id: "s" },
  { kind: "message", id: "u2", session_id: "s", role: "user", content: "Which port?" },
  { kind: "message", id: "a2", session_id: "s", role: "assistant", content: "I do not know" },
  { kind: "error", id: "x", session_id: "s", error: "ECONNREFUSED" },
  {
    kind: "interaction",
    id: "i1",
    session_id: "t",
    prompt: "go",
    response: "gone",
    context_pack: { messages: [rule, says("user", "go")] },
  },
  {
    kind: "interaction",
    id: "i2",
    session_id: "t",
    prompt: "on",
    response: "ok",
    context_pack: { messages: [says("user", "on")], system: [{ type: "text", text: "Be brief." }] },
  },
];

beforeAll(() => recorder().append(entries));

test("the verdicts are the same wherever they are asked for", async () => {
  const cases = [
    ["a2", "which PORT?", "given", undefined],
    ["a2", "port is 4747", "fell_out", "clear"],
    ["x", "port is 4747", "fell_out", "clear"],
    ["i2", "never push", "fell_out", "removed"],
    ["i1", "never push", "given", undefined],
    ["a2", "never push", "never", undefined],
  ] as const;
  const remote = await openRecorder({ data: server().address });
  for (const [id, q, verdict, why] of cases) {
    const told = await recorder().told(id, q);
    expect([id, q, told?.verdict, told?.why]).toEqual([id, q, verdict, why]);
    const { status, body } = await server().get(`/entries/${id}/told?${new URLSearchParams({ q })}`);
    expect([status, body]).toEqual([200, told]);
    expect(await remote.told(id, q)).toEqual(told);
    expect(await remote.context(id)).toEqual(await recorder().context(id));
  }
  expect(await remote.told("nobody", "x")).toBeUndefined();
  await expect(remote.context("u1")).rejects.toMatchObject({ code: "field_invalid", field: "id" });
  await remote.close();
  const shown = await runCli(["told", "i2", "never", "push", "--data", server().address]);
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^Fell out: 'never push' was given earlier, but no longer \(it was removed\)\./);
  expect(shown.stdout).toContain("Last given for #7 (i1)");
  const near = await runCli(["told", "a2", "which port", "--data", server().address]);
  expect(near.stdout).toContain("\nuser  1 token from the end  u2\n  Which port?\n");
  const empty = await runCli(["told", "i2", "", "--data", server().address]);
  expect([empty.status, empty.stderr]).toEqual([2, expect.stringMatching(/the query is empty\n *hint/)]);
  const json = await runCli(["told", "i2", "never push", "--json", "--data", server().address]);
  expect(JSON.parse(json.stdout)).toEqual(await recorder().told("i2", "never push"));
});

test("a context is unmasked, and masked on request", async () => {
  const { body } = await server().get("/entries/i1/context");
  expect(body).toMatchObject({ exact: true, messages: [rule, { role: "user", content: "go", entry_id: "i1" }] });
  const masked = await server().get("/entries/i1/context?masked=1");
  expect(JSON.stringify(masked.body)).not.toContain(token);
  expect(masked.body.messages[1]).toEqual(body.messages[1]);
  const told = await server().get("/entries/i1/told?q=never%20push");
  expect(JSON.stringify(told.body)).not.toContain(token);
  const shown = await runCli(["context", "7", "--data", server().address]);
  expect(shown.stdout).toMatch(/^Context of answer #7\n2 messages, \d+ tokens, as recorded\.\n/);
  expect(shown.stdout).toMatch(/\nWhat followed\n {2}#8 next message: on\n$/);
  const remoteText = await runCli(["context", "8", "--data", server().address]);
  expect(remoteText.stdout).toContain("\nsystem\n  Be brief.\n");
  const json = await runCli(["context", "i1", "--json", "--data", server().address]);
  expect(JSON.parse(json.stdout)).toEqual(body);
});

test("what cannot be asked is refused with what to change", async () => {
  const refused = async (path: string) => {
    const { status, body } = await server().get(path);
    return [status, body.error.code, body.error.field];
  };
  expect(await refused("/entries/nobody/context")).toEqual([404, "entry_not_found", undefined]);
  expect(await refused("/entries/999/told?q=x")).toEqual([404, "entry_not_found", undefined]);
  expect(await refused("/entries/u1/context")).toEqual([400, "field_invalid", "id"]);
  expect(await refused("/entries/c/told?q=x")).toEqual([400, "field_invalid", "id"]);
  for (const q of ["", "?q=", "?q=%20%0a"]) {
    expect(await refused(`/entries/a2/told${q}`)).toEqual([400, "query_empty", "q"]);
  }
  expect(await refused(`/entries/a2/told?q=${"x".repeat(33_000)}`)).toEqual([400, "query_too_long", "q"]);
  const missing = await runCli(["told", "nobody", "x", "--data", server().address]);
  expect(missing).toMatchObject({ status: 1, stdout: "" });
  expect(missing.stderr).toMatch(/^error: there is no entry "nobody"\n {2}hint: /);
  // What was no flag is not called one.
  for (const words of [
    ["context", "u1"],
    ["told", "a2", "x".repeat(33_000)],
  ]) {
    const refused = await runCli([...words, "--data", server().address]);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).not.toContain("--");
  }
});
