// A log that was cut off, rewritten at its end, replaced or removed is detected by what is known of it elsewhere, and
// nothing that knows it forgets before a person has been told.
import { copyFileSync, cpSync, existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { type EntryInput, openRecorder, type Verification } from "../../src/index.js";
import type { Finding } from "../../src/model/verification.js";
import { backUpStore } from "../../src/recorder/back-up-store.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { withRecorder } from "../crash/sample-store.js";
import { readJson, resultOf, runCli, serveCli, startCli } from "../e2e/cli-run.js";
import { startServer } from "../e2e/http-client.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";

const FIRST = 20;
const ALL = 50;

interface Place {
  readonly data: string;
  readonly env: { readonly XDG_CONFIG_HOME: string };
  /** The log as it was after the first entries. */
  readonly early: string;
}

/** A store whose index has seen all of its entries, a copy of its log from before the last of them, and a backup of that. */
async function newPlace(): Promise<Place> {
  made ??= make(placeIn(original));
  await made;
  const folder = folderOfTest();
  cpSync(original, folder, { recursive: true });
  return placeIn(folder);
}

/** Made once, since every test begins with a copy of it. */
const original = folderOfFile();
let made: Promise<void> | undefined;

function placeIn(folder: string): Place {
  const config = join(folder, "config");
  return { data: join(folder, "store"), env: { XDG_CONFIG_HOME: config }, early: join(folder, "early.db") };
}

async function make({ data, early }: Place): Promise<void> {
  await record(data, decisions(1, FIRST));
  await backUpStore({ data, path: early, replaces: false });
  await record(data, decisions(FIRST + 1, ALL));
}

function decisions(from: number, through: number, says = "decided"): readonly EntryInput[] {
  const numbers = Array.from({ length: through - from + 1 }, (_, nth) => from + nth);
  return numbers.map((nth) => ({ kind: "decision", id: `${says}-${nth}`, decision: `${says} ${nth}` }));
}

/** Records, and has the index follow. */
async function record(data: string, entries: readonly EntryInput[]): Promise<void> {
  await withRecorder(data, async (recorder) => {
    await recorder.append(entries);
    await recorder.count();
  });
}

/** Records and does not read, so the index does not follow. */
async function recordUnread(data: string, entries: readonly EntryInput[]): Promise<void> {
  await withRecorder(data, (recorder) => recorder.append(entries));
}

function putInPlace({ data, early }: Place): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(data, `log.db${ending}`), { force: true });
  copyFileSync(early, join(data, "log.db"));
}

function removeIndex({ data }: Place): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(data, `index.db${ending}`), { force: true });
}

function verified({ data }: Place): Promise<Verification> {
  return withRecorder(data, (recorder) => recorder.verify());
}

function listed({ data }: Place): Promise<unknown> {
  return withRecorder(data, (recorder) => recorder.listEntries());
}

async function failuresOf({ data }: Place): Promise<readonly Finding[]> {
  return (await inspectStore({ data })).findings.filter(({ level }) => level === "fail");
}

/** What an attacker who can write the file can do to a log, and where that shows first. */
const attacks: { readonly [name: string]: { readonly position: number; attack(place: Place): Promise<void> } } = {
  "its end cut off": {
    position: FIRST + 1,
    attack: async (place) => putInPlace(place),
  },
  "its end cut off, and fewer entries put there": {
    position: FIRST + 6,
    attack: async (place) => {
      putInPlace(place);
      await recordUnread(place.data, decisions(1, 5, "forged"));
    },
  },
  "its end rewritten with a valid chain": {
    position: ALL,
    attack: async (place) => {
      putInPlace(place);
      await recordUnread(place.data, decisions(FIRST + 1, ALL, "forged"));
    },
  },
  "its end rewritten, and more": {
    position: ALL,
    attack: async (place) => {
      putInPlace(place);
      await recordUnread(place.data, decisions(FIRST + 1, ALL + 30, "forged"));
    },
  },
  "another log in its place": {
    position: 1,
    attack: async (place) => {
      const other = join(folderOfTest(), "other");
      await record(other, decisions(1, ALL + 5, "other"));
      putInPlace({ ...place, early: join(other, "log.db") });
    },
  },
};

