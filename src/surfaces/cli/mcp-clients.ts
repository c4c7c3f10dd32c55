// Where programs keep the MCP servers they start, and how an entry of ours looks there.
//
// Those of Claude Code, Codex CLI and Gemini CLI are where their own `mcp add` writes, and they list our entry: seen on 18
// November 2026 with 2.1.197, 0.169.0 and 0.61.0. The others are from what documentation and users say. Visual Studio Code's
// file belongs to the folder one works in.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { changeJson } from "./changed-file.js";
import { Failed } from "./failures.js";

export interface McpLaunch {
  readonly command: string;
  readonly args: readonly string[];
}

interface McpClient {
  path(env: NodeJS.ProcessEnv): string;
  /** The file's text with our entry; what else it holds stays. */
  change(text: string, launch: McpLaunch): string;
}

const NAME = "hansard";

export const mcpClients: { readonly [name: string]: McpClient } = {
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
  return (text, launch) =>
    changeJson(text, (settings) => ({
      ...settings,
      [member]: { ...(settings[member] as object | undefined), [NAME]: launch },
    }));
}

/** A table at the end of a TOML file belongs to nothing before it; one that is there already is for its owner to change. */
function appendTable(text: string, { command, args }: McpLaunch): string {
  if (new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*"?${NAME}"?\\s*\\]`, "m").test(text)) {
    throw new Failed({
      code: "file_exists",
      message: `there is a table mcp_servers.${NAME} already`,
      hint: "Remove it first, or change it by hand; --print-config shows what it needs.",
    });
  }
  // TOML's basic strings are JSON's.
  const table = `[mcp_servers.${NAME}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
  return text === "" ? table : `${text.replace(/\n*$/, "\n\n")}${table}`;
}
