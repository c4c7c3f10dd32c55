// `hansard watch`, `serve --watch` and `import` without a path, as processes in homes that are made up.
import type { ChildProcess } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import {
  type CliOptions,
  type CliResult,
  mainFile,
  readError,
  readJson,
  resultOf,
  runCli,
  startCli,
} from "./cli-run.js";

function line(uuid: string, text: string): string {
  const at = "2026-05-04T08:00:00.000Z";
  return `${JSON.stringify({ type: "user", uuid, sessionId: "s1", timestamp: at, message: { role: "user", content: text } })}\n`;
}

/** A home in which Claude Code was used. */
function home(): { readonly env: NodeJS.ProcessEnv; readonly data: string; readonly file: string } {
  const folder = folderOfTest();
  const projects = join(folder, ".claude/projects/p");
  mkdirSync(projects, { recursive: true });
  writeFileSync(join(projects, "s1.jsonl"), line("u1", "the first words"));
  return { env: { HOME: folder }, data: join(folder, "record"), file: join(projects, "s1.jsonl") };
}

function start(args: readonly string[], options: CliOptions): { child: ChildProcess; ended: Promise<CliResult> } {
  const child = startCli(args, options);
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended: resultOf(child) };
}

function hearLines(child: ChildProcess): () => readonly { readonly [name: string]: unknown }[] {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((item) => JSON.parse(item));
}

test("import without a path says what it found, and reads it once it may", async () => {
  const { env, data, file } = home();
  const { status, stdout, stderr } = await runCli(["import"], { env, data });
  expect(status).toBe(2);
  expect(stdout).toMatch(
    /^TOOL +SESSIONS +FILES +SIZE +OLDEST +PLACE\nclaude-code +1 +1 +\d+ bytes +\d{4}-\d\d-\d\d +~\/\.claude\/projects\n$/,
  );
  expect(stderr).toContain("--yes");
  const asked = await runCli(["import", "--json"], { env, data });
  expect(asked.status).toBe(2);
  expect(JSON.parse(asked.stdout)).toMatchObject({ found: [{ tool: "claude-code", sessions: 1, files: 1 }] });
  expect(JSON.parse(asked.stderr)).toMatchObject({ error: { code: "consent_missing" } });
  expect(existsSync(data)).toBe(false);
  expect(await readJson(["import", "--yes"], { env, data })).toMatchObject({ files: 1, sessions: 1, added: 2 });
  for (const name of ["x", "y"]) writeFileSync(join(dirname(file), `${name}.jsonl`), '{"of":"nobody"}\n');
  const again = await runCli(["import", "--yes"], { env, data });
  expect(again).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^FORMAT.* FILES\nclaude-code +0 +2 +0 +1\nAdded 0 .* 1 session in 1 of 3 files\.\n$/,
    ),
    stderr: expect.stringContaining("`hansard sessions`"),
  });
  const nothing = await readError(["import"], { env: { HOME: folderOfTest() }, data });
  expect(nothing).toMatchObject({
    status: 1,
    code: "nothing_found",
    message: expect.stringContaining(".codex/sessions"),
  });
});

test("importing files without a transcript says in one line what to do", async () => {
  const { env, data, file } = home();
  const folder = join(env.HOME ?? "", "odd");
  mkdirSync(join(folder, "nothing"), { recursive: true });
  writeFileSync(join(folder, "export.zip"), "PK\u0003\u0004");
  writeFileSync(join(folder, "nothing/empty.jsonl"), "");
  const told = async (path: string) => await runCli(["import", path], { env, data });
  expect(await told(`${file}.typo`)).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringContaining("no such"),
  });
  expect(await told(join(folder, "nothing"))).toMatchObject({
    status: 0,
    stdout: "",
    stderr: expect.stringContaining("Nothing to import"),
  });
  expect(await told(join(folder, "export.zip"))).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/compressed.*decompress it/),
  });
});

