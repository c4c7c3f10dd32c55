// `hansard keys`, and servers that ask for them: what the command does, a running server knows at once.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderOfTest } from "../support/temporary-folder.js";
import { readError, readJson, runCli, serveCli } from "./cli-run.js";

const tlsFiles = {
  cert: join(repositoryRoot, "test", "fixtures", "tls", "cert.pem"),
  key: join(repositoryRoot, "test", "fixtures", "tls", "key.pem"),
};

async function serve(data: string, args: readonly string[] = []): Promise<string> {
  return (await serveCli({ data }, ["--port", "0", ...args])).address;
}

async function statusOf(address: string, key?: string): Promise<number> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return (await fetch(`${address}/entries`, { headers })).status;
}

describe("hansard keys", () => {
  test("shows a key once, lists what it is without it, and revokes it", async () => {
    const data = folderOfTest();
    const made = await readJson(["keys", "create", "--scope", "capture", "--name", "agent"], { data });
    expect(made).toEqual({ id: expect.any(String), key: expect.any(String), scope: "capture", name: "agent" });
    expect(made.key).toMatch(/^hansard_[0-9a-f]{16}_[\w-]{43}$/);
    const list = await runCli(["keys", "list"], { data });
    expect(list.stdout).toContain(made.id);
    expect(list.stdout).toContain("agent");
    expect(list.stdout).not.toContain(made.key.slice(-43));
    const { keys } = await readJson(["keys", "list"], { data });
    expect(keys).toEqual([{ id: made.id, scope: "capture", name: "agent", created_at: expect.any(String) }]);
    const revoked = await readJson(["keys", "revoke", made.id], { data });
    expect(revoked).toMatchObject({ id: made.id, revoked_at: expect.any(String) });
    expect((await readJson(["keys", "list"], { data })).keys).toEqual([revoked]);
  });

  test("a key that was given as a name is not listed", async () => {
    const data = folderOfTest();
    const { key } = await readJson(["keys", "create", "--scope", "read"], { data });
    await runCli(["keys", "create", "--scope", "read", "--name", key], { data });
    expect((await readJson(["keys", "list"], { data })).keys[1].name).toBe("[masked:hansard_key]");
    expect((await runCli(["keys", "list"], { data })).stdout).not.toContain(key);
  });

  test("prints JSON without --json too if there is no terminal", async () => {
    const { stdout, status } = await runCli(["keys", "create", "--scope", "read"], { data: folderOfTest() });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ scope: "read", name: "" });
  });

  test("keeps nothing from which the key could be had", async () => {
    const data = folderOfTest();
    const { key } = await readJson(["keys", "create", "--scope", "admin"], { data });
    expect(readdirSync(data)).toContain("keys.db");
    for (const file of readdirSync(data)) {
      expect(readFileSync(join(data, file)).includes(key.slice(-43))).toBe(false);
    }
  });

  test("writes down who made and who revoked a key", async () => {
    const data = folderOfTest();
    const { id } = await readJson(["keys", "create", "--scope", "admin"], { data });
    await readJson(["keys", "revoke", id], { data });
    const { entries } = await readJson(["list", "--kind", "audit"], { data });
    expect(entries).toMatchObject([
      { action: "key_revoked", target: id, actor: expect.stringMatching(/./) },
      { action: "key_created", target: id, actor: expect.stringMatching(/./) },
    ]);
  });

  test.each([
    [["keys", "create"], 2, "field_missing"],
    [["keys", "create", "--scope", "root"], 2, "field_invalid"],
    [["keys", "create", "--scope", "read", "--name", "a\nb"], 2, "field_invalid"],
    [["keys", "create", "x", "--scope", "read"], 2, "argument_excess"],
    [["keys", "list", "--scope", "read"], 2, "option_misplaced"],
    [["keys", "revoke"], 2, "argument_missing"],
    [["keys", "revoke", "nobody"], 1, "key_not_found"],
    [["keys", "melt"], 2, "usage_invalid"],
    [["keys"], 2, "argument_missing"],
  ])("%j is refused", async (args, status, code) => {
    const data = folderOfTest();
    await readJson(["record", "--prompt", "p"], { data });
    expect(await readError(args, { data })).toMatchObject({ status, code });
    expect((await readJson(["list", "--kind", "audit"], { data })).entries).toEqual([]);
  });

  test("a store that is not there has no keys to list, and is not made for it", async () => {
    const data = join(folderOfTest(), "none");
    expect(await readError(["keys", "list", "--data", data])).toMatchObject({ status: 1, code: "store_missing" });
  });
});

