// Seal, backup and restore on the command line, with real files and processes.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { openRecorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, readJson, resultOf, runCli, startCli } from "./cli-run.js";

interface Place {
  readonly folder: string;
  readonly data: string;
  readonly env: { readonly XDG_CONFIG_HOME: string };
}

async function placeOf(entries: number): Promise<Place> {
  const folder = folderOfTest();
  const data = join(folder, "record");
  await fillStore(data, interactions(entries));
  return { folder, data, env: { XDG_CONFIG_HOME: join(folder, "config") } };
}

describe("seal", () => {
  const sealed = async (place: Place): Promise<string> => {
    const { status, stdout } = await runCli(["seal"], place);
    expect(status).toBe(0);
    const path = join(place.folder, "seal.json");
    writeFileSync(path, stdout);
    return path;
  };

  test("a log still contains what was sealed after it has grown, and names the key", async () => {
    const place = await placeOf(3);
    const file = await sealed(place);
    await fillStore(place.data, interactions(2));
    const seal = JSON.parse(readFileSync(file, "utf8"));
    const result = await readJson(["verify", "--against", file], place);
    expect(result).toMatchObject({ ok: true, entries: 5, seal: { position: 3, public_key: seal.public_key } });
    expect((await runCli(["verify", "--against", file], place)).stdout).toContain("contains all 3 entries sealed at");
    expect(statSync(join(place.env.XDG_CONFIG_HOME, "hansard", "seal-key.pem")).mode & 0o777).toBe(0o600);
  });

  test("a file that seals were added to is taken whole, and its newest seal counts", async () => {
    const place = await placeOf(3);
    const file = await sealed(place);
    await fillStore(place.data, interactions(2));
    appendFileSync(file, (await runCli(["seal"], place)).stdout);
    expect(await readJson(["verify", "--against", file], place)).toMatchObject({ ok: true, seal: { position: 5 } });
    cutAfter(place.data, 4);
    const { status, stdout } = await runCli(["verify", "--against", file, "--json"], place);
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 1, ok: false, position: 5 });
  });

  const cutAfter = (data: string, position: number): void => {
    const db = new Database(join(data, "log.db"));
    const triggers = db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all() as { name: string }[];
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    for (const table of ["entries", "bodies", "claims"])
      db.prepare(`DELETE FROM ${table} WHERE position > ?`).run(position);
    db.close();
  };

  test("entries cut off at the end are seen against a seal, and only against one", async () => {
    const place = await placeOf(5);
    const file = await sealed(place);
    cutAfter(place.data, 3);
    expect(await readJson(["verify"], place)).toMatchObject({ ok: true, entries: 3 });
    const { status, stdout } = await runCli(["verify", "--against", file, "--json"], place);
    expect({ status, ...JSON.parse(stdout) }).toEqual({
      status: 1,
      ok: false,
      position: 4,
      reason: "the log was truncated: entries through 5 were sealed",
    });
  });

  test("another log, a log cut off and continued, a forged seal and another key are each told", async () => {
    const place = await placeOf(4);
    const file = await sealed(place);
    const reasonOf = async (env: NodeJS.ProcessEnv = place.env, data = place.data): Promise<string> =>
      JSON.parse((await runCli(["verify", "--against", file, "--json"], { data, env })).stdout).reason;
    expect(await reasonOf(place.env, (await placeOf(4)).data)).toBe("the seal is of another log");
    const otherKey = { HANSARD_SEAL_KEY: join(place.folder, "other.pem") };
    await runCli(["seal"], { data: place.data, env: otherKey });
    expect(await reasonOf(otherKey)).toBe("the seal was made with another key");
    const noKey = { HANSARD_SEAL_KEY: join(place.folder, "mistyped.pem") };
    const refused = await readError(["verify", "--against", file], { ...place, env: noKey });
    expect(refused).toMatchObject({ status: 1, code: "seal_key_unusable" });
    cutAfter(place.data, 2);
    await fillStore(place.data, interactions(2));
    expect(await reasonOf()).toBe("the log does not contain what was sealed");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), position: 3 }));
    expect(await reasonOf()).toBe("the signature of the seal is wrong");
    expect((await runCli(["verify", "--against", file], place)).stdout).toContain("The log itself is unchanged");
    writeFileSync(file, "{}");
    expect(await readError(["verify", "--against", file], place)).toMatchObject({ status: 2, code: "seal_invalid" });
    expect(await readError(["verify", "--against", `${file}.no`], place)).toMatchObject({ code: "file_not_read" });
  });

  test("a key inside the data folder is refused", async () => {
    const place = await placeOf(1);
    const env = { HANSARD_SEAL_KEY: join(place.data, "key.pem") };
    expect(await readError(["seal"], { ...place, env })).toMatchObject({ status: 1, code: "seal_key_unusable" });
  });

  test("the program of docs/FILE_FORMAT.md checks a real seal against a real export", async () => {
    const place = await placeOf(3);
    // One of every kind of claim.
    const recorder = await openRecorder({ data: place.data });
    const said = await recorder.recordInteraction({ prompt: "I want every commit message in English, please" });
    const evidence = [{ entry_id: said.id, quote: "I want every commit message in English" }];
    const content = "Wants every commit message in English";
    const { id } = await recorder.memories.add({ content, evidence, type: "preference" });
    await recorder.recordInteraction({ prompt: `${content}, as I said`, memories_used: [id], response: content });
    await recorder.memories.reinforce();
    await recorder.memories.supersede(id, { content: "Wants commit messages in French" });
    await recorder.close();
    const file = await sealed(place);
    await fillStore(place.data, [{ kind: "message", session_id: "é", role: "user", content: "later \u2028 日本" }]);
    const exported = join(place.folder, "all.ndjson");
    await runCli(["export", "--out", exported], place);
    const document = readFileSync(join(repositoryRoot, "docs", "FILE_FORMAT.md"), "utf8");
    const program = /<!-- check-seal -->\n```python\n([\s\S]*?)```/.exec(document)?.[1] ?? "";
    expect(program.trim().split("\n").length).toBeLessThanOrEqual(40);
    const check = () => spawnSync("python3", ["-c", program, file, exported], { encoding: "utf8" });
    expect(check()).toMatchObject({ status: 0, stdout: "holds\n" });
    writeFileSync(exported, readFileSync(exported, "utf8").replace("question 2", "question X"));
    expect(check()).toMatchObject({ status: 0, stdout: "does not hold\n" });
    writeFileSync(file, readFileSync(file, "utf8").replace(/"position":\d+/, '"position":2'));
    expect(check().status).not.toBe(0);
  });
});

