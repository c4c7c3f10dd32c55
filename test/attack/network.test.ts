// No telemetry, no update check, nothing fetched: whatever a user does, the program opens no connection.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { resultOf, runCli, startCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";

const watcher = fileURLToPath(new URL("./watch-network.js", import.meta.url));

function watched(folder: string): { readonly env: NodeJS.ProcessEnv; readonly heard: () => string } {
  const file = join(folder, "network.txt");
  const env = { NODE_OPTIONS: `--import=${watcher}`, HANSARD_TEST_NETWORK_FILE: file };
  return { env, heard: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

test("the watcher hears what it is there for, in threads too", () => {
  const folder = folderOfTest();
  const { env, heard } = watched(folder);
  const thread = join(folder, "thread.mjs");
  writeFileSync(thread, 'await fetch("http://127.0.0.1:59999/").catch(() => undefined)');
  const program = `fetch("http://127.0.0.1:59998/").catch(() => undefined);
    new (require("node:worker_threads").Worker)(${JSON.stringify(thread)});
    require("node:dns").lookup("localhost", () => undefined)`;
  expect(spawnSync(process.execPath, ["-e", program], { env: { ...process.env, ...env } }).status).toBe(0);
  expect(heard()).toMatch(/connect .*59998/);
  expect(heard()).toMatch(/connect .*59999/);
  expect(heard()).toContain('lookup "localhost"');
});

test("the commands open no connection", async () => {
  const folder = folderOfTest();
  const data = join(folder, "store");
  const { env, heard } = watched(folder);
  const nanobot = join(folder, "chat.jsonl");
  writeFileSync(nanobot, '{"role":"user","content":"see https://example.com/ and mailto:a@example.com"}\n');
  const commands = [
    ["record", "--prompt", "look at http://example.com/x", "--response", "![](http://example.com/pixel.png)"],
    ["record", "--kind", "message", "--session", "s", "--role", "user", "--content", "Hello"],
    ["import", nanobot],
    ["list"],
    ["show", "1"],
    ["sessions"],
    ["history", "s"],
    ["search", "example"],
    ["reflect"],
    ["usage"],
    ["stats"],
    ["export"],
    ["export", "--format", "markdown"],
    ["verify"],
    ["doctor"],
    ["keys", "create", "--scope", "read"],
    ["seal", "--seal-key", join(folder, "seal.pem")],
    ["backup", join(folder, "copy.db")],
  ];
  for (const args of commands) {
    const { status, stderr } = await runCli(args, { asProgram: true, data, env });
    expect([args.join(" "), status, stderr]).toEqual([args.join(" "), 0, expect.any(String)]);
  }
  expect(heard()).toBe("");
});

test("a server only answers", async () => {
  const folder = folderOfTest();
  const { env, heard } = watched(folder);
  const child = startCli(["serve", "--port", "0"], { data: join(folder, "store"), env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = resultOf(child);
  const address = await new Promise<string>((resolve) => {
    let text = "";
    child.stderr?.on("data", (chunk: string) => {
      text += chunk;
      const [, found] = /"address":"([^"]+)"/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const body = JSON.stringify({ prompt: "look at http://example.com/", response: "https://example.com/" });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${address}/interactions`, { method: "POST", headers, body })).status).toBe(201);
  for (const path of [
    "/",
    "/docs",
    "/entries",
    "/search?q=example",
    "/reflection",
    "/usage",
    "/verify",
    "/export",
    "/metrics",
  ]) {
    expect([path, (await fetch(`${address}${path}`)).status]).toEqual([path, 200]);
  }
  child.kill("SIGTERM");
  expect((await ended).status).toBe(0);
  // The address to listen on is taken apart by what looks names up, and leads nowhere.
  expect(heard()).toBe('lookup "127.0.0.1"\n');
});
