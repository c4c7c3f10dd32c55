// What an agent's author types: opinions, messages taken back, misspelt fields and flags, and windows that are too small.
import { expect, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

test("feedback, withdrawals and failed calls are recorded with flags", async () => {
  const data = folderOfTest();
  const failed = await readJson(["record", "--prompt", "q", "--error", "overloaded", "--id", "i"], { data });
  expect(failed).toMatchObject({ status: "recorded", id: "i", position: 1 });
  const opinion = ["--entry-id", "i", "--score", "-1", "--comment", "no answer"];
  await readJson(["record", "--kind", "feedback", ...opinion], { data });
  await readJson(["record", "--kind", "message", "--session", "s", "--role", "user", "--content", "oops"], { data });
  await readJson(["record", "--kind", "withdrawal", "--session", "s", "--withdraws", "3"], { data });
  expect((await readJson(["list", "--is", "disliked"], { data })).entries).toMatchObject([{ id: "i" }]);
  expect((await readJson(["list", "--is", "error"], { data })).entries).toMatchObject([{ id: "i" }]);
  expect(await readJson(["history", "s"], { data })).toEqual({ messages: [] });
  expect((await readJson(["reflect"], { data })).disliked).toMatchObject({ count: 1 });
  expect((await runCli(["list"], { data })).stdout).toContain("(failed) q");
  expect((await runCli(["sessions", "s"], { data })).stdout).toContain("removes #3 from history");
  const elsewhere = ["record", "--kind", "withdrawal", "--session", "t", "--withdraws", "3"];
  expect(await readError(elsewhere, { data })).toMatchObject({ status: 2, field: "withdraws" });
  const missing = ["record", "--kind", "feedback", "--entry-id", "x", "--score", "1"];
  expect(await readError(missing, { data })).toMatchObject({ status: 1, code: "entry_not_found" });
});

test("unknown fields of a kind are named, in a warning with the answer and in the document", async () => {
  const data = folderOfTest();
  const input = '{"prompt":"p","respons":"r"}\n{"kind":"error","error":"e","sevrity":1,"respons":2}\n';
  const { status, stdout, stderr } = await runCli(["record"], { data, input });
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("Recorded 2 entries") });
  expect(stderr).toBe("Unknown fields kept in extra: respons, sevrity\n");
  const { entries } = await readJson(["record"], { data, input });
  expect(entries).toMatchObject([{ unknown_fields: ["respons"] }, { unknown_fields: ["sevrity", "respons"] }]);
  expect((await runCli(["record", "--prompt", "p"], { data })).stderr).toBe("");
});

test("a flag that is given twice is refused, unless its values add up", async () => {
  const data = folderOfTest();
  const twice = { status: 2, code: "option_repeated" };
  const list = ["list", "--project", "a", "--project", "b"];
  expect(await readError(list, { data })).toMatchObject({ ...twice, field: "--project" });
  const record = ["record", "--prompt", "a", "--prompt", "b"];
  expect(await readError(record, { data })).toMatchObject({ ...twice, field: "--prompt" });
  for (const args of [
    ["--data", data, "--data", data, "list"],
    ["--data", data, "list", "--data", data],
  ]) {
    expect(await readError(args)).toMatchObject({ ...twice, field: "--data" });
  }
  const used = ["record", "--prompt", "p", "--id", "i", "--memory", "m1", "--memory", "m2"];
  expect((await runCli([...used, "--json", "--json"], { data })).status).toBe(0);
  expect((await readJson(["show", "i"], { data })).memories_used).toEqual(["m1", "m2"]);
});

test("an empty history says why: nothing recorded, or nothing left; if nothing fits, it says the smallest limit that would", async () => {
  const data = folderOfTest();
  await fillStore(data, [
    { kind: "message", session_id: "s", role: "user", content: "word ".repeat(50) },
    { kind: "message", session_id: "cleared", role: "user", content: "q" },
    { kind: "clear", session_id: "cleared" },
  ]);
  const history = async (...args: readonly string[]): Promise<string> =>
    (await runCli(["history", ...args], { data })).stdout;
  const refused = await runCli(["history", "s", "--max-tokens", "10"], { data });
  expect([refused.status, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/need \d+\n +field: --max-tokens\n +hint: +Give \d+ or more\.\n/);
  expect(await history("s", "--max-messages", "0")).toMatch(/--max-messages 0 leaves no messages/);
  expect(await history("cleared", "--max-tokens", "10")).toMatch(/or was cleared/);
  expect(await history("nobody", "--max-tokens", "10")).toMatch(/no entries in session/);
  const { stderr } = await runCli(["history", "s", "--max-tokens", "10", "--json"], { data });
  const { error } = JSON.parse(stderr);
  expect(error).toMatchObject({ code: "budget_too_small", field: "max_tokens" });
  const { messages } = await readJson(["history", "s", "--max-tokens", `${error.least}`], { data });
  expect(messages).toHaveLength(1);
});

test("a search by filters alone shows what a tool was called with and what it gave back", async () => {
  const data = folderOfTest();
  await fillStore(data, [{ kind: "tool_call", tool: "bash", args: { command: "ls -la" }, result: "total 0" }]);
  expect((await runCli(["search", "kind:tool_call"], { data })).stdout).toContain("bash command ls -la total 0");
});
