// `hansard hooks`: installs hooks in a program, which send what it does to a server, and removes them again.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import { type CommandModule, helpText, type Invocation, requireAddress } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { changeJson, proposeChange } from "../settings-file.js";

/**
 * Events that support HTTP hooks: since Claude Code 2.1.63 according to its documentation, and seen with 2.1.197 on 18 November
 * 2026. `SessionStart` does not support them. What a hook on `PreCompact` answers becomes part of the conversation.
 */
const events = [
  ...["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Notification"],
  ...["Stop", "SubagentStop", "SessionEnd"],
] as const;

const PATH = "/hooks/claude-code";
/**
 * In seconds. It is how long a server that hangs can delay the program; if there is no server, the connection is refused at
 * once. A request that a server has read is recorded even after this time.
 */
const TIMEOUT_S = 0.2;

export const hooksCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<action>", "install or remove")
      .argument("<program>", "claude-code")
      .option("--url <address>", "the server (http://127.0.0.1:4747)")
      .option("--print-config", "print the settings and change nothing")
      .option("--yes", "do not ask")
      .addHelpText(
        "after",
        helpText(
          [
            `The hooks need a running server (\`hansard serve\`); without one, the program works as before. If the server needs a
key, set HANSARD_KEY in the program's environment.`,
          ],
          [
            ["show the change, ask, and install", "hansard hooks install claude-code"],
            ["remove them", "hansard hooks remove claude-code"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, settings, screen } = invocation;
    const [action, program] = operands;
    if (action !== "install" && action !== "remove") throw invalid("action", action, "Use install or remove.");
    if (program !== "claude-code") throw invalid("program", program, "Use claude-code.");
    const url = typeof options.url === "string" ? options.url : `http://127.0.0.1:${settings.port}`;
    requireAddress("--url", url, "https://record.example.com");
    const change = (text: string): string =>
      changeJson(text, (known) => (action === "install" ? withHooks(withoutHooks(known), url) : withoutHooks(known)));
    if (options.printConfig === true) {
      screen.out.write(change(""));
      return exitStatus.done;
    }
    const folder = process.env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude");
    return proposeChange(invocation, { path: join(folder, "settings.json"), change });
  },
};

function withHooks(settings: JsonObject, url: string): object {
  const hooks = isJsonObject(settings.hooks) ? settings.hooks : {};
  const own = {
    type: "http",
    url: `${url.replace(/\/+$/, "")}${PATH}`,
    timeout: TIMEOUT_S,
    headers: { Authorization: "Bearer $HANSARD_KEY" },
    allowedEnvVars: ["HANSARD_KEY"],
  };
  const added = events.map((event) => [event, [...groupsOf(hooks[event]), { hooks: [own] }]]);
  return { ...settings, hooks: { ...hooks, ...Object.fromEntries(added) } };
}

/** Removes only our own hooks. */
function withoutHooks(settings: JsonObject): JsonObject {
  if (!isJsonObject(settings.hooks)) return settings;
  const kept = Object.entries(settings.hooks).flatMap(([event, groups]): [string, JsonValue][] => {
    if (!Array.isArray(groups)) return [[event, groups]];
    const others = groups.filter((group) => !isOurs(group));
    return others.length === 0 && groups.length > 0 ? [] : [[event, others]];
  });
  const { hooks: _, ...rest } = settings;
  return kept.length === 0 ? rest : { ...rest, hooks: Object.fromEntries(kept) };
}

function isOurs(group: JsonValue): boolean {
  const hooks = isJsonObject(group) ? groupsOf(group.hooks) : [];
  return hooks.length > 0 && hooks.every((hook) => isJsonObject(hook) && String(hook.url).endsWith(PATH));
}

function groupsOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function invalid(field: string, given = "", hint: string): WrongUse {
  return new WrongUse({
    code: "usage_invalid",
    field,
    message: `unknown ${field} ${JSON.stringify(given.slice(0, 40))}`,
    hint,
  });
}
