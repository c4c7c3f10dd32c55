// The client's spool where somebody or something meddles with it: files that are removed, disks that cannot be read.
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import { readJson, runCli } from "./cli-run.js";
import { AWAY, connect, heldPort, PATIENTLY, spoolFiles, standBefore, standIn } from "./connected-client.js";
import { startServer } from "./http-client.js";

const REMOVED = {
  code: "spool_failed",
  dropped: 0,
  message: "the spool was removed; entries that have not arrived were written again",
};

function linesIn(spool: string): readonly string[] {
  const lines = spoolFiles(spool).flatMap((name) => readFileSync(join(spool, name), "utf8").trim().split("\n"));
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line).error);
}

/** What an agent leaves that was closed while its server was away. */
function leave(spool: string, error: string): string {
  const [folder = ""] = readdirSync(spool);
  const path = join(spool, folder, "closed-0-x.0.ndjson");
  writeFileSync(path, `${JSON.stringify({ kind: "error", error, id: error.replace(" ", "-") })}\n`);
  return path;
}

test("a removed spool is written again with all that has not arrived, and reported", async () => {
  const { recorder, problems, spool } = connect(AWAY, { retry_ms_min: 60_000, retry_ms_max: 60_000 });
  await recorder.append({ kind: "error", error: "a" });
  await vi.waitFor(() => expect(problems).toMatchObject([{ code: "server_away" }]), 20_000);
  for (const name of spoolFiles(spool)) rmSync(join(spool, name));
  await recorder.append({ kind: "error", error: "b" });
  expect(linesIn(spool)).toEqual(["a", "b"]);
  rmSync(spool, { recursive: true });
  await recorder.append({ kind: "error", error: "c" });
  expect(linesIn(spool)).toEqual(["a", "b", "c"]);
  expect(recorder.counters).toEqual({ queued: 0, spooled: 3, sent: 0, dropped: 0 });
  rmSync(spool, { recursive: true });
  expect(await recorder.close()).toEqual({ queued: 0, spooled: 3, sent: 0, dropped: 0 });
  expect(linesIn(spool)).toEqual(["a", "b", "c"]);
  expect(problems.slice(1)).toEqual([REMOVED, { ...REMOVED, times: 2 }]);
});

test("a spool that is removed is written again although a backup still links to its files", async () => {
  const { recorder, problems, spool } = connect(AWAY, { retry_ms_min: 60_000, retry_ms_max: 60_000 });
  await recorder.append({ kind: "error", error: "a" });
  await vi.waitFor(() => expect(problems).toMatchObject([{ code: "server_away" }]), 20_000);
  const backup = folderOfTest();
  for (const name of spoolFiles(spool)) {
    fs.linkSync(join(spool, name), join(backup, "linked"));
    rmSync(join(spool, name));
  }
  await recorder.append({ kind: "error", error: "b" });
  expect(linesIn(spool)).toEqual(["a", "b"]);
  expect(problems.slice(1)).toEqual([REMOVED]);
});

test("what is written while another process takes the file over is written again", async () => {
  const { recorder, problems, spool } = connect(AWAY, { retry_ms_min: 60_000, retry_ms_max: 60_000 });
  await recorder.append({ kind: "error", error: "a" });
  await vi.waitFor(() => expect(problems).toMatchObject([{ code: "server_away" }]), 20_000);
  const [name = ""] = spoolFiles(spool);
  const taken = join(spool, name.replace(/[^/]+$/, "closed-0-other.0.ndjson"));
  const { writeSync } = fs;
  const spy = vi.spyOn(fs, "writeSync").mockImplementationOnce(((...args: Parameters<typeof writeSync>) => {
    fs.renameSync(join(spool, name), taken);
    return writeSync(...args);
  }) as typeof writeSync);
  onTestFinished(() => spy.mockRestore());
  await recorder.append({ kind: "error", error: "b" });
  // The other process delivered what it found before, and removes the file.
  rmSync(taken);
  expect(linesIn(spool)).toEqual(["b"]);
});

test("a removed spool is noticed even if nothing more is captured", async () => {
  const { recorder, problems, spool } = connect(AWAY);
  await recorder.append({ kind: "error", error: "a" });
  for (const name of spoolFiles(spool)) rmSync(join(spool, name));
  await vi.waitFor(() => expect(problems).toContainEqual(REMOVED), 20_000);
  expect(linesIn(spool)).toEqual(["a"]);
});

