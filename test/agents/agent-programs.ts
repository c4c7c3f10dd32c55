// The real programs that the record is tried with: how each is set up without a login, and run without a terminal.
import type { JsonObject } from "../../src/model/json.js";
import type { SaidTurn } from "../support/request-texts.js";

/** Where everything of one run is. */
export interface AgentPlace {
  /** The home folder, which is also where the record looks for transcripts. */
  readonly home: string;
  /** The folder that the agent works in. */
  readonly work: string;
  /** The address of the scripted model. */
  readonly model: string;
  /** What starts the record's MCP server. */
  readonly mcp: readonly string[];
}

export interface AgentProgram {
  readonly name: string;
  /** The package's command. */
  readonly command: string;
  /** The importer that reads what it leaves. */
  readonly format: string;
  /** Settings to write before it runs, by their path in the home folder; objects become JSON. */
  readonly settings: (place: AgentPlace) => { readonly [path: string]: JsonObject | string };
  readonly env: (place: AgentPlace) => { readonly [name: string]: string };
  readonly args: (prompt: string, turn: { readonly isFirst: boolean }) => readonly string[];
  /** The same for a session by its id, where `hansard resume` can write one. */
  readonly resumes?: (id: string, prompt: string) => readonly string[];
  /** The file with rules that it reads by itself. */
  readonly rules: string;
  /** Whether its MCP servers are installed by `hansard mcp install`, are in its settings, or are unknown to it. */
  readonly mcp: "installed" | "settings" | "none";
  /**
   * What its transcript has of the system prompt it sends: all; all but a first line for billing; what it is made from, parts of
   * which it leaves out; nothing.
   */
  readonly system: "whole" | "but_first" | "parts" | "none";
  /** A summary as it is sent, of one as it is written down. */
  readonly framesSummary?: (turns: readonly SaidTurn[]) => readonly SaidTurn[];
  /** Whether its transcript holds what a compaction cost. */
  readonly countsCompactions?: boolean;
  /** Whether its input tokens leave the cached ones out. */
  readonly countsCachedApart?: boolean;
  readonly hasHooks?: boolean;
  readonly hasSubagents?: boolean;
  /** How its session is compacted: by a command, or by itself once it has read much. */
  readonly compacts: { readonly command: string } | { readonly input_tokens: number; readonly isAtEnd?: boolean };
}

const KEY = "none";

export const agentPrograms: readonly AgentProgram[] = [
  {
    name: "Claude Code",
    command: "claude",
    format: "claude-code",
    countsCachedApart: true,
    countsCompactions: true,
    settings: () => ({}),
    env: ({ model }) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // It refuses to run every command as root otherwise.
      IS_SANDBOX: "1",
    }),
    args: (prompt, { isFirst }) => [
      ...["-p", prompt, "--dangerously-skip-permissions"],
      ...(isFirst ? [] : ["--continue"]),
    ],
    resumes: (id, prompt) => ["-p", prompt, "--dangerously-skip-permissions", "--resume", id],
    rules: "CLAUDE.md",
    system: "but_first",
    mcp: "installed",
    hasHooks: true,
    hasSubagents: true,
    compacts: { command: "/compact" },
  },
  {
    name: "Codex",
    command: "codex",
    format: "codex",
    countsCompactions: true,
    settings: ({ model }) => ({
      ".codex/config.toml": [
        'model = "gpt-5.3-codex"',
        'model_provider = "scripted"',
        "model_context_window = 200000",
        "model_auto_compact_token_limit = 150000",
        "[model_providers.scripted]",
        'name = "scripted"',
        `base_url = "${model}/v1"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        "",
      ].join("\n"),
    }),
    env: () => ({ SCRIPTED_KEY: KEY }),
    args: (prompt, { isFirst }) => [
      ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
      ...(isFirst ? [prompt] : ["resume", "--last", prompt]),
    ],
    resumes: (id, prompt) => [
      ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "resume", id, prompt],
    ],
    rules: "AGENTS.md",
    system: "parts",
    mcp: "installed",
    compacts: { input_tokens: 199_000 },
  },
  {
    name: "Gemini CLI",
    command: "gemini",
    format: "gemini-cli",
    settings: () => ({
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      },
    }),
    env: ({ model }) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model }),
    args: (prompt, { isFirst }) => [
      ...["--yolo", "-m", "gemini-2.5-pro"],
      ...(isFirst ? [] : ["--resume", "latest"]),
      ...["-p", prompt],
    ],
    rules: "GEMINI.md",
    system: "none",
    mcp: "installed",
    compacts: { input_tokens: 900_000 },
  },
  {
    name: "OpenCode",
    command: "opencode",
    format: "opencode",
    countsCachedApart: true,
    countsCompactions: true,
    settings: ({ model, mcp }) => ({
      ".config/opencode/opencode.json": {
        autoupdate: false,
        mcp: { hansard: { type: "local", command: mcp, enabled: true } },
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${model}/v1`, apiKey: KEY },
            models: { "scripted-1": { limit: { context: 200_000, output: 8_000 } } },
          },
        },
        model: "scripted/scripted-1",
        small_model: "scripted/scripted-1",
      },
    }),
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    args: (prompt, { isFirst }) => ["run", ...(isFirst ? [] : ["--continue"]), prompt],
    rules: "AGENTS.md",
    system: "none",
    framesSummary: ([summary, ...others]) => {
      // The summary is the answer to a question, and what follows stands in a message of its own.
      const [, said, next = ""] = /^(.*<\/summary>) ?(.*)$/.exec(summary?.text ?? "") ?? [];
      if (said === undefined) return [];
      const asked = { role: "user", text: "What did we do so far?" };
      return [asked, { role: "assistant", text: said }, { role: "user", text: next }, ...others];
    },
    mcp: "settings",
    compacts: { input_tokens: 199_000 },
  },
  {
    name: "pi",
    command: "pi",
    format: "pi",
    countsCachedApart: true,
    settings: ({ model }) => ({
      ".pi/agent/models.json": {
        providers: {
          scripted: {
            baseUrl: `${model}/v1`,
            api: "openai-completions",
            apiKey: KEY,
            models: [
              {
                ...{ id: "scripted-1", name: "scripted-1", reasoning: false, input: ["text"] },
                ...{ contextWindow: 200_000, maxTokens: 8_000 },
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
              },
            ],
          },
        },
      },
    }),
    env: () => ({ PI_OFFLINE: "1" }),
    args: (prompt, { isFirst }) => [
      ...["--provider", "scripted", "--model", "scripted-1"],
      ...(isFirst ? [] : ["--continue"]),
      ...["-p", prompt],
    ],
    resumes: (id, prompt) => ["--provider", "scripted", "--model", "scripted-1", "--session", id, "-p", prompt],
    rules: "AGENTS.md",
    system: "none",
    framesSummary: ([summary, ...others]) => {
      const [, said, next = ""] = /^(.*<\/summary>) ?(.*)$/.exec(summary?.text ?? "") ?? [];
      const about = "The conversation history before this point was compacted into the following summary:";
      return [{ role: "user", text: `${about} <summary> ${said} </summary> ${next}`.trim() }, ...others];
    },
    mcp: "none",
    compacts: { input_tokens: 199_000, isAtEnd: true },
  },
];