describe.each(Object.entries(attacks))("a log with %s", (_, { position, attack }) => {
  const known = { by: "index", position: ALL };
  const cutOff = { ok: false, reason: "cut_off", known };

  test("is not ok, /health is degraded, and captures go on", async () => {
    const place = await newPlace();
    await attack(place);
    expect(await verified(place)).toMatchObject({ ...cutOff, position });
    const server = await startServer({ data: place.data });
    expect(await server.get("/verify")).toMatchObject({ status: 200, body: { ...cutOff, position } });
    const degraded = { status: "degraded", warnings: ["cut_off"] };
    expect(await server.get("/health")).toMatchObject({ status: 200, body: degraded });
    expect(await server.post("/entries", { kind: "decision", decision: "to go on" })).toMatchObject({ status: 201 });
    expect(await server.get("/entries?limit=500")).toMatchObject({ status: 200 });
    expect(await server.get("/verify")).toMatchObject({ body: cutOff });
    expect(await server.get("/health")).toMatchObject({ status: 200, body: degraded });
  });

  test("stays so, whatever the index reads, rebuilds or indexes later", async () => {
    const place = await newPlace();
    await attack(place);
    await listed(place);
    await record(place.data, decisions(1, 3, "later"));
    expect(await verified(place)).toMatchObject(cutOff);
    await withRecorder(place.data, (recorder) => recorder.rebuildIndex());
    await record(place.data, decisions(4, 100, "later"));
    expect(await verified(place)).toMatchObject(cutOff);
  });

  test("the doctor explains it and does not advise what would destroy the proof", async () => {
    const place = await newPlace();
    await attack(place);
    for (const _look of [1, 2]) {
      const failures = await failuresOf(place);
      expect(failures).toMatchObject([{ check: "evidence" }]);
      expect(failures[0]?.hint).toMatch(/hansard restore FILE.*--accept-log/);
      expect(failures[0]?.hint).not.toMatch(/rebuild/);
      await listed(place);
    }
  });

  test("is accepted by a person, once and in the record, and then it is ok", async () => {
    const place = await newPlace();
    await attack(place);
    await withRecorder(place.data, async (recorder) => {
      expect(await recorder.acceptLog({ actor: "anna" })).toMatchObject({ known });
      expect(await recorder.acceptLog({ actor: "anna" })).toBeUndefined();
      const { entries } = await recorder.listEntries({ kind: "audit" });
      const target = expect.stringMatching(/^\S+ 50 [0-9a-f]{64}$/);
      expect(entries).toMatchObject([{ action: "log_accepted", actor: "anna", target }]);
      expect(await recorder.verify()).toMatchObject({ ok: true });
      expect(await recorder.health()).toMatchObject({ status: "ok" });
    });
    expect(await failuresOf(place)).toEqual([]);
  });
});

test("a log that was cut off is ok again once its end is back", async () => {
  const place = await newPlace();
  const right = { ...place, early: join(folderOfTest(), "right.db") };
  copyFileSync(join(place.data, "log.db"), right.early);
  putInPlace(place);
  await listed(place);
  expect(await verified(place)).toMatchObject({ ok: false });
  putInPlace(right);
  await listed(place);
  expect(await verified(place)).toMatchObject({ ok: true, entries: ALL });
});

test("a log that is cut off under a server and grows again beyond what its index knew is found out", async () => {
  const place = await newPlace();
  const recorder = await openRecorder({ data: place.data });
  onTestFinished(() => recorder.close());
  expect(await recorder.count()).toMatchObject({ entries: ALL });
  const db = new Database(join(place.data, "log.db"));
  for (const name of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all()) {
    db.exec(`DROP TRIGGER "${name}"`);
  }
  for (const table of ["entries", "bodies", "claims"]) db.exec(`DELETE FROM ${table} WHERE position > ${FIRST}`);
  db.close();
  await recordUnread(place.data, decisions(FIRST + 1, ALL + 30, "forged"));
  await recorder.listEntries();
  const found = await recorder.verify();
  expect(found).toMatchObject({ ok: false });
  expect(await recorder.health()).toMatchObject({ status: "degraded", warnings: ["cut_off"] });
});