describe("backup and restore", () => {
  test("a backup during writes contains a whole prefix of the log, verified, readable only by its owner", async () => {
    const place = await placeOf(200);
    const file = join(place.folder, "copy.db");
    const recorder = await openRecorder({ data: place.data });
    let isDone = false;
    const writing = (async () => {
      while (!isDone) await recorder.append(interactions(20));
    })();
    const copy = await readJson(["backup", file], place);
    isDone = true;
    await writing;
    const result = await recorder.verify();
    await recorder.close();
    expect(copy).toMatchObject({ path: file, erased: 0, bytes: statSync(file).size });
    expect(copy.entries).toBeGreaterThanOrEqual(200);
    expect(result).toMatchObject({ ok: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const restored = join(place.folder, "restored");
    expect(await readJson(["restore", file, "--data", restored])).toMatchObject({
      log_id: copy.log_id,
      hash: copy.hash,
    });
    expect(await readJson(["verify"], { data: restored })).toMatchObject({ position: copy.position, hash: copy.hash });
    expect((await readJson(["list", "--limit", "1"], { data: restored })).entries).toHaveLength(1);
    expect(statSync(restored).mode & 0o777).toBe(0o700);
    expect(statSync(join(restored, "log.db")).mode & 0o777).toBe(0o600);
  });

  test("nothing is overwritten without --force: a file by backup, a store by restore", async () => {
    const place = await placeOf(2);
    const file = join(place.folder, "copy.db");
    writeFileSync(file, "precious");
    expect(await readError(["backup", file], place)).toMatchObject({ status: 1, code: "file_exists" });
    const nowhere = join(place.folder, "nowhere", "copy.db");
    expect(await readError(["backup", nowhere], place)).toMatchObject({ status: 1, code: "file_not_written" });
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect((await runCli(["backup", file, "--force"], place)).stdout).toContain("2 entries, verified");
    expect(await readError(["restore", file], place)).toMatchObject({ status: 1, code: "file_exists" });
    expect(readdirSync(place.folder).filter((name) => name.includes(".part"))).toEqual([]);
    mkdirSync(join(place.folder, "half"));
    writeFileSync(join(place.folder, "half", "index.db"), "of another program");
    expect(await readError(["restore", file, "--data", join(place.folder, "half")])).toMatchObject({
      code: "file_exists",
    });
  });

  test("neither a backup nor an export takes the place of a file of a store, whatever is allowed", async () => {
    const place = await placeOf(2);
    for (const name of ["log.db", "index.db"]) {
      const file = join(place.data, name);
      expect(await readError(["backup", file, "--force"], place)).toMatchObject({ status: 1, code: "file_exists" });
      const refused = await readError(["export", "--out", file, "--force"], place);
      expect(refused).toMatchObject({ status: 1, code: "file_not_written" });
    }
    expect((await runCli(["verify"], place)).status).toBe(0);
  });

  test("a damaged, cut or foreign backup is refused and leaves no store behind", async () => {
    const place = await placeOf(50);
    const file = join(place.folder, "copy.db");
    await runCli(["backup", file], place);
    const target = join(place.folder, "restored");
    const damaged = join(place.folder, "damaged.db");
    writeFileSync(damaged, readFileSync(file));
    const db = new Database(damaged);
    for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all() as {
      name: string;
    }[]) {
      db.exec(`DROP TRIGGER ${name}`);
    }
    db.exec('UPDATE bodies SET body = CAST(\'{"id":"x"}\' AS BLOB) WHERE position = 7');
    db.close();
    const error = await readError(["restore", damaged, "--data", target]);
    expect(error).toMatchObject({ status: 1, code: "store_corrupt" });
    expect(error.message).toContain("position 7");
    truncateSync(file, 8192);
    expect(await readError(["restore", file, "--data", target])).toMatchObject({ status: 1 });
    writeFileSync(file, "no database at all, and long enough to be read as one ".repeat(100));
    expect(await readError(["restore", file, "--data", target])).toMatchObject({ status: 1, code: "store_corrupt" });
    expect(await readError(["restore", join(place.folder, "none"), "--data", target])).toMatchObject({
      code: "store_missing",
    });
    expect(existsSync(target)).toBe(false);
  });

  test("a backup killed at any moment leaves no file of that name, and the next one cleans up after it", async () => {
    const place = await placeOf(3_000);
    for (const ms of [50, 150, 250, 350, 450]) {
      const file = join(place.folder, `copy-${ms}.db`);
      const child = startCli(["backup", file], place);
      const ended = resultOf(child);
      await sleep(ms);
      child.kill("SIGKILL");
      await ended;
      if (existsSync(file))
        expect(await readJson(["restore", file, "--data", `${file}-back`])).toMatchObject({ entries: 3_000 });
      expect(await readJson(["backup", file, "--force"], place)).toMatchObject({ entries: 3_000 });
      expect(readdirSync(place.folder).filter((name) => name.includes(".part"))).toEqual([]);
    }
  });

  test("a store that is not there, a target that cannot be and a database address are one clear error", async () => {
    const place = await placeOf(1);
    const missing = { data: join(place.folder, "none") };
    expect(await readError(["backup", join(place.folder, "x.db")], missing)).toMatchObject({ code: "store_missing" });
    expect(await readError(["backup", join(place.folder, "no", "x.db")], place)).toMatchObject({ status: 1 });
    const address = { data: "postgres://localhost/x" };
    expect(await readError(["backup", "x.db"], address)).toMatchObject({ status: 2, code: "setting_invalid" });
  });
});