test("what can neither be sent nor left for anybody is counted as lost, and told", async () => {
  const { recorder, problems, spool } = connect(AWAY);
  await recorder.append({ kind: "error", error: "a" });
  await vi.waitFor(() => expect(problems).toMatchObject([{ code: "server_away" }]), 20_000);
  // A file where the folder was: nothing can be written there, and what was in it is gone.
  rmSync(spool, { recursive: true });
  writeFileSync(spool, "");
  await recorder.append({ kind: "error", error: "b" });
  expect(recorder.counters).toEqual({ queued: 1, spooled: 1, sent: 0, dropped: 0 });
  expect(await recorder.close({ timeout_ms: 10 })).toEqual({ queued: 0, spooled: 0, sent: 0, dropped: 2 });
  expect(problems.slice(-2)).toEqual([
    { code: "spool_failed", message: "the spool was removed, and is lost", dropped: 1 },
    { code: "client_closed", message: "entries waiting in memory were lost", dropped: 1 },
  ]);
});

test("an agent that ends with something in memory alone says that it is lost", async () => {
  const agentFile = fileURLToPath(new URL("../support/agent.js", import.meta.url));
  for (const ending of ["exit", "wait"]) {
    const agent = spawn(process.execPath, [agentFile, AWAY, "", "1", "2", ending, "aloud"], { stdio: "pipe" });
    let said = "";
    agent.stderr.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    if (ending === "wait") {
      await once(agent.stdout, "data");
      agent.kill("SIGTERM");
    }
    await once(agent, "close");
    const lost = ending === "wait" ? 3 : 2;
    expect(said).toContain(`hansard: client_closed: entries waiting in memory were lost (${lost} lost)`);
  }
});

test("a file that cannot be read is reported once and retried with backoff; the other files are sent", async () => {
  const server = await startServer();
  const { recorder: earlier, spool } = connect(server.address);
  await earlier.close();
  const { ino } = fs.statSync(leave(spool, "unreadable"));

  // A disk breaks after the file was measured: from its second reading on.
  const { readSync } = fs;
  const broken = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
  const reads: number[] = [];
  const spy = vi.spyOn(fs, "readSync").mockImplementation(((fd: number, ...rest: [NodeJS.ArrayBufferView]) => {
    if (fs.fstatSync(fd).ino === ino && reads.push(fd) > 2) throw broken;
    return readSync(fd, ...rest);
  }) as typeof readSync);
  onTestFinished(() => spy.mockRestore());
  const heir = connect(server.address, { spool, retry_ms_min: 60_000, retry_ms_max: 60_000 });
  await heir.recorder.append({ kind: "error", error: "readable" });
  await vi.waitFor(() => expect(heir.recorder.counters).toMatchObject({ sent: 1, spooled: 1 }), 20_000);
  await vi.waitFor(() => expect(heir.problems).toHaveLength(1), 20_000);
  // Many times as long as it gathers captures.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await heir.recorder.append({ kind: "error", error: "later" });
  expect([reads.length, heir.problems]).toEqual([
    3,
    [{ code: "spool_failed", message: "the spool cannot be read: EIO: i/o error, read", dropped: 0 }],
  ]);
  spy.mockRestore();
  expect(await heir.recorder.flush(PATIENTLY)).toMatchObject({ sent: 3, spooled: 0, dropped: 0 });
});

test("a client that has nothing to do delivers what another left behind when it died", async () => {
  const server = await startServer();
  const { recorder, spool } = connect(server.address, { adopt_ms: 20 });
  await recorder.append({ kind: "error", error: "own" });
  await vi.waitFor(() => expect(recorder.counters.sent).toBe(1), 20_000);
  leave(spool, "left behind");
  await vi.waitFor(() => expect(recorder.counters.sent).toBe(2), 20_000);
});

