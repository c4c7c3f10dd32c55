// `hansard hooks`: has a program tell a server what it does, by its own hooks, and takes that back again.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import { changeJson, proposeChange } from "../changed-file.js";
import { type CommandModule, helpText, type Invocation } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";

/**
 * Events whose hooks may be HTTP requests, which Claude Code has had since 2.1.63 by its documentation, and which 2.1.197 was
 * seen to send on 18 November 2026. `SessionStart` is none of them: it passes over an HTTP hook for it.
 */
const events = [
  ...["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Notification", "PreCompact"],
  ...["Stop", "SubagentStop", "SessionEnd"],
] as const;

const PATH = "/hooks/claude-code";
/**
 * In seconds, and the longest that the program is kept waiting by a server that hangs; where none is there, the connection is
 * refused at once. What a server has read by then it records all the same.
 */
const TIMEOUT_S = 0.2;

export const hooksCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<action>", "install or remove")
      .argument("<program>", "claude-code")
      .option("--url <address>", "the server (http://127.0.0.1:4747)")
      .option("--print-config", "print what the program's settings need, and change nothing")
      .option("--yes", "do not ask")
      .addHelpText(
        "after",
        helpText(
          [
            `It needs a server (\`hansard serve\`); where none is there, the program goes on without. A key that the server asks
for is taken from HANSARD_KEY where the program runs.`,
          ],
          [
            ["after a look at the change", "hansard hooks install claude-code"],
            ["and back", "hansard hooks remove claude-code"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, settings, screen } = invocation;
    const [action, program] = operands;
    if (action !== "install" && action !== "remove") throw refused("action", "Use install or remove.");
    if (program !== "claude-code") throw refused("program", "Name claude-code.");
    const url = typeof options.url === "string" ? options.url : `http://127.0.0.1:${settings.port}`;
    if (!/^https?:\/\/./.test(url)) throw refused("--url", "For example --url https://record.example.com.");
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

/** Only what was installed goes; other hooks of the same event stay. */
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

function refused(what: string, hint: string): WrongUse {
  return new WrongUse({ code: "usage_invalid", field: what, message: `${what} is not one that hooks can have`, hint });
}
