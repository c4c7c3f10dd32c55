// `hansard hooks`: installs hooks in a program, which send what it does to a server, and removes them again.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { getNodeValue } from "jsonc-parser";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import { type CommandModule, helpText, type Invocation, requireAddress } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { addJson, NotEditable, parseObject, removeJson } from "../json-edit.js";
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
      .option("--recall", "also add the memories of its project to each session that begins")
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
            ["also recall accepted memories", "hansard hooks install claude-code --recall"],
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
      changeJson(text, (known) => {
        const bare = withoutHooks(known);
        if (action !== "install") return bare;
        return options.recall === true ? withRecall(withHooks(bare, url), url) : withHooks(bare, url);
      });
    if (options.printConfig === true) {
      screen.out.write(change(""));
      return exitStatus.done;
    }
    const folder = process.env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude");
    return proposeChange(invocation, { path: join(folder, "settings.json"), change });
  },
};

function withHooks(text: string, url: string): string {
  const own = {
    type: "http",
    url: `${url.replace(/\/+$/, "")}${PATH}`,
    timeout: TIMEOUT_S,
    headers: { Authorization: "Bearer $HANSARD_KEY" },
    allowedEnvVars: ["HANSARD_KEY"],
  };
  let changed = text;
  for (const event of events) {
    const known = hooksIn(changed)[event];
    changed = addJson(changed, ["hooks", event], known === undefined ? [{ hooks: [own] }] : { hooks: [own] });
  }
  return changed;
}

/** In seconds; a session begins without memories if the server takes longer. */
const RECALL_TIMEOUT_S = 3;
const RECALL = "recall --hook --data";

/** `SessionStart` takes only commands, and what one prints becomes part of the conversation. */
function withRecall(text: string, url: string): string {
  const program = [process.execPath, process.argv[1] ?? ""].map(shellQuoted).join(" ");
  const own = { type: "command", command: `${program} ${RECALL} ${shellQuoted(url)}`, timeout: RECALL_TIMEOUT_S };
  const known = hooksIn(text).SessionStart;
  return addJson(text, ["hooks", "SessionStart"], known === undefined ? [{ hooks: [own] }] : { hooks: [own] });
}

function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Removes only our own hooks. */
function withoutHooks(text: string): string {
  let changed = text;
  for (const [event, groups] of Object.entries(hooksIn(text))) {
    const ours = groups.flatMap((group, nth) => (isOurs(group) ? [nth] : []));
    if (ours.length === 0) continue;
    if (ours.length === groups.length) changed = removeJson(changed, ["hooks", event]);
    // The last one first: the places of those before it stay.
    else for (const nth of ours.reverse()) changed = removeJson(changed, ["hooks", event, nth]);
  }
  const isEmptied = changed !== text && Object.keys(hooksIn(changed)).length === 0;
  return isEmptied ? removeJson(changed, ["hooks"]) : changed;
}

/** The groups of hooks by event. */
function hooksIn(text: string): { readonly [event: string]: readonly JsonValue[] } {
  const { hooks = {} } = getNodeValue(parseObject(text)) as JsonObject;
  if (!isJsonObject(hooks)) throw new NotEditable("hooks is no object");
  for (const [event, groups] of Object.entries(hooks)) {
    if (!Array.isArray(groups)) throw new NotEditable(`hooks.${event} is no list`);
  }
  return hooks as { readonly [event: string]: readonly JsonValue[] };
}

function isOurs(group: JsonValue): boolean {
  const hooks = isJsonObject(group) ? groupsOf(group.hooks) : [];
  return hooks.length > 0 && hooks.every((hook) => isJsonObject(hook) && isOurHook(hook));
}

function isOurHook({ url, command }: JsonObject): boolean {
  return String(url).endsWith(PATH) || (typeof command === "string" && command.includes(` ${RECALL} `));
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