test("watch prints JSON events, reports an unreadable file once, and exits with 0 on SIGTERM", async () => {
  const { env, data, file } = home();
  const locked = join(file, "../locked.jsonl");
  writeFileSync(locked, line("u2", "locked words"));
  chmodSync(locked, 0);
  const { child, ended } = start(["watch", "--json"], { env, data, unprivileged: true });
  const events = hearLines(child);
  await expect.poll(() => events().some(({ event }) => event === "caught_up")).toBe(true);
  const rejected = {
    event: "rejected",
    file: expect.stringContaining("locked"),
    line: 0,
    reason: "permission denied",
  };
  expect(events()).toEqual([
    { event: "watching", paths: expect.arrayContaining([join(file, "../..")]) },
    ...[expect.anything(), expect.anything()],
    expect.objectContaining({ event: "caught_up", files: 2, added: 2, rejected: 1 }),
  ]);
  expect(events()).toEqual(expect.arrayContaining([rejected]));
  appendFileSync(file, line("u3", "words that came later"));
  await expect.poll(async () => (await readJson(["search", "later"], { env, data })).results.length).toBe(1);
  // The line is recorded before it is reported.
  const reported = { event: "file", format: "claude-code", added: 1, rejected: 0 };
  await expect.poll(() => events().at(-1)).toMatchObject(reported);
  chmodSync(locked, 0o600);
  appendFileSync(locked, line("u4", "unlocked words"));
  await expect.poll(async () => (await readJson(["search", "unlocked"], { env, data })).results.length).toBe(1);
  const asked = Date.now();
  child.kill("SIGTERM");
  const { status, stderr } = await ended;
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(Date.now() - asked).toBeLessThan(5_000);
  expect(events().at(-1)).toMatchObject({ event: "stopped", added: 5 });
  expect(events().filter(({ event }) => event === "rejected").length).toBe(1);
});

test("serve --watch reads the known places, and /metrics counts it", async () => {
  const { env, data, file } = home();
  const { child, ended } = start(["serve", "--port", "0", "--watch"], { env, data });
  const address = await new Promise<string>((resolve) => {
    let log = "";
    child.stderr?.on("data", (chunk) => {
      log += chunk;
      const found = /"address":"([^"]+)"/.exec(log)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  appendFileSync(file, line("u5", "served words"));
  const find = async (): Promise<number> => {
    const { results } = (await (await fetch(`${address}/search?q=served`)).json()) as {
      readonly results: readonly object[];
    };
    return results.length;
  };
  await expect.poll(find).toBe(1);
  const metrics = await (await fetch(`${address}/metrics`)).text();
  expect(metrics).toMatch(/^hansard_watch_files 1$/m);
  expect(metrics).toMatch(/^hansard_watch_entries_total 3$/m);
  expect(metrics).toMatch(/^# TYPE hansard_watch_bytes_total counter$/m);
  child.kill("SIGTERM");
  expect((await ended).status).toBe(0);
});

test("--print-service prints what systemd and launchd take, and refuses others", async () => {
  const { data } = home();
  const env = { CODEX_HOME: 'C "x" & 100%' };
  const unit = await runCli(["watch", "--print-service", "systemd", "a $b"], { data, env });
  expect(unit.status).toBe(0);
  expect(unit.stdout).toContain(`"${mainFile}" "watch" "--data" "${data}" "`);
  expect(unit.stdout).toContain('a $$b"\nEnvironment="CODEX_HOME=C \\"x\\" & 100%%"\n');
  const plist = await runCli(["watch", "--print-service", "launchd"], { data, env });
  expect(plist.stdout).toContain("<string>watch</string>");
  expect(plist.stdout).toContain('<key>CODEX_HOME</key><string>C "x" &amp; 100%</string>');
  expect(existsSync(data)).toBe(false);
  expect(await readError(["watch", "--print-service", "cron"], { data })).toMatchObject({
    status: 2,
    code: "option_invalid",
  });
});
