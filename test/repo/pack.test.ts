// Packs the project, installs the package into an empty folder, and uses it there as a stranger would: nothing but the packed
// files and the SQLite driver is there.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand, runNpm } from "../../scripts/run-command.mjs";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";

const folder = folderOfFile();
const installed = join(folder, "node_modules", "hansard");
const main = join(installed, "dist", "bundle", "main.js");
const env = { HOME: folder, XDG_CONFIG_HOME: join(folder, "config") };

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

async function pack(from: string): Promise<Packed> {
  const packed = await runNpm(["pack", "--json", "--pack-destination", folder], { cwd: from });
  expect(packed, packed.stderr).toMatchObject({ status: 0 });
  return JSON.parse(packed.stdout)[0];
}

let packed: Packed;

beforeAll(async () => {
  packed = await pack(repositoryRoot);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const install = await runNpm(["install", ...flags, `./${packed.filename}`], { cwd: folder });
  expect(install, install.stderr).toMatchObject({ status: 0 });
}, 300_000);

test("the package is at most 60 files and 4 MB, and installs nothing but the SQLite driver for Node 20", () => {
  expect(packed.files.length).toBeLessThanOrEqual(60);
  expect(packed.size).toBeLessThanOrEqual(4_000_000);
  const isOurs = /^(?:(?:package\.json|LICENSE|(?:README|CHANGELOG)\.md)$|dist\/(?:bundle|page|types)\/)/;
  const isUnwanted = /\.test\b|\.test-d\.|tsbuildinfo|stamp|\.map$/;
  expect(packed.files.filter(({ path }) => !isOurs.test(path) || isUnwanted.test(path))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
  const besides = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(besides.sort()).toEqual(["@photostructure", "hansard", "node-addon-api", "node-gyp-build"]);
});

test("the licenses of all packages in the bundle go with it", () => {
  const text = readFileSync(join(installed, "dist/bundle/THIRD-PARTY-LICENSES.txt"), "utf8");
  for (const name of ["fastify", "pg", "pino", "typebox", "zod", "gpt-tokenizer", "@orama/stemmers"]) {
    expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  }
});

test("publint finds nothing to say about the package", async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
});

test("the client is a package of its own too: below 60 KB, without dependencies, the same as hansard/client", async () => {
  const { filename, files } = await pack(join(repositoryRoot, "client"));
  expect(files.find(({ path }) => path === "dist/index.js")?.size).toBeLessThan(60_000);
  expect(files.map(({ path }) => path).sort()).toEqual([
    ...["README.md", "dist/index.d.ts", "dist/index.js", "package.json"],
  ]);
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, "client", "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
  const install = await runNpm(["install", "--no-save", "--offline", join(folder, filename)], { cwd: folder });
  expect(install, install.stderr).toMatchObject({ status: 0 });
  const script =
    "const names = async (name) => Object.keys(await import(name)).join(); " +
    "console.log(await names('hansard-client') === await names('hansard/client'))";
  const run = await runCommand(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
  expect(run).toEqual({ status: 0, stdout: "true\n", stderr: "" });
});

test("`npm install CLONE/client` is enough to use the client", async () => {
  const own = folderOfTest();
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "agent", private: true, type: "module" }));
  const flags = ["--offline", "--no-audit", "--no-fund"];
  const install = await runNpm(["install", ...flags, join(repositoryRoot, "client")], { cwd: own });
  expect(install, install.stderr).toMatchObject({ status: 0 });
  const script =
    "const { connectRecorder } = await import('hansard-client'); " +
    "const recorder = connectRecorder({ url: 'http://127.0.0.1:9', spool: 'spool', onProblem: () => undefined }); " +
    "await recorder.session('s').error({ error: 'e' }); console.log((await recorder.close({ timeout_ms: 50 })).spooled)";
  const run = await runCommand(process.execPath, ["--input-type=module", "-e", script], { cwd: own });
  expect(run).toEqual({ status: 0, stdout: "1\n", stderr: "" });
}, 300_000);

