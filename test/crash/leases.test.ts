// Leases of a folder between processes: never two holders, and none left behind by one that was killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { SqliteLeases } from "../../src/engines/sqlite/leases.js";
import { openRecorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("a killed holder frees its lease at once; a suspended one keeps it", async () => {
  const folder = folderOfTest();
  const leases = leasesOf(folder);
  const holder = start(folder, "work");
  expect(await answerOf(holder)).toBe("held");
  expect(await leases.hold("work")).toBe(false);
  expect(await leases.hold("other-work")).toBe(true);
  holder.kill("SIGSTOP");
  await pause(300);
  expect(await leases.hold("work")).toBe(false);
  const ended = once(holder, "exit");
  holder.kill("SIGKILL");
  await ended;
  await vi.waitUntil(() => leases.hold("work"), { timeout: 2_000 });
  expect(await leases.hold("work")).toBe(true);
});

test("processes that take a lease repeatedly and are killed never hold it at the same time", async () => {
  const folder = folderOfTest();
  const notes = join(folderOfTest(), "notes");
  const programs = Array.from({ length: 4 }, () => start(folder, "work", notes));
  const linesOf = (): readonly string[] =>
    statSync(notes, { throwIfNoEntry: false }) === undefined ? [] : readFileSync(notes, "utf8").trim().split("\n");
  await vi.waitUntil(() => linesOf().length > 60, { timeout: 60_000 });
  const killed = new Set<number>();
  for (const program of programs.slice(0, 2)) {
    program.kill("SIGKILL");
    killed.add(program.pid as number);
  }
  const before = linesOf().length;
  await vi.waitUntil(() => linesOf().length > before + 60, { timeout: 60_000 });
  let holder: number | undefined;
  for (const line of linesOf()) {
    const [what, pid] = [line.split(" ")[0], Number(line.split(" ")[1])];
    // One that was killed in the middle has not written down that it ended.
    if (what === "begin") expect([undefined, ...killed], line).toContain(holder);
    else expect(pid, line).toBe(holder);
    holder = what === "begin" ? pid : undefined;
  }
}, 180_000);

test("a lease whose file was removed can be taken again, and its file is private to the store's owner", async () => {
  const folder = folderOfTest();
  const [one, other] = [leasesOf(folder), leasesOf(folder)];
  expect(await one.hold("work")).toBe(true);
  expect(statSync(join(folder, "work.lease")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["work.lease"]);
  rmSync(join(folder, "work.lease"));
  expect(await other.hold("work")).toBe(true);
  expect(await one.hold("work")).toBe(false);
});

test("a held lease does not block recording, reading and forgetting", async () => {
  const data = folderOfTest();
  const leases = leasesOf(data);
  expect(await leases.hold("work")).toBe(true);
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  await recorder.append({ kind: "error", id: "e", error: "text" });
  expect(await recorder.count()).toMatchObject({ entries: 1 });
  expect(await recorder.forget({ entry: "e", reason: "it was asked for" })).toMatchObject({ left: [] });
  // A second look from the same process must not take the lock away from the first.
  expect(await leasesOf(data).hold("work")).toBe(false);
  expect(await answerOf(start(data, "work"))).toBe("refused");
  expect(await leases.hold("work")).toBe(true);
});

test("a missing folder is a fault that says what to do", async () => {
  const leases = leasesOf(join(folderOfTest(), "nowhere"));
  await expect(leases.hold("work")).rejects.toMatchObject({ code: expect.any(String), hint: expect.any(String) });
});

function leasesOf(folder: string): SqliteLeases {
  const leases = new SqliteLeases({ folder });
  onTestFinished(() => leases.close());
  return leases;
}

async function answerOf({ stdout }: ChildProcess): Promise<string> {
  const [line] = await once(stdout as NodeJS.ReadableStream, "data");
  return String(line).trim();
}

function start(...given: readonly string[]): ChildProcess {
  const program = fileURLToPath(new URL("./lease-holder.js", import.meta.url));
  const child = spawn(process.execPath, [program, ...given], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
