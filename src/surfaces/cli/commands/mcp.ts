// `hansard mcp`: serves the record to an agent over standard input and output, or adds it to an agent's settings.
import { once } from "node:events";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { componentSchemas } from "../../http/describe/openapi.js";
import { type CommandModule, examplesText, type Invocation, withRecorder } from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { addJson } from "../json-edit.js";
import { changeJson, proposeChange } from "../settings-file.js";
import { readVersion } from "../version.js";

export const mcpCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[action]", "install: add it to a program's settings; without it, serve")
      .argument("[program]", `for install: ${Object.keys(mcpClients).join(", ")}`)
      .option("--print-config", "print the settings and change nothing")
      .option("--yes", "for install: do not ask")
      .addHelpText(
        "after",
        examplesText([
          ["print the settings that a program needs", "hansard mcp --print-config"],
          ["show the change, ask, and add it to Claude Code", "hansard mcp install claude-code"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen } = invocation;
    const [action, program] = operands;
    if (action !== undefined && action !== "install") throw unknownAction(action);
    const isPrinted = options.printConfig === true;
    // Most programs use this form, so it is the one to print if none is named.
    const client = clientNamed(
      action === "install" ? (program ?? (isPrinted ? "claude-code" : undefined)) : "claude-code",
    );
    if (isPrinted) {
      screen.out.write(client.change("", launchOf(invocation)));
      return exitStatus.done;
    }
    if (action === "install") {
      return proposeChange(invocation, {
        path: client.path(process.env),
        change: (text) => client.change(text, launchOf(invocation)),
      });
    }
    await serve(invocation);
    return exitStatus.done;
  },
};

async function serve(invocation: Invocation): Promise<void> {
  const { serveMcpOverStdio } = await import("../../mcp/mcp-server.js");
  await withRecorder(invocation, { create: true }, async (recorder) => {
    const serving = serveMcpOverStdio({ recorder, version: readVersion(), schemas: componentSchemas() });
    const stop = new AbortController();
    const { signal } = stop;
    const ends = [once(process.stdin, "close", { signal }), once(process.stdout, "error", { signal })];
    const stopped = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => once(process, name, { signal }));
    await Promise.race([...ends, ...stopped]);
    stop.abort();
    await Promise.allSettled([...ends, ...stopped]);
    await serving.close();
  });
}

/** The command that starts this installation with this record. */
function launchOf({ settings }: Invocation): McpLaunch {
  const [node, main = ""] = [process.execPath, process.argv[1]];
  return { command: node, args: [main, "mcp", "--data", settings.data] };
}

function clientNamed(name: string | undefined): (typeof mcpClients)[string] {
  const client = name !== undefined && Object.hasOwn(mcpClients, name) ? mcpClients[name] : undefined;
  if (client !== undefined) return client;
  throw new WrongUse({
    code: name === undefined ? "argument_missing" : "usage_invalid",
    message: name === undefined ? "install needs the name of a program" : `unknown program ${JSON.stringify(name)}`,
    hint: `Use one of ${Object.keys(mcpClients).join(", ")}. For others, \`hansard mcp --print-config\` prints what to add.`,
  });
}

function unknownAction(action: string): WrongUse {
  const message = `unknown action ${JSON.stringify(action.slice(0, 40))}`;
  return new WrongUse({ code: "usage_invalid", message, hint: "Use install, or no action to serve." });
}

interface McpLaunch {
  readonly command: string;
  readonly args: readonly string[];
}

interface McpClient {
  path(env: NodeJS.ProcessEnv): string;
  /** The file's text with our entry added; the rest is unchanged. */
  change(text: string, launch: McpLaunch): string;
}

const NAME = "hansard";

/**
 * Where programs keep the MCP servers they start. Checked on 18 November 2026 with Claude Code 2.1.197, Codex CLI 0.169.0 and
 * Gemini CLI 0.61.0: their own `mcp add` writes there, and they list our entry. The others follow their documentation. The file
 * of Visual Studio Code belongs to the current folder.
 */
const mcpClients: { readonly [name: string]: McpClient } = {
  "claude-code": {
    path: ({ CLAUDE_CONFIG_DIR }) => join(CLAUDE_CONFIG_DIR || homedir(), ".claude.json"),
    change: inMember("mcpServers"),
  },
  "claude-desktop": {
    path: ({ XDG_CONFIG_HOME }) =>
      process.platform === "darwin"
        ? join(homedir(), "Library", "Application Support", "Claude", "claude_desktop_config.json")
        : join(XDG_CONFIG_HOME || join(homedir(), ".config"), "Claude", "claude_desktop_config.json"),
    change: inMember("mcpServers"),
  },
  cursor: { path: () => join(homedir(), ".cursor", "mcp.json"), change: inMember("mcpServers") },
  "gemini-cli": {
    path: ({ GEMINI_CLI_HOME }) => join(GEMINI_CLI_HOME || homedir(), ".gemini", "settings.json"),
    change: inMember("mcpServers"),
  },
  codex: {
    path: ({ CODEX_HOME }) => join(CODEX_HOME || join(homedir(), ".codex"), "config.toml"),
    change: appendTable,
  },
  vscode: { path: () => resolve(".vscode", "mcp.json"), change: inMember("servers") },
};

function inMember(member: string): McpClient["change"] {
  return (text, launch) => changeJson(text, (known) => addJson(known, [member, NAME], launch));
}

/** Appends a table to a TOML file. An existing one is left to its owner. */
function appendTable(text: string, { command, args }: McpLaunch): string {
  if (new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*"?${NAME}"?\\s*\\]`, "m").test(text)) {
    throw new Failed({
      code: "file_exists",
      message: `the table mcp_servers.${NAME} exists already`,
      hint: "Remove it first, or change it by hand; --print-config prints what it needs.",
    });
  }
  // TOML's basic strings are JSON's.
  const table = `[mcp_servers.${NAME}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
  return text === "" ? table : `${text.replace(/\n*$/, "\n\n")}${table}`;
}
