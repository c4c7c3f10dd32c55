// Executes the examples of README.md and CONNECTING.md as a reader would: the library in a folder of its own, curl and agents
// against a server.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { type CommandResult, runCommand } from "../../scripts/run-command.mjs";
import { startModel } from "../support/model-server.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type Example, examplesOf, outputMatches } from "./readme-examples.js";

const examples = ["README.md", join("docs", "CONNECTING.md")].flatMap((file) =>
  examplesOf(readFileSync(join(repositoryRoot, file), "utf8")),
);

test("there are examples of the library, of HTTP, of the client and of its fetch", () => {
  const names = examples.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["library", "curl", "client", "fetch"]));
});

describe("an example of the documents runs and prints the shown output:", () => {
  test.each(examples)("$name", async (example) => {
    const result = await runExample(example);
    expect(result, result.stderr).toMatchObject({ status: 0 });
    if (example.output === undefined || outputMatches({ shown: example.output, printed: result.stdout })) return;
    expect(result.stdout).toBe(example.output);
  });
});

test("a mark without its block, and an output without its example, are mistakes", () => {
  expect(() => examplesOf("<!-- run: a -->\n\n```js\n1\n```\n")).toThrow("not followed by a fenced block");
  expect(() => examplesOf("<!-- output: a -->\n```\n1\n```\n")).toThrow("belongs to no example");
});

test("ids, times and hashes may differ from the shown output, other text may not", () => {
  const shown = '{"id":"019a85d2-7c1e-7000-8000-000000000001","at":"2026-11-15T06:39:37.123Z","n":1} …\n';
  const printed = '{"id":"019b0000-0000-7000-8000-00000000ffff","at":"2027-01-01T00:00:00.000Z","n":1} and more\n';
  expect(outputMatches({ shown, printed })).toBe(true);
  expect(outputMatches({ shown, printed: printed.replace('"n":1', '"n":2') })).toBe(false);
});

async function runExample({ language, code }: Example): Promise<CommandResult> {
  // A home of its own, so an example that uses the default folder cannot touch the reader's record.
  const folder = folderOfTest();
  const env = { HOME: folder, XDG_STATE_HOME: folder, HANSARD_DATA: join(folder, "record") };
  if (language === "bash" || language === "sh") {
    const address = await startServer({ folder, env });
    // Without this an answer of 400 would count as success, because curl itself did not fail.
    writeFileSync(join(folder, ".curlrc"), "fail-with-body\n");
    const script = code.replaceAll("127.0.0.1:4747", address);
    return runCommand("bash", ["-euo", "pipefail", "-c", script], { cwd: folder, env });
  }
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(repositoryRoot, join(folder, "node_modules", "hansard"), "junction");
  symlinkSync(join(repositoryRoot, "node_modules", "openai"), join(folder, "node_modules", "openai"), "junction");
  if (!code.includes("hansard/client")) {
    writeFileSync(join(folder, "example.mjs"), code);
    return runCommand(process.execPath, ["example.mjs"], { cwd: folder, env });
  }
  const address = await startServer({ folder, env });
  writeFileSync(join(folder, "example.mjs"), code.replaceAll("127.0.0.1:4747", address));
  const model = { OPENAI_BASE_URL: `${await startModel()}/v1`, OPENAI_API_KEY: "none" };
  const agent = { ...env, ...model, HANSARD_URL: `http://${address}` };
  return runCommand(process.execPath, ["example.mjs"], { cwd: folder, env: agent });
}

async function startServer({ folder, env }: { folder: string; env: NodeJS.ProcessEnv }): Promise<string> {
  const port = await freePort();
  const main = join(repositoryRoot, "dist", "bundle", "main.js");
  const server = spawn(process.execPath, [main, "serve"], {
    cwd: folder,
    env: { ...process.env, ...env, HANSARD_PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  server.stderr.setEncoding("utf8").on("data", (chunk) => {
    complaints += chunk;
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  onTestFinished(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  await answers({ server, address: `127.0.0.1:${port}`, complaints: () => complaints });
  return `127.0.0.1:${port}`;
}

interface Waiting {
  readonly server: ChildProcess;
  readonly address: string;
  readonly complaints: () => string;
}

async function answers({ server, address, complaints }: Waiting): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline && server.exitCode === null) {
    const response = await fetch(`http://${address}/health`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The server does not answer at ${address}.\n${complaints()}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}
