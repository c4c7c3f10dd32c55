// One session of a real agent with a scripted model, while a server watches its transcripts and, where it can, takes its
// hooks and MCP calls.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { agentCommands } from "../../scripts/agents.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { openRecorder, type Recorder } from "../../src/index.js";
import { mainFile, resultOf, runCli, serveCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";
import type { AgentPlace, AgentProgram } from "./agent-programs.js";
import { type ModelCall, type Scripts, startScriptedModel } from "./scripted-model.js";

/** What the rules file of the agent says. */
export const RULE = "Always count the lanterns from the east.";

export interface AgentRun {
  /** What was typed, in order; a command that compacts the session is none of the model's. */
  readonly prompts: readonly string[];
  readonly calls: readonly ModelCall[];
  readonly recorder: Recorder;
  /** Where the agent kept its files, for looking at a failure. */
  readonly home: string;
}

/** The commands that fail. */
export const FAILING = ["ls /no/such/quay", "exit 7"];

function scriptsOf({ compacts, mcp, hasSubagents = false }: AgentProgram): Scripts {
  const much = "input_tokens" in compacts ? { input_tokens: compacts.input_tokens } : {};
  const isAtEnd = "isAtEnd" in compacts && compacts.isAtEnd === true;
  const ask = { tool: "recall", args: { q: "lanterns" } };
  return {
    survey: [
      { think: "First the east.", say: "I count the lanterns.", run: ["cat lanterns.txt"] },
      { say: "Writing it down.", write: { path: "report.txt", text: "Drei Laternen – eine rußt. 灯\n" } },
      { say: "Now the far quay.", run: ["ls /no/such/quay"] },
      { say: "Three lanterns; the far quay does not exist." },
    ],
    both: [
      { refuse: 500 },
      { say: "Both at once.", run: ["echo tide-is-high", "exit 7"] },
      { say: "One printed tide-is-high, one ended with 7." },
    ],
    ...(mcp === "none" ? {} : { record: [{ say: "I ask.", ask }, { say: "Nothing was remembered." }] }),
    ...(hasSubagents
      ? {
          helper: [
            {
              say: "A helper goes.",
              delegate: { title: "Count the boats", prompt: "Count the boats. (script boats)" },
            },
            { say: "The helper is back." },
          ],
          boats: [{ say: "Counting boats.", run: ["wc -l < boats.txt"] }, { say: "Two boats." }],
        }
      : {}),
    heavy: isAtEnd
      ? [{ say: "That was long.", ...much }]
      : [{ say: "A long look.", run: ["echo long-look"], ...much }, { say: "The long look is over." }],
    after: [{ say: "Going on from the summary." }],
    left: [{ say: "I answer from what is left." }],
  };
}

const WORDS = {
  survey: "Survey the harbour, bitte mit Umlauten: Möwen.",
  both: "Do both things now.",
  record: "Ask the record.",
  helper: "Send a helper.",
  heavy: "Look for a long time.",
  left: "What is left?",
};

/** An agent that hangs is ended. */
const AGENT_MS = 120_000;
/** A database that changes all the time is read for a tenth of the time, which on a busy machine is seldom. */
const READ_MS = 90_000;

export async function runAgent(program: AgentProgram): Promise<AgentRun> {
  const folder = folderOfTest();
  const [home, work, data] = ["home", "harbour", "data"].map((name) => join(folder, name)) as [string, string, string];
  const scripts = scriptsOf(program);
  const model = await startScriptedModel(scripts);
  onTestFinished(() => model.close());
  const { command } = program.compacts as { readonly command?: string };
  const names = Object.keys(WORDS).filter((name) => name in scripts) as (keyof typeof WORDS)[];
  const prompts = names.flatMap((name) => {
    const prompt = `${WORDS[name]} (script ${name})`;
    return name === "left" && command !== undefined ? [command, prompt] : [prompt];
  });
  for (const path of [join(home, ".config"), work]) mkdirSync(path, { recursive: true });
  const env = { HOME: home, XDG_DATA_HOME: join(home, ".local/share"), CI: "1", NO_COLOR: "1" };
  const server = await serveCli({ data, env }, ["--port", "0", "--watch"]);
  const mcp = [process.execPath, mainFile, "mcp", "--data", server.address];
  const place: AgentPlace = { home, work, model: model.address, mcp };
  const files = {
    "lanterns.txt": "ash\nbay\ncove\n",
    "boats.txt": "gull\ntern\n",
    [program.rules]: `# Rules\n\n${RULE}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  for (const [path, settings] of Object.entries(program.settings(place))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof settings === "string" ? settings : JSON.stringify(settings));
  }
  const own = { env: { HOME: home } };
  if (program.mcp === "installed") {
    await done(runCli(["mcp", "install", program.format, "--yes", "--data", server.address], own));
  }
  if (program.hasHooks === true) {
    await done(runCli(["hooks", "install", program.format, "--yes", "--url", server.address], own));
  }
  for (const [index, prompt] of prompts.entries()) {
    const args = program.args(prompt, { isFirst: index === 0 });
    const { PATH = "" } = process.env;
    const child = spawn(join(agentCommands(repositoryRoot), program.command), args, {
      cwd: work,
      env: { ...env, ...program.env(place), PATH: `${dirname(process.execPath)}${delimiter}${PATH}`, TERM: "dumb" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: AGENT_MS,
    });
    const { status, stdout, stderr } = await resultOf(child);
    if (status !== 0) throw new Error(`${program.name} ended with ${status} at ${prompt}:\n${stdout}\n${stderr}`);
  }
  const recorder = await openRecorder({ data: server.address });
  onTestFinished(() => recorder.close());
  // What the agent wrote last is read within seconds.
  const last = model.calls.findLast(({ role }) => role === "answer")?.said ?? "";
  await expect
    .poll(async () => (await recorder.search(`"${last}"`, { kind: "message" })).results.length, { timeout: READ_MS })
    .toBeGreaterThan(0);
  return { prompts, calls: model.calls, recorder, home };
}

async function done(running: ReturnType<typeof runCli>): Promise<void> {
  const { status, stderr } = await running;
  if (status !== 0) throw new Error(stderr);
}
