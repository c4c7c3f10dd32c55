// A server without keys is for this machine alone: no setting and no proxy opens it to others by accident.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fillStore, interactions, readError, readJson, runCli } from "../e2e/cli-run.js";
import { serverOfFile, startServer, type TestServer } from "../e2e/http-client.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { speak } from "./raw-socket.js";

const server = serverOfFile();

/** The status and the code of a request whose headers are written by hand. */
async function ask(to: TestServer, line: string, headers: readonly string[]): Promise<readonly [number, string?]> {
  const heard = await speak(to, `${line} HTTP/1.1\r\n${[...headers, "connection: close"].join("\r\n")}\r\n\r\n`);
  const [, status = "0"] = /^HTTP\/1\.1 (\d{3})/.exec(heard) ?? [];
  const [, code] = /"code":"(\w+)"/.exec(heard) ?? [];
  return code === undefined ? [Number(status)] : [Number(status), code];
}

test("a name beyond loopback is not allowed while there are no keys", async () => {
  const refused = { code: "host_refused", message: expect.stringContaining("record.example.com") };
  for (const allow_hosts of [["record.example.com"], ["localhost", "record.example.com"]]) {
    await expect(startServer({ allow_hosts })).rejects.toMatchObject(refused);
  }
  const data = folderOfTest();
  const args = ["serve", "--port", "0", "--allow-host", "record.example.com"];
  const { status, stderr } = await runCli(args, { data, asProgram: true });
  expect(status).toBe(2);
  expect(stderr).toContain("record.example.com can be reached from other machines, and no keys exist");
  // Not even a store was made.
  expect(await readError(["verify"], { data })).toMatchObject({ code: "store_missing" });
});

test("a store restored to a new place says that it has no keys, and one that has lost its log keeps them", async () => {
  const [data, other, file] = [folderOfTest(), join(folderOfTest(), "other"), join(folderOfTest(), "backup.db")];
  await fillStore(data, interactions(1));
  await readJson(["keys", "create", "--scope", "admin"], { data });
  await readJson(["backup", file], { data });
  const { stdout } = await runCli(["restore", file, "--data", other]);
  expect(stdout.replaceAll("\n", " ")).toContain(`There are no keys in ${other} yet`);
  for (const name of ["log.db", "log.db-wal", "log.db-shm"]) rmSync(join(data, name), { force: true });
  expect(await readJson(["restore", file], { data })).toMatchObject({ has_keys: true });
});

test("names of this machine are allowed without keys", async () => {
  const allowing = await startServer({ allow_hosts: ["localhost", "127.0.0.1", "[::1]"] });
  expect(await ask(allowing, "GET /entries", ["host: localhost"])).toEqual([200]);
});

test.each([
  ["x-forwarded-for: 203.0.113.9"],
  ["forwarded: for=203.0.113.9"],
  ["x-real-ip: 203.0.113.9"],
  ["x-forwarded-host: record.example.com"],
  ["x-forwarded-proto: https"],
  ["via: 1.1 proxy"],
])("what comes through a proxy that names this machine needs a key: %s", async (header) => {
  const headers = ["host: 127.0.0.1", header];
  expect(await ask(server(), "GET /entries", headers)).toEqual([401, "key_missing"]);
  const forget = [...headers, "content-type: application/json", "content-length: 2"];
  expect(await ask(server(), "POST /forget", forget)).toEqual([401, "key_missing"]);
  expect(await ask(server(), "GET /health", headers)).toEqual([200]);
});

test("with a key, the same requests are answered", async () => {
  const guarded = await startServer();
  const { key } = await guarded.recorder.keys.create({ scope: "read" });
  const headers = ["host: 127.0.0.1", "x-forwarded-for: 203.0.113.9", `authorization: Bearer ${key}`];
  expect(await ask(guarded, "GET /entries", headers)).toEqual([200]);
});
