// `hansard tail` as a process: it shows what others record, and ends without a word.
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type CliResult, fillStore, mainFile, readError, resultOf, startCli } from "./cli-run.js";

interface RunningTail {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  lines(): readonly string[];
}

function tail(data: string, ...args: readonly string[]): RunningTail {
  const child = startCli(["tail", ...args], { data });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return { child, ended: resultOf(child), lines: () => text.split("\n").slice(0, -1) };
}

async function store(): Promise<{ readonly data: string; readonly recorder: Recorder }> {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return { data, recorder };
}

test("another process's entries appear by themselves, a line each, and SIGINT ends it quietly", async () => {
  const { data, recorder } = await store();
  await recorder.append({ kind: "error", error: "before" });
  const { child, ended, lines } = tail(data, "--after", "1");
  await recorder.append({ kind: "error", error: "first\nline", session_id: "s" });
  await expect.poll(lines).toHaveLength(1);
  await recorder.append({ kind: "decision", decision: "second" });
  await expect.poll(lines).toHaveLength(2);
  expect(lines()[0]).toMatch(/^\d\d:\d\d:\d\d +#2 error +first line \(s\)$/);
  expect(lines()[1]).toMatch(/#3 decision +second$/);
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ status: 0, stderr: "" });
});

test("--json prints the entry of GET /entries/{id} on one line, and filters hold", async () => {
  const { data, recorder } = await store();
  await recorder.append([
    { kind: "error", error: "e", project: "web" },
    { kind: "error", error: "e", project: "other" },
    { kind: "message", session_id: "s", role: "user", content: "a\u2028b\u009b2J", project: "web" },
  ]);
  const { child, ended, lines } = tail(data, "--json", "--after", "0", "--project", "web");
  await expect.poll(lines).toHaveLength(2);
  expect(lines().map((line) => JSON.parse(line))).toEqual([await recorder.getEntry(1), await recorder.getEntry(3)]);
  expect(lines().join("")).not.toContain("\u009b");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ status: 0, stderr: "" });
});

test("a reader that has seen enough ends it", async () => {
  const { data, recorder } = await store();
  const command = `"${process.execPath}" "${mainFile}" tail --after 0 --data "${data}" | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const child = spawn("bash", ["-c", command], { stdio: "pipe" });
  const ended = resultOf(child);
  const timer = setInterval(() => void recorder.append({ kind: "error", error: "e" }), 50);
  onTestFinished(() => clearInterval(timer));
  const { stdout, stderr } = await ended;
  clearInterval(timer);
  expect(stdout).toMatch(/#1 error +e\n0\n$/);
  expect(stderr).toBe("");
});

test("an empty store is waited on; a missing one and wrong options are errors", async () => {
  const { data, recorder } = await store();
  const { child, ended, lines } = tail(data);
  const timer = setInterval(() => void recorder.append({ kind: "error", error: "e" }), 50);
  onTestFinished(() => clearInterval(timer));
  await expect.poll(lines).not.toHaveLength(0);
  clearInterval(timer);
  child.kill("SIGHUP");
  expect(await ended).toMatchObject({ status: 0 });
  expect(await readError(["tail"], { data: join(data, "none") })).toMatchObject({ status: 1, code: "store_missing" });
  await fillStore(data, [{ kind: "error", error: "e" }]);
  expect(await readError(["tail", "--after", "x"], { data })).toMatchObject({ status: 2, field: "after" });
  expect(await readError(["tail", "--kind", "gossip"], { data })).toMatchObject({ status: 2, code: "kind_unknown" });
});
