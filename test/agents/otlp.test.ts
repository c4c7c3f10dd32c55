// Claude Code and Codex with their OTLP exporters on: what a server makes of their traces and logs is what the model was sent and
// answered.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { agentCommands } from "../../scripts/agents.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import type { JsonObject } from "../../src/model/json.js";
import { resultOf } from "../e2e/cli-run.js";
import { ofKind, startTraceServer } from "../otlp/otlp-server.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type AgentProgram, agentPrograms } from "./agent-programs.js";
import { type ModelCall, startScriptedModel } from "./scripted-model.js";

const AGENT_MS = 120_000;
const PROMPT = "Survey the harbour. (script survey)";
const scripts = {
  survey: [
    { say: "I count the lanterns.", run: ["echo three-lanterns"] },
    { say: "Now the far quay.", run: ["ls /no/such/quay"] },
    { say: "Three lanterns; the far quay does not exist." },
  ],
};

interface Exported {
  readonly entries: readonly JsonObject[];
  readonly calls: readonly ModelCall[];
  readonly usage: JsonObject;
}

async function exportedBy(
  program: AgentProgram,
  how: {
    readonly env?: (address: string) => { readonly [name: string]: string };
    readonly settings?: (address: string) => string;
  },
): Promise<Exported> {
  const server = await startTraceServer();
  const model = await startScriptedModel(scripts);
  onTestFinished(() => model.close());
  const folder = folderOfTest();
  const [home, work] = [join(folder, "home"), join(folder, "harbour")];
  for (const path of [join(home, ".config"), work]) mkdirSync(path, { recursive: true });
  const place = { home, work, model: model.address, mcp: [] };
  for (const [path, text] of Object.entries(program.settings(place))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `${String(text)}${how.settings?.(server.address) ?? ""}`);
  }
  const { PATH = "" } = process.env;
  const child = spawn(join(agentCommands(repositoryRoot), program.command), program.args(PROMPT, { isFirst: true }), {
    cwd: work,
    env: {
      ...{ HOME: home, CI: "1", NO_COLOR: "1", TERM: "dumb" },
      ...program.env(place),
      ...how.env?.(server.address),
      PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: AGENT_MS,
  });
  const { status, stdout, stderr } = await resultOf(child);
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  const entries = await server.derived();
  return { entries, calls: model.calls, usage: (await server.get("/usage")).body.total };
}

function programNamed(name: string): AgentProgram {
  return agentPrograms.find((program) => program.name === name) as AgentProgram;
}

function sumOf(calls: readonly ModelCall[], name: "input" | "cached" | "output"): number {
  return calls.reduce((sum, { tokens }) => sum + tokens[name], 0);
}

test("Claude Code: calls as they were sent, tool runs and tokens, each once", async () => {
  const { entries, calls, usage } = await exportedBy(programNamed("Claude Code"), {
    env: (address) => ({
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: address,
      OTEL_LOG_USER_PROMPTS: "1",
      OTEL_LOG_TOOL_DETAILS: "1",
      OTEL_LOG_TOOL_CONTENT: "1",
      OTEL_LOG_RAW_API_BODIES: "1",
    }),
  });
  const answers = calls.filter(({ role }) => role === "answer");
  const interactions = ofKind(entries, "interaction").filter(({ response }) => response !== "");
  expect(interactions.map(({ response }) => response)).toEqual(expect.arrayContaining(answers.map(({ said }) => said)));
  expect(interactions[0]).toMatchObject({ prompt: PROMPT, client: "claude-code" });
  expect(ofKind(entries, "tool_call").map(({ tool, is_error }) => [tool, is_error === true])).toEqual([
    ["Bash", false],
    ["Bash", true],
  ]);
  expect(usage).toMatchObject({ calls: calls.length, output_tokens: sumOf(calls, "output") });
});

test("Codex: the prompt, tool runs with their output, and tokens, each once", async () => {
  const { entries, calls, usage } = await exportedBy(programNamed("Codex"), {
    settings: (address) =>
      [
        "\n[otel]",
        "log_user_prompt = true",
        `exporter = { otlp-http = { endpoint = "${address}/v1/logs", protocol = "json" } }`,
        `trace_exporter = { otlp-http = { endpoint = "${address}/v1/traces", protocol = "json" } }`,
        "",
      ].join("\n"),
  });
  expect(ofKind(entries, "message")).toMatchObject([{ role: "user", content: PROMPT }]);
  const runs = ofKind(entries, "tool_call");
  expect(runs.map(({ tool }) => tool)).toEqual(["exec_command", "exec_command"]);
  expect(JSON.stringify(runs[0]?.result)).toContain("three-lanterns");
  expect(usage).toMatchObject({ calls: calls.length, output_tokens: sumOf(calls, "output") });
});
