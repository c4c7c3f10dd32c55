// The examples run as a reader runs them, against a server and the stand-in for a model that comes with them.
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand } from "../../scripts/run-command.mjs";
import { folderOfTest } from "../support/temporary-folder.js";
import { startServer } from "./http-client.js";

test("every example runs offline, and what it did is in the record", async () => {
  const [server, folder] = [await startServer(), folderOfTest()];
  cpSync(join(repositoryRoot, "examples"), folder, { recursive: true });
  // As npm install would leave it, with this repository in the place of the package.
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["openai", "ai", "@ai-sdk", "@anthropic-ai", "@modelcontextprotocol"]) {
    symlinkSync(join(repositoryRoot, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(repositoryRoot, join(folder, "node_modules", "hansard"));
  const { PATH = "" } = process.env;
  // With a key of its owner's, an example would ask a real model.
  const keyless = { OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: undefined, HANSARD_KEY: undefined };
  const env = { PATH, HOME: folder, XDG_STATE_HOME: folder, HANSARD_URL: server.address, ...keyless };
  const run = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await runCommand(program, [...args], { cwd: folder, env });
    expect([status, stderr], args[0]).toEqual([0, ""]);
    return stdout;
  };
  const node = process.execPath;
  expect(await run(node, "openai-fetch.mjs", "Why?")).toBe("You said: Why? 👋🏽 é\n");
  expect(await run(node, "anthropic-fetch.mjs", "Why?")).toBe("You said: Why? 👋🏽 é\n");
  expect(await run(node, "ai-sdk.mjs", "the weather?")).toBe("You said: the weather? 👋🏽 é\n");
  expect(await run("python3", "plain_http.py", "Why?")).toBe("user: Why?\nassistant: You said: Why?\n");
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