test("a running server knows of keys that the command made and revoked", async () => {
  const data = folderOfTest();
  const address = await serve(data);
  expect(await statusOf(address)).toBe(200);
  const { id, key } = await readJson(["keys", "create", "--scope", "read"], { data });
  expect([await statusOf(address), await statusOf(address, key)]).toEqual([401, 200]);
  await readJson(["keys", "revoke", id], { data });
  expect([await statusOf(address), await statusOf(address, key)]).toEqual([401, 401]);
});

test("with a key a server listens beyond this machine, and asks for it; a revoked one is none", async () => {
  const data = folderOfTest();
  const { id, key } = await readJson(["keys", "create", "--scope", "read"], { data });
  const { port } = new URL(await serve(data, ["--host", "0.0.0.0"]));
  const address = `http://127.0.0.1:${port}`;
  expect([await statusOf(address), await statusOf(address, key)]).toEqual([401, 200]);
  await readJson(["keys", "revoke", id], { data });
  const refused = await runCli(["serve", "--host", "0.0.0.0", "--port", "0"], { data });
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain("no keys exist");
  expect(refused.stderr).toContain("hansard keys create");
});

test("a damaged file of keys refuses every request", async () => {
  const data = folderOfTest();
  const { key } = await readJson(["keys", "create", "--scope", "read"], { data });
  writeFileSync(join(data, "keys.db"), "not a database at all, but long enough to be looked at ".repeat(100));
  const address = await serve(data);
  expect([await statusOf(address), await statusOf(address, key)]).toEqual([500, 500]);
});

test("names that are allowed and the rate can be set by flag and by environment", async () => {
  const data = folderOfTest();
  await readJson(["keys", "create", "--scope", "read"], { data });
  const { port } = new URL(
    await serve(data, ["--allow-host", "a.example", "--allow-host", "b.example", "--rate", "3"]),
  );
  const ask = (origin: string) => fetch(`http://127.0.0.1:${port}/health`, { headers: { origin } });
  expect((await ask("https://a.example")).status).toBe(200);
  expect((await ask("https://b.example")).status).toBe(200);
  expect((await ask("https://c.example")).status).toBe(403);
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await ask("https://a.example")).status));
  expect(statuses).toContain(429);
  for (const args of [
    ["--rate", "many"],
    ["--allow-host", "http://a.example"],
    ["--allow-host", ""],
  ]) {
    expect(await runCli(["serve", ...args], { data })).toMatchObject({ status: 2 });
  }
});

describe("HTTPS", () => {
  test("is spoken with a certificate and its key, and plain HTTP is not", async () => {
    const data = folderOfTest();
    const address = await serve(data, ["--tls-cert", tlsFiles.cert, "--tls-key", tlsFiles.key]);
    expect(address).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      const asking = httpsRequest(`${address}/health`, { ca: readFileSync(tlsFiles.cert) }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.on("error", reject).end();
    });
    expect(status).toBe(200);
    await expect(fetch(`${address.replace("https", "http")}/health`)).rejects.toThrow();
  });

  test.each([
    ["half of it", ["--tls-cert", tlsFiles.cert], 2],
    ["a file that is not there", ["--tls-cert", "none.pem", "--tls-key", tlsFiles.key], 1],
    ["files that are no PEM", ["--tls-cert", tlsFiles.key, "--tls-key", tlsFiles.cert], 1],
  ])("is refused with %s before anything is opened", async (_, args, status) => {
    const data = join(folderOfTest(), "store");
    const result = await runCli(["serve", "--port", "0", ...args], { data });
    expect(result.status).toBe(status);
    expect(result.stderr).toMatch(/PEM|--tls|cannot be read/);
  });
});