test("whatever the package exports is in it", () => {
  const { exports, bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const targets = JSON.stringify([exports, bin]).match(/(?<=")[^"]+\.(?:js|d\.ts)(?=")/g) ?? [];
  expect(targets.length).toBeGreaterThanOrEqual(7);
  expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
});

async function compile(file: string, ...options: readonly string[]): Promise<string> {
  const tsc = join(repositoryRoot, "node_modules", "typescript", "bin", "tsc");
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
  const shape = ["--target", "es2022", "--lib", "es2023", "--ignoreConfig"];
  return (await runCommand(process.execPath, [tsc, ...strict, ...shape, ...options, file], { cwd: folder })).stdout;
}

test.each(["nodenext", "bundler"])(
  "its types compile strictly, declarations included, as %s resolves them",
  async (how) => {
    writeFileSync(
      join(folder, "consumer.ts"),
      `import { openRecorder } from 'hansard'

const recorder = await openRecorder({ data: 'record' })
const interaction = await recorder.recordInteraction({ prompt: 'What is a Hansard?' })
const again = await recorder.getInteraction(interaction.id)
export const prompt: string | undefined = again?.prompt
// @ts-expect-error A prompt is what makes an interaction.
await recorder.recordInteraction({ response: 'The record of a parliament.' })
await recorder.close()
`,
    );
    const module = how === "bundler" ? "esnext" : how;
    expect(await compile("consumer.ts", "--skipLibCheck", "false", "--module", module, "--moduleResolution", how)).toBe(
      "",
    );
  },
);

test("its types are those of the sources, the client's and the conformance suites' too", async () => {
  const tests = readFileSync(join(repositoryRoot, "test/types/recorder.test-d.ts"), "utf8");
  const packages = { '"../../src/index.js"': '"hansard"', '"vitest"': '"./expect-type.js"' };
  const used = Object.entries(packages).reduce((text, [from, to]) => text.replaceAll(from, to), tests);
  const types = join(pathOf("expect-type"), "dist", "index.js");
  writeFileSync(join(folder, "expect-type.ts"), `export { expectTypeOf } from ${JSON.stringify(types)};\n`);
  writeFileSync(
    join(folder, "types.ts"),
    `${used}
export { connectRecorder } from "hansard/client";
export { describeEntryLog } from "hansard/conformance";
`,
  );
  const node = ["--types", "node", "--typeRoots", pathOf("@types")];
  expect(await compile("types.ts", "--skipLibCheck", "--module", "nodenext", ...node)).toBe("");
});

/** Of a package of the repository. */
function pathOf(name: string): string {
  return join(repositoryRoot, "node_modules", name);
}

test("what the library records is read back", async () => {
  writeFileSync(
    join(folder, "round-trip.mjs"),
    `import { openRecorder } from 'hansard'

const recorder = await openRecorder({ data: 'record' })
const interaction = await recorder.recordInteraction({ prompt: 'What is a Hansard?' })
console.log((await recorder.getInteraction(interaction.id)).prompt)
await recorder.close()
`,
  );
  const result = await runCommand(process.execPath, ["round-trip.mjs"], { cwd: folder });
  expect(result).toEqual({ status: 0, stdout: "What is a Hansard?\n", stderr: "" });
});

/** Runs the installed command to its end. */
async function hansard(...args: readonly string[]): Promise<string> {
  const result = await runCommand(process.execPath, [main, ...args], { cwd: folder, env });
  expect(result, `${result.stdout}${result.stderr}`).toMatchObject({ status: 0 });
  return result.stdout;
}

/** Starts the installed command; it is gone with the test. */
function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The first line of the stream that matches. */
async function lineOf(child: ChildProcess, stream: "stdout" | "stderr", pattern: RegExp): Promise<string> {
  const seen: string[] = [];
  for await (const line of createInterface({ input: child[stream] as NodeJS.ReadableStream })) {
    if (pattern.test(line)) return line;
    seen.push(line);
  }
  throw new Error(`No line matched ${pattern}: ${seen.join("\n")}`);
}

test("the command prints its version", async () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  const result = await runNpm(["exec", "--no", "--", "hansard", "--version"], { cwd: folder });
  expect(result, result.stderr).toMatchObject({ status: 0, stdout: expect.stringContaining(version) });
});

const transcripts = join(repositoryRoot, "test/fixtures/import/claude-code");

test("the command records, imports, reflects, and counts tokens and dollars", async () => {
  const data = ["--data", join(folder, "commands")];
  await hansard("record", ...data, "--session", "s1", "--prompt", "What is a Hansard?", "--response", "A record.");
  expect(await hansard("list", ...data)).toContain("What is a Hansard?");
  await hansard("import", ...data, transcripts);
  expect(await hansard("search", ...data, "Hansard")).toContain("Hansard");
  expect(JSON.parse(await hansard("history", ...data, "s1", "--max-tokens", "1000", "--json"))).toHaveProperty(
    "messages",
  );
  expect(await hansard("reflect", ...data)).not.toBe("");
  expect(await hansard("usage", ...data)).not.toBe("");
  expect(await hansard("verify", ...data)).not.toBe("");
});

test("the command records on PostgreSQL", async () => {
  const data = ["--data", await databaseOfTest()];
  await hansard("record", ...data, "--session", "s1", "--prompt", "Kept in a database?");
  expect(await hansard("list", ...data)).toContain("Kept in a database?");
});

test.each(["serve", "demo"])("`%s` serves the page, the record and MCP", async (command) => {
  const server = start(command, "--port", "0", ...(command === "serve" ? ["--data", join(folder, "served")] : []));
  const { address } = JSON.parse(await lineOf(server, "stderr", /"listening"/)) as { readonly address: string };
  const page = await (await fetch(`${address}/ui/`)).text();
  const [script = ""] = /\/ui\/assets\/[^"]+\.js/.exec(page) ?? [];
  expect((await fetch(`${address}${script}`)).status).toBe(200);
  expect(await (await fetch(`${address}/health`)).json()).toMatchObject({ status: "ok" });
  expect((await fetch(`${address}/openapi.json`)).status).toBe(200);
  expect((await fetch(`${address}/metrics`)).status).toBe(200);
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const asked = await fetch(`${address}/mcp`, { method: "POST", headers, body: JSON.stringify(initialize) });
  expect(await asked.text()).toContain('"serverInfo"');
});

const initialize = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "stranger", version: "1" } },
};

test("the command serves MCP over standard input and output", async () => {
  const server = start("mcp", "--data", join(folder, "mcp"));
  server.stdin?.write(`${JSON.stringify(initialize)}\n`);
  expect(await lineOf(server, "stdout", /"id":1/)).toContain('"serverInfo"');
});

test("the command watches a folder, and records what is written there", async () => {
  const watched = join(folder, "transcripts");
  mkdirSync(watched);
  const watch = start("watch", watched, "--json", "--data", join(folder, "watched"));
  await lineOf(watch, "stdout", /./);
  const line = { type: "user", message: { role: "user", content: "Seen while it was written" }, uuid: "u1" };
  const session = { sessionId: "w1", timestamp: "2026-01-02T03:04:05.000Z", version: "2.0.0", cwd: "/p", ...line };
  writeFileSync(join(watched, "w1.jsonl"), `${JSON.stringify(session)}\n`);
  await expect
    .poll(() => hansard("list", "--data", join(folder, "watched")), { timeout: 20_000, interval: 500 })
    .toContain("Seen while it was written");
});
