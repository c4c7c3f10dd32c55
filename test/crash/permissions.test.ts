// A store that this user may not write: one clear fault, from the call that needs to write, and no crash.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import { withoutPrivilege } from "../support/without-privilege.js";
import type { Attempts } from "./attempt.js";
import { sampleStore } from "./sample-store.js";

const store = sampleStore();
const program = fileURLToPath(new URL("./attempt.js", import.meta.url));
const notWritable = {
  code: "store_not_writable",
  message: expect.stringContaining("log.db cannot be"),
  hint: expect.stringMatching(/writable|read and write/),
};

test("a store in a writable folder works, so the other results are meaningful", async () => {
  const everythingWorks = { open: "ok", append: "ok", get: "ok", list: "ok", verify: "ok" };
  expect(attempt(await store.copy())).toEqual(everythingWorks);
});

test("a folder without write permission refuses to become a store", () => {
  const folder = join(folderOfTest(), "store");
  mkdirSync(folder);
  restrict(folder, 0o500);
  expect(attempt(folder)).toEqual({ open: notWritable });
});

test("a store is not created if its folder cannot be created", () => {
  const parent = join(folderOfTest(), "parent");
  mkdirSync(parent);
  restrict(parent, 0o500);
  expect(attempt(join(parent, "store"))).toEqual({ open: notWritable });
});

test("files without write permission can be read, and recording reports that it cannot write", async () => {
  const data = await store.copy();
  for (const file of readdirSync(data)) restrict(join(data, file), 0o400);
  expect(attempt(data)).toEqual({ open: "ok", append: notWritable, get: "ok", list: "ok", verify: "ok" });
});

test("a log without read permission is a fault on opening", async () => {
  const data = await store.copy();
  restrict(join(data, "log.db"), 0o000);
  expect(attempt(data)).toEqual({ open: notWritable });
});

test("an index without write permission blocks nothing: it is built in memory", async () => {
  const data = await store.copy();
  restrict(join(data, "index.db"), 0o400);
  expect(attempt(data)).toEqual({ open: "ok", append: "ok", get: "ok", list: "ok", verify: "ok" });
});

test.each([
  ["writable files", 0o600],
  ["read-only files", 0o400],
])(
  "a store in a folder without write permission and with %s can be read, and is unchanged afterwards",
  async (_, mode) => {
    const data = await store.copy();
    for (const file of readdirSync(data)) restrict(join(data, file), mode);
    restrict(data, 0o500);
    expect(attempt(data)).toEqual({ open: "ok", append: notWritable, get: "ok", list: "ok", verify: "ok" });
    const copy = join(folderOfTest(), "copy");
    cpSync(data, copy, { recursive: true });
    chmodSync(copy, 0o700);
    for (const file of readdirSync(copy)) chmodSync(join(copy, file), 0o600);
    expect(attempt(copy)).toMatchObject({ open: "ok", append: "ok", verify: "ok" });
  },
);

function restrict(path: string, mode: number): void {
  chmodSync(path, mode);
  onTestFinished(() => chmodSync(path, 0o700));
}

function attempt(data: string): Attempts {
  const [command, ...args] = withoutPrivilege([process.execPath, program, data]);
  const { stdout, stderr, status } = run(command, args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as Attempts;
}

function run(command: string, args: readonly string[]) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 120_000 });
  if (result.error !== undefined) throw result.error;
  return result;
}
