// Sessions that `hansard resume` writes back, taken up by the real agents: the scripted model is given the history.
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentCommands } from "../../scripts/agents.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { openRecorder } from "../../src/index.js";
import { fillStore, readJson, resultOf, runCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type AgentPlace, type AgentProgram, agentPrograms } from "./agent-programs.js";
import { type ModelCall, startScriptedModel } from "./scripted-model.js";

const AGENT_MS = 120_000;
const scripts = {
  survey: [
    { think: "First the east.", say: "I count the lanterns.", run: ["cat lanterns.txt", "exit 7"] },
    { say: "Three lanterns, said the survey." },
  ],
  again: [{ say: "I go on from there." }],
};

interface Place extends AgentPlace {
  readonly data: string;
  readonly calls: readonly ModelCall[];
}

async function placeFor(program: AgentProgram): Promise<Place> {
  const folder = folderOfTest();
  const [home, work, data] = ["home", "harbour", "data"].map((name) => join(folder, name)) as [string, string, string];
  const model = await startScriptedModel(scripts);
  onTestFinished(() => model.close());
  for (const path of [join(home, ".config"), work]) mkdirSync(path, { recursive: true });
  writeFileSync(join(work, "lanterns.txt"), "ash\nbay\ncove\n");
  const place = { home, work, data, model: model.address, mcp: [], calls: model.calls };
  for (const [path, settings] of Object.entries(program.settings(place))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof settings === "string" ? settings : JSON.stringify(settings));
  }
  return place;
}

async function runAgent(program: AgentProgram, place: Place, args: readonly string[]): Promise<void> {
  const { PATH = "" } = process.env;
  const child = spawn(join(agentCommands(repositoryRoot), program.command), args, {
    cwd: place.work,
    env: {
      ...{ HOME: place.home, CI: "1", NO_COLOR: "1", TERM: "dumb" },
      ...{ PATH: `${dirname(process.execPath)}${delimiter}${PATH}` },
      ...program.env(place),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: AGENT_MS,
  });
  const { status, stdout, stderr } = await resultOf(child);
  if (status !== 0) throw new Error(`${program.name} ended with ${status}:\n${stdout}\n${stderr}`);
}

/** What the model was sent with the last request that it answered. */
function lastRequest({ calls }: Place): string {
  return JSON.stringify(calls.findLast(({ role }) => role === "answer")?.body.messages ?? calls.at(-1)?.body.input);
}

const resumable = agentPrograms.filter(({ resumes }) => resumes !== undefined);

describe.each(resumable.map((program) => [program.name, program] as const))("%s", (_name, program) => {
  const resumes = program.resumes ?? (() => []);

  test("goes on with its own session after its file was deleted, and the record holds it once", async () => {
    const place = await placeFor(program);
    const own = { data: place.data, env: { HOME: place.home } };
    await runAgent(program, place, program.args("Survey the harbour. (script survey)", { isFirst: true }));
    expect((await runCli(["import", "--yes"], own)).status).toBe(0);
    const session_id = await onlySession(place.data);
    const [before] = await lost(own);
    expect(before).toBeUndefined();
    rmSync(
      join(
        place.home,
        { "claude-code": ".claude/projects", codex: ".codex", pi: ".pi/agent/sessions" }[program.format] ?? "",
      ),
      {
        recursive: true,
      },
    );
    if (program.format === "codex") await rewrite(program, place);
    expect(await lost(own)).toMatchObject([{ session_id }]);
    const written = await readJson(["resume", session_id, "--to", program.format, "--yes", "--json"], own);
    expect(written).toMatchObject({ id: session_id, cwd: place.work });
    await runAgent(program, place, resumes(session_id, "And now? (script again)"));
    const request = lastRequest(place);
    for (const text of [
      "Survey the harbour.",
      "I count the lanterns.",
      "ash\\\\nbay",
      "Three lanterns, said the survey.",
    ]) {
      expect(request.replaceAll("\\n", "\\\\n")).toContain(text);
    }
    expect((await runCli(["import", "--yes"], own)).status).toBe(0);
    const said = await textsOf(place.data, session_id);
    for (const text of ["I count the lanterns.", "Three lanterns, said the survey.", "I go on from there."]) {
      expect(said.filter((one) => one === text)).toEqual([text]);
    }
  });

  test("goes on with a session that no agent wrote", async () => {
    const place = await placeFor(program);
    const tool_calls = [{ id: "c1", type: "function", function: { name: "look_up", arguments: '{"pier":4}' } }];
    const session_id = "cli:anna";
    await fillStore(place.data, [
      { kind: "message", session_id, role: "user", content: "How many boats lie at pier four?" },
      { kind: "message", session_id, role: "assistant", content: "I look it up.", tool_calls },
      { kind: "tool_call", session_id, tool: "look_up", result: "seventeen boats", tool_call_id: "c1" },
      { kind: "message", session_id, role: "assistant", content: "Seventeen." },
      { kind: "message", session_id, role: "user", content: "Thanks." },
      { kind: "message", session_id, role: "assistant", content: "You are welcome." },
    ]);
    const own = { data: place.data, env: { HOME: place.home }, cwd: place.work };
    const { id } = await readJson(["resume", session_id, "--to", program.format, "--yes", "--json"], own);
    await runAgent(program, place, resumes(id, "And now? (script again)"));
    const request = lastRequest(place);
    for (const text of [
      "How many boats lie at pier four?",
      "I look it up.",
      "seventeen boats",
      "Seventeen.",
      "You are welcome.",
    ]) {
      expect(request).toContain(text);
    }
  });
});

/** Its settings are where its sessions are. */
async function rewrite(program: AgentProgram, place: Place): Promise<void> {
  for (const [path, settings] of Object.entries(program.settings(place))) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    writeFileSync(join(place.home, path), String(settings));
  }
}

async function onlySession(data: string): Promise<string> {
  const recorder = await openRecorder({ data });
  try {
    const { sessions } = await recorder.listSessions({});
    return sessions[0]?.session_id ?? "";
  } finally {
    await recorder.close();
  }
}

async function textsOf(data: string, session_id: string): Promise<readonly unknown[]> {
  const recorder = await openRecorder({ data });
  try {
    const messages = await recorder.session(session_id).history({ max_messages: 1_000 });
    return messages.map(({ content }) => content);
  } finally {
    await recorder.close();
  }
}

async function lost(own: Parameters<typeof runCli>[1]): Promise<readonly object[]> {
  return (await readJson(["lost", "--json"], own)).sessions;
}
