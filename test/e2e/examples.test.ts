// The examples run as a reader runs them, against a server and the stand-in for a model that comes with them.
import { appendFileSync, cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand, runNpm } from "../../scripts/run-command.mjs";
import { folderOfTest } from "../support/temporary-folder.js";
import { heldPort } from "./connected-client.js";
import { startServer } from "./http-client.js";

type Run = (program: string, ...args: readonly string[]) => Promise<string>;

/** The examples in a folder of their own, as `npm install` would leave it, with this repository in the place of the package. */
function examplesWith(packages: { readonly [name: string]: string }, address: string): Run {
  const folder = folderOfTest();
  cpSync(join(repositoryRoot, "examples"), folder, { recursive: true });
  for (const [name, place] of Object.entries({ ...packages, hansard: ".." })) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(repositoryRoot, "node_modules", place), join(folder, "node_modules", name));
  }
  const { PATH = "" } = process.env;
  // With a key of its owner's, an example would ask a real model.
  const keyless = { OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: undefined, HANSARD_KEY: undefined };
  const env = { PATH, HOME: folder, XDG_STATE_HOME: folder, HANSARD_URL: address, ...keyless };
  return async (program, ...args) => {
    const { status, stdout, stderr } = await runCommand(program, [...args], { cwd: folder, env });
    expect([status, stderr], args[0]).toEqual([0, ""]);
    return stdout;
  };
}

test("every example runs offline, and what it did is in the record", async () => {
  const server = await startServer();
  const names = ["openai", "ai", "@ai-sdk", "@anthropic-ai", "@modelcontextprotocol"];
  const run = examplesWith(Object.fromEntries(names.map((name) => [name, name])), server.address);
  const node = process.execPath;
  expect(await run(node, "openai-fetch.mjs", "Why?")).toBe("You said: Why? 👋🏽 é\n");
  expect(await run(node, "anthropic-fetch.mjs", "Why?")).toBe("You said: Why? 👋🏽 é\n");
  expect(await run(node, "ai-sdk.mjs", "the weather?")).toBe("You said: the weather? 👋🏽 é\n");
  expect(await run("python3", "python.py", "Why?")).toBe("user: Why?\nassistant: You said: Why?\n");
  expect(await run(node, "mcp-client.mjs", "weather")).toMatch(/found for 'weather'[\s\S]*Recorded at position/);
  const { sessions } = (await server.get("/sessions")).body;
  const counted = sessions.map((one: { [name: string]: unknown }) => [
    ...[one.session_id, one.interactions, one.messages, one.tool_calls, one.decisions],
  ]);
  expect(counted.sort()).toEqual([
    ["example:ai-sdk", 2, 0, 1, 0],
    ["example:anthropic", 1, 0, 0, 0],
    ["example:mcp", 0, 0, 0, 1],
    ["example:openai", 1, 0, 0, 0],
    ["example:python", 0, 2, 0, 0],
  ]);
});

test("the example in Python keeps what it recorded while the server is away or refuses, and each entry arrives once", async () => {
  const { port, release } = await heldPort();
  const [data, state] = [folderOfTest(), folderOfTest()];
  const file = join(repositoryRoot, "examples", "python.py");
  const env = {
    PATH: process.env.PATH ?? "",
    XDG_STATE_HOME: state,
    PYTHONDONTWRITEBYTECODE: "1",
    HANSARD_URL: `http://127.0.0.1:${port}`,
  };
  const python = (script: string) => runCommand("python3", ["-c", `${PROLOGUE}${script}`, file], { env });
  const many =
    "for n in range(450): recorder.record('message', session_id='py', role='user', content=f'entry {n} é')\n";
  // Killed right after a call that returned.
  await python(`${many}os.kill(os.getpid(), 9)`);
  const away = await python("recorder.record('nonsense'); print(recorder.deliver(0.3))");
  expect(away).toMatchObject({
    status: 0,
    stdout: "451\n",
    stderr: expect.stringContaining("what was recorded waits in"),
  });
  const [spool = ""] = readdirSync(join(state, "hansard", "python-spool")).filter((name) => name.endsWith(".ndjson"));
  appendFileSync(join(state, "hansard", "python-spool", spool), '{"id":"half');
  const late = python("recorder.record('error', error='last'); print(recorder.deliver(30))");
  await release();
  const server = await startServer({ data, port });
  expect(await late).toMatchObject({ status: 0, stdout: "0\n", stderr: expect.stringContaining("hansard: refused: ") });
  const counted = (await server.get("/stats")).body;
  expect(counted).toMatchObject({ entries: 451, by_kind: { message: 450, error: 1 } });
  expect(await python("print(recorder.deliver(1))")).toEqual({ status: 0, stdout: "0\n", stderr: "" });
});

/** The example as a module, and its recorder. */
const PROLOGUE = `import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("example", sys.argv[1])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
recorder = example.Recorder()
`;

test("what needs a newer Node runs there: the AI SDK 7 and OpenAI's client 7, on Node 24", async () => {
  const found = await runNpm(["exec", "--yes", "--", "node@24", "-p", "process.execPath"], { cwd: folderOfTest() });
  expect(found, found.stderr).toMatchObject({ status: 0 });
  const node = found.stdout.trim();
  const server = await startServer();
  const packages = { ai: "ai-7", "@ai-sdk/openai": "ai-sdk-openai-4", openai: "openai-7" };
  const run = examplesWith(packages, server.address);
  expect(await run(node, "-p", "process.version")).toMatch(/^v24\./);
  expect(await run(node, "openai-fetch.mjs", "Why?")).toBe("You said: Why? 👋🏽 é\n");
  expect(await run(node, "ai-sdk.mjs", "the weather?")).toBe("You said: the weather? 👋🏽 é\n");
  const { interactions } = (await server.get("/interactions")).body;
  const seen = interactions.map((one: { [name: string]: unknown }) => [
    one.session_id,
    one.prompt,
    one.model,
    one.error,
  ]);
  expect(seen.toReversed()).toEqual([
    ["example:openai", "Why?", "stand-in-1", ""],
    ["example:ai-sdk", "the weather?", "stand-in-1", ""],
    ["example:ai-sdk", "the weather?", "stand-in-1", ""],
  ]);
});
