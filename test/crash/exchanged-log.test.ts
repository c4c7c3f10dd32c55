// A log whose files are removed or replaced while programs have them open: what is recorded from then on would lie in a
// deleted file, so none of it is acknowledged.
import { cpSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { fillStore, interactions, startCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { sampleStore, withRecorder } from "./sample-store.js";

const store = sampleStore();
/** From then on a folder whose time has not changed is known to hold what it held. */
const RESTED_MS = 200;
const WAITED = { timeout: 20_000, interval: 50 };
const exchanged = { name: "Fault", code: "store_exchanged", hint: expect.stringContaining("hansard doctor") };

/** What may happen to the files of a log while a program has them open. */
const losses: { readonly [name: string]: (data: string) => Promise<void> } = {
  "log.db was removed": async (data) => rmSync(join(data, "log.db")),
  "all files of the log were removed": async (data) => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(join(data, `log.db${ending}`));
  },
  "another log was put in its place": async (data) => {
    const other = join(folderOfTest(), "other");
    await fillStore(other, interactions(3));
    renameSync(join(other, "log.db"), join(data, "log.db"));
  },
  "a copy of itself was put in its place": async (data) => {
    cpSync(join(data, "log.db"), join(data, "copy"));
    renameSync(join(data, "copy"), join(data, "log.db"));
  },
  "its WAL was removed": async (data) => rmSync(join(data, "log.db-wal")),
  "its WAL was exchanged": async (data) => {
    cpSync(join(data, "log.db-wal"), join(data, "copy"));
    renameSync(join(data, "copy"), join(data, "log.db-wal"));
  },
  "the whole folder was moved away": async (data) => renameSync(data, `${data}-moved`),
};

describe.each(Object.entries(losses))("%s:", (_, lose) => {
  test.each([
    ["an entry that comes alone", 1, 1],
    ["entries of a crowd, which a thread writes,", 50, 50],
    ["a crowd for which the thread is only started then,", 1, 50],
  ])("%s is not acknowledged", async (_name, before, crowd) => {
    const data = await store.copy();
    const recorder = await openedIn(data);
    await recordCrowd(recorder, before);
    await lose(data);
    for (const outcome of await recordCrowd(recorder, crowd)) expect(outcome).toMatchObject(exchanged);
    expect(await recorder.health()).toMatchObject({ status: "degraded", trouble: "store_exchanged" });
  });

  test("an entry is not acknowledged even if the folder had long been idle", async () => {
    const data = await store.copy();
    const recorder = await openedIn(data);
    await vi.waitFor(async () => {
      expect(await recordCrowd(recorder, 1)).toEqual(["recorded"]);
      expect(Date.now() - statSync(data).ctimeMs).toBeGreaterThan(RESTED_MS);
    }, WAITED);
    expect(await recordCrowd(recorder, 1)).toEqual(["recorded"]);
    await lose(data);
    expect(await recordCrowd(recorder, 1)).toEqual([expect.objectContaining(exchanged)]);
  });

  test("the program that has it open can still export earlier entries", async () => {
    const data = await store.copy();
    const recorder = await openedIn(data);
    const before = await linesOf(recorder);
    await lose(data);
    expect((await linesOf(recorder)).slice(1)).toEqual(expect.arrayContaining(before.slice(1)));
  });
});

test("files that were moved away and back are written again", async () => {
  const data = await store.copy();
  const recorder = await openedIn(data);
  await recordCrowd(recorder, 1);
  renameSync(data, `${data}-moved`);
  expect(await recordCrowd(recorder, 1)).toEqual([expect.objectContaining(exchanged)]);
  renameSync(`${data}-moved`, data);
  expect(await recordCrowd(recorder, 1)).toEqual(["recorded"]);
  await recorder.close();
  expect(await withRecorder(data, (opened) => opened.verify())).toMatchObject({ ok: true });
});

test("over HTTP it is a 503, and entries acknowledged before the WAL was removed survive a kill", async () => {
  const data = join(folderOfTest(), "store");
  mkdirSync(data);
  const server = startCli(["serve", "--port", "0"], { data });
  onTestFinished(() => void server.kill("SIGKILL"));
  const address = await addressOf(server);
  const post = async (id: string) => {
    const body = JSON.stringify({ kind: "decision", id, decision: "to keep" });
    const answer = await fetch(`${address}/entries`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return { status: answer.status, body: (await answer.json()) as { readonly error?: { readonly code: string } } };
  };
  const acknowledged: string[] = [];
  for (let nth = 0; nth < 50; nth += 1) {
    expect(await post(`before-${nth}`)).toMatchObject({ status: 201 });
    acknowledged.push(`before-${nth}`);
  }
  rmSync(join(data, "log.db-wal"));
  for (let nth = 0; nth < 20; nth += 1) {
    expect(await post(`after-${nth}`)).toMatchObject({ status: 503, body: { error: { code: "store_exchanged" } } });
  }
  const health = await fetch(`${address}/health`);
  expect({ status: health.status, body: await health.json() }).toMatchObject({
    status: 503,
    body: { status: "degraded", trouble: "store_exchanged" },
  });
  const ended = new Promise((resolve) => server.once("close", resolve));
  server.kill("SIGKILL");
  await ended;
  await withRecorder(data, async (recorder) => {
    for (const id of acknowledged) expect(await recorder.getEntry(id), id).toMatchObject({ id });
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });
});

async function openedIn(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

/** What came of each of so many entries that are given at once: that it was recorded, or the fault. */
function recordCrowd(recorder: Recorder, count: number): Promise<readonly unknown[]> {
  const one = async (): Promise<unknown> => {
    try {
      return (await recorder.append({ kind: "decision", decision: "to go on" })).status;
    } catch (error) {
      return error;
    }
  };
  return Promise.all(Array.from({ length: count }, one));
}

async function linesOf(recorder: Recorder): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of recorder.exportEntries()) lines.push(line);
  return lines;
}

function addressOf(server: ReturnType<typeof startCli>): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    server.stdout?.setEncoding("utf8").on("data", hear);
    server.stderr?.setEncoding("utf8").on("data", hear);
    server.once("close", () => reject(new Error(heard)));
    function hear(chunk: string): void {
      heard += chunk;
      const [address] = /http:\/\/[\d.]+:\d+/.exec(heard) ?? [];
      if (address !== undefined) resolve(address);
    }
  });
}