test("the command line says the same: verify fails, doctor explains, --accept-log makes peace", async () => {
  const place = await newPlace();
  putInPlace(place);
  const failed = await runCli(["verify", "--json"], place);
  expect({ status: failed.status, ...JSON.parse(failed.stdout) }).toMatchObject({ status: 1, reason: "cut_off" });
  expect((await runCli(["verify"], place)).stdout).toContain("its index expects entries up to 50");
  expect(await runCli(["doctor"], place)).toMatchObject({ status: 1, stdout: expect.stringContaining("✗ evidence") });
  const accepted = await runCli(["doctor", "--accept-log"], place);
  expect(accepted).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("the log was accepted, and an audit entry was recorded"),
  });
  expect(await readJson(["verify"], place)).toMatchObject({ ok: true });
});

describe("a folder whose log was taken away", () => {
  const damaged = { code: "store_damaged", hint: expect.stringContaining("hansard restore FILE") };
  const takeLog = ({ data }: Place): void => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(join(data, `log.db${ending}`), { force: true });
  };

  test("is no new store for anybody who opens it, and nothing in it changes", async () => {
    const place = await newPlace();
    takeLog(place);
    const before = readdirSync(place.data);
    for (const create of [true, false]) {
      await expect(openRecorder({ data: place.data, create })).rejects.toMatchObject({ name: "Fault", ...damaged });
    }
    for (const args of [["record", "--prompt", "x"], ["serve", "--port", "0"], ["verify"], ["list"]]) {
      const { status, stderr } = await resultOf(startCli(args, place));
      expect({ status, stderr }, args[0]).toMatchObject({ status: 1, stderr: expect.stringContaining("is missing") });
    }
    expect(readdirSync(place.data)).toEqual(before);
    expect(await failuresOf(place)).toMatchObject([
      { check: "log", message: expect.stringContaining("expects 50 entries"), hint: damaged.hint },
    ]);
  });

  test("is none if only keys are left, or an index of another version", async () => {
    const place = await newPlace();
    await readJson(["keys", "create", "--scope", "admin"], place);
    takeLog(place);
    removeIndex(place);
    await expect(openRecorder({ data: place.data })).rejects.toMatchObject(damaged);
    expect(await failuresOf(place)).toMatchObject([{ check: "log", message: expect.stringContaining("keys") }]);
    rmSync(join(place.data, "keys.db"));
    writeFileSync(join(place.data, "index.format-3.db"), "of another version");
    await expect(openRecorder({ data: place.data })).rejects.toMatchObject(damaged);
  });

  test.each([
    ["missing", takeLog],
    ["empty", ({ data }: Place) => truncateSync(join(data, "log.db"))],
  ])(
    "takes a backup where its log is %s, which makes peace with what was known and leaves keys alone",
    async (_, lose) => {
      const place = await newPlace();
      await readJson(["keys", "create", "--scope", "admin"], place);
      lose(place);
      expect(await readJson(["restore", place.early], place)).toMatchObject({ entries: FIRST });
      expect(await readJson(["verify"], place)).toMatchObject({ ok: true, entries: FIRST });
      expect((await readJson(["list", "--limit", "500"], place)).entries).toHaveLength(FIRST);
      expect(await failuresOf(place)).toEqual([]);
      expect((await readJson(["keys", "list"], place)).keys).toHaveLength(1);
    },
  );

  test("keeps a WAL that was left of its log when a backup takes its place, and none of it gets into the backup", async () => {
    const place = await newPlace();
    const recorder = await openRecorder({ data: place.data });
    await recorder.append(decisions(1, 40, "last"));
    const folder = folderOfTest();
    for (const name of ["index.db", "log.db-wal"]) copyFileSync(join(place.data, name), join(folder, name));
    await recorder.close();
    const { set_aside, entries } = await readJson(["restore", place.early, "--data", folder], { env: place.env });
    expect(entries).toBe(FIRST);
    expect(set_aside).toHaveLength(1);
    expect(existsSync(set_aside[0])).toBe(true);
    expect(await readJson(["verify", "--data", folder], { env: place.env })).toMatchObject({
      ok: true,
      entries: FIRST,
    });
  });
});

