// Files that somebody laid out in the way: an export, a seal key and a file of keys are not taken in by them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { openRecorder } from "../../src/index.js";
import { openSealKey } from "../../src/log/seals/seal-key.js";
import { runCli } from "../e2e/cli-run.js";
import { startServer } from "../e2e/http-client.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("an export never writes through a file or link planted next to its target, whatever the process id", async () => {
  const folder = folderOfTest();
  const [data, shared] = [join(folder, "store"), join(folder, "shared")];
  mkdirSync(shared);
  const recorder = await openRecorder({ data });
  await recorder.append({ kind: "error", error: "the whole record" });
  await recorder.close();
  // The number of the next process is known within a few thousand: here a command is to meet its own.
  const out = join(shared, "record.ndjson");
  const preload = join(folder, "lay-out.cjs");
  const victim = join(folder, "read-along");
  writeFileSync(
    preload,
    `require("node:fs").symlinkSync(${JSON.stringify(victim)}, ${JSON.stringify(out)} + "." + process.pid + ".part");`,
  );
  const { status } = await runCli(["export", "--out", out], {
    asProgram: true,
    data,
    env: { NODE_OPTIONS: `--require ${preload}` },
  });
  expect(status).toBe(0);
  expect(existsSync(victim)).toBe(false);
  expect(readFileSync(out, "utf8")).toContain("the whole record");
  expect(readdirSync(shared).filter((name) => name.endsWith(".part"))).toHaveLength(1);
});

describe("a seal key", () => {
  test("is refused in the data folder however its path is written, and accepted outside it", () => {
    const folder = folderOfTest();
    const data = join(folder, "store");
    mkdirSync(join(data, "inner"), { recursive: true });
    symlinkSync(data, join(folder, "link"));
    symlinkSync(join(data, "inner"), join(folder, "inner-link"));
    writeFileSync(join(data, "real.pem"), "");
    symlinkSync(join(data, "real.pem"), join(folder, "key-link.pem"));
    for (const path of [
      join(data, "..key.pem"),
      join(data, "...", "key.pem"),
      join(folder, "link", "key.pem"),
      join(folder, "link", "new", "key.pem"),
      join(folder, "inner-link", "key.pem"),
      join(folder, "key-link.pem"),
    ]) {
      expect(() => openSealKey(path, { data }), path).toThrow(/is inside the data folder/);
      // The store may be named by a link as well.
      expect(() => openSealKey(path, { data: join(folder, "link") }), path).toThrow(/is inside the data folder/);
    }
    expect(readdirSync(data).sort()).toEqual(["inner", "real.pem"]);
    for (const name of ["store-key.pem", "..key.pem", "elsewhere"]) {
      expect(openSealKey(join(folder, name), { data }).asymmetricKeyType).toBe("ed25519");
    }
  });
});

describe("a file of keys that was emptied", () => {
  test("keeps the door closed for everybody but a new key", async () => {
    const data = folderOfTest();
    const server = await startServer({ data });
    expect((await server.get("/entries")).status).toBe(200);
    const { key } = await server.recorder.keys.create({ scope: "admin" });
    await server.close();
    for (const ending of ["", "-wal", "-shm"]) {
      const file = join(data, `keys.db${ending}`);
      if (!existsSync(file)) continue;
      // A new file: this process may still have the old one in memory, and would die of its end being gone.
      rmSync(file);
      writeFileSync(file, "");
    }
    const again = await startServer({ data });
    expect(await again.get("/entries")).toMatchObject({ status: 401, body: { error: { code: "key_missing" } } });
    const headers = { authorization: `Bearer ${key}` };
    expect((await again.request("/entries", { headers })).status).toBe(401);
    expect((await again.post("/entries", { kind: "error", error: "e" })).status).toBe(401);
    const made = await runCli(["keys", "create", "--scope", "read", "--json"], { data });
    const fresh = { authorization: `Bearer ${(JSON.parse(made.stdout) as { readonly key: string }).key}` };
    expect((await again.request("/entries", { headers: fresh })).status).toBe(200);
  });

  test("is not enough to listen beyond this machine", async () => {
    const data = folderOfTest();
    const recorder = await openRecorder({ data });
    await recorder.close();
    writeFileSync(join(data, "keys.db"), "");
    const { status, stderr } = await runCli(["serve", "--host", "0.0.0.0", "--port", "0"], { data });
    expect(status).not.toBe(0);
    expect(stderr).toContain("no keys exist");
  });

  test("or whose rows are gone opens nothing either", async () => {
    const data = folderOfTest();
    const recorder = await openRecorder({ data });
    await recorder.keys.create({ scope: "admin" });
    await recorder.close();
    const db = new Database(join(data, "keys.db"));
    db.exec("DROP TRIGGER keys_never_deleted; DELETE FROM keys");
    db.close();
    const server = await startServer({ data });
    onTestFinished(() => server.close());
    expect((await server.get("/entries")).status).toBe(401);
  });
});