test("hansard deliver sends what a killed agent left, and keeps it if the server is unreachable", async () => {
  const [{ port, release }, spool, data] = [await heldPort(), folderOfTest(), folderOfTest()];
  const agentFile = fileURLToPath(new URL("../support/agent.js", import.meta.url));
  const address = `http://127.0.0.1:${port}/`;
  const agent = spawn(process.execPath, [agentFile, address, spool, "1", "3", "wait"], { stdio: "pipe" });
  await once(agent.stdout, "data");
  const command = ["deliver", "--spool", spool];
  // What belongs to an agent that is there is not taken from it.
  expect(await readJson(command, { data })).toEqual({ deliveries: [] });
  agent.kill("SIGKILL");
  await once(agent, "close");
  const away = await runCli(command, { data });
  expect(away).toMatchObject({ status: 1, stdout: expect.stringContaining("0 entries sent, 4 not sent") });
  await release();
  const server = await startServer({ data, port });
  const delivered = { server: address, sent: 4, left: 0, dropped: 0, problems: [] };
  expect(await readJson(command, { data })).toEqual({ deliveries: [delivered] });
  expect((await server.get("/health")).body.position).toBe(4);
  expect((await runCli(command, { data })).stdout).toBe("Nothing to deliver.\n");
});

test("a spool that the command cannot use is an error, and not taken for an empty one", async () => {
  const [spool, data] = [folderOfTest(), folderOfTest()];
  const address = `${AWAY}/entries`;
  writeFileSync(join(spool, hash("sha256", address).slice(0, 16)), "");
  const { status, stdout } = await runCli(["deliver", "--spool", spool, "--url", AWAY], { data });
  expect([status, stdout]).toEqual([1, expect.stringContaining("spool_failed: the spool cannot be used")]);
});

test("the key of one server is sent to no other, and what older clients left is found by its address", async () => {
  const keys: unknown[] = [];
  const elsewhere = await standIn(({ headers }, response) => {
    keys.push(headers.authorization);
    response.writeHead(401).end('{"error":{"code":"key_wrong","message":"m"}}');
  });
  const [server, spool, data] = [await startServer(), folderOfTest(), folderOfTest()];
  for (const address of [elsewhere, server.address]) {
    const folder = join(spool, hash("sha256", `${address}/entries`).slice(0, 16));
    mkdirSync(folder);
    writeFileSync(
      join(folder, "closed-0-x.0.ndjson"),
      `${JSON.stringify({ kind: "error", error: "e", id: "left" })}\n`,
    );
    writeFileSync(join(folder, "server.txt"), `${address}/entries\n`);
  }
  const command = ["deliver", "--spool", spool];
  const env = { HANSARD_KEY: "hk_of_the_other" };
  const refused = await runCli(command, { data, env });
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining("--url") });
  for (const folder of readdirSync(spool)) rmSync(join(spool, folder, "server.txt"));
  const named = await runCli([...command, "--url", server.address], { data, env });
  expect(named).toMatchObject({ status: 0, stdout: expect.stringContaining("1 entry sent") });
  expect(keys).toEqual([]);
  expect((await runCli([...command, "--url", "record"], { data })).status).toBe(2);
});

test("a disk that is full when an agent begins costs it no spool, and whose that is is written later", async () => {
  const { writeFileSync } = fs;
  const spy = vi.spyOn(fs, "writeFileSync").mockImplementation((path) => {
    writeFileSync(path, "");
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  onTestFinished(() => spy.mockRestore());
  const { recorder, problems, spool } = connect(AWAY, { retry_ms_min: 60_000, retry_ms_max: 60_000 });
  expect([spy.mock.calls.length, problems]).toEqual([1, []]);
  spy.mockRestore();
  await recorder.append({ kind: "error", error: "a" });
  expect(linesIn(spool)).toEqual(["a"]);
  const [folder = ""] = readdirSync(spool);
  expect(readFileSync(join(spool, folder, "server.txt"), "utf8")).toBe(`${AWAY}/entries\n`);
});

test("a spool file that vanishes while it is being sent takes nothing with it that comes later", async () => {
  const server = await startServer();
  const held: (() => void)[] = [];
  let isHeld = true;
  const before = await standBefore(server.address, (_, __, pass) => void (isHeld ? held.push(pass) : pass()));
  const { recorder, problems, spool } = connect(before);
  await recorder.append({ kind: "error", error: "first" });
  await vi.waitFor(() => expect(held).toHaveLength(1), 20_000);
  for (const name of spoolFiles(spool)) rmSync(join(spool, name));
  await recorder.append({ kind: "error", error: "second" });
  isHeld = false;
  for (const pass of held) pass();
  expect(await recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 2, dropped: 0 });
  expect(problems).toEqual([REMOVED]);
  const { entries } = (await server.get("/entries")).body;
  expect(entries.map(({ error }: { error: string }) => error)).toEqual(["second", "first"]);
});