describe("the newest seal that a server kept", () => {
  /** A server on the store, from its start to its end. */
  async function serveOnce(place: Place, work: (address: string) => Promise<void> = async () => {}): Promise<string> {
    const { child, address, ended } = await serveCli(place);
    await work(address);
    child.kill("SIGTERM");
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    return stderr;
  }

  const known = { by: "seal", position: ALL };

  test("shows the truncation if the index is gone too, and a server that starts then does not replace it", async () => {
    const place = await newPlace();
    await serveOnce(place);
    putInPlace(place);
    removeIndex(place);
    const cutOff = { status: 1, stdout: expect.stringContaining('"by":"seal"') };
    expect(await runCli(["verify", "--json"], place)).toMatchObject(cutOff);
    await serveOnce(place, async (address) => {
      expect(await (await fetch(`${address}/health`)).json()).toMatchObject({ status: "degraded" });
      expect(await (await fetch(`${address}/verify`)).json()).toMatchObject({ ok: false, reason: "cut_off", known });
      const body = JSON.stringify({ kind: "decision", decision: "to go on" });
      const headers = { "content-type": "application/json" };
      expect((await fetch(`${address}/entries`, { method: "POST", headers, body })).status).toBe(201);
    });
    expect(await runCli(["verify", "--json"], place)).toMatchObject(cutOff);
    expect(await runCli(["doctor", "--accept-log"], place)).toMatchObject({ status: 0 });
    expect(await readJson(["verify"], place)).toMatchObject({ ok: true });
  });

  test("is made at the start and at the end, so everything recorded in between is covered", async () => {
    const place = await newPlace();
    await serveOnce(place, async (address) => {
      const body = decisions(1, 7, "served")
        .map((one) => JSON.stringify(one))
        .join("\n");
      const headers = { "content-type": "application/x-ndjson" };
      expect((await fetch(`${address}/entries`, { method: "POST", headers, body })).status).toBe(201);
    });
    putInPlace(place);
    removeIndex(place);
    const { stdout } = await runCli(["verify", "--json"], place);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      position: FIRST + 1,
      known: { by: "seal", position: ALL + 7 },
    });
  });

  test("is discarded when a backup is restored, and says nothing about a copy elsewhere", async () => {
    const place = await newPlace();
    await serveOnce(place);
    const elsewhere = join(folderOfTest(), "elsewhere");
    await readJson(["restore", place.early, "--data", elsewhere], { env: place.env });
    expect(await readJson(["verify", "--data", elsewhere], { env: place.env })).toMatchObject({ ok: true });
    for (const name of readdirSync(place.data)) rmSync(join(place.data, name));
    await readJson(["restore", place.early], place);
    expect(await readJson(["verify"], place)).toMatchObject({ ok: true, entries: FIRST });
  });

  test("does not disturb a server that cannot write it", async () => {
    const place = await newPlace();
    writeFileSync(place.env.XDG_CONFIG_HOME, "in the way");
    expect(await serveOnce(place)).toContain("cannot write a seal");
  });
});

test("without an index and a seal, a rewritten end is not detected", async () => {
  const place = await newPlace();
  putInPlace(place);
  removeIndex(place);
  await record(place.data, decisions(FIRST + 1, ALL, "forged"));
  expect(await verified(place)).toMatchObject({ ok: true, entries: ALL });
});
