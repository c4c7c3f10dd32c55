// `hansard keys`: creates, lists and revokes access keys. A running server applies a change at once.
import type { Command } from "commander";
import { itemAt } from "../../../model/item-at.js";
import type { Recorder } from "../../../recorder/recorder.js";
import {
  type CommandModule,
  helpText,
  type Invocation,
  printResult,
  systemUser,
  withQuestion,
  withRecorder,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { shortTime } from "../text/entry-text.js";
import { renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

type Keys = Recorder["keys"];
type Scope = Parameters<Keys["create"]>[0]["scope"];
type KeySummary = Awaited<ReturnType<Keys["list"]>>["keys"][number];

export const keysCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<action>", "create, list or revoke")
      .argument("[id]", "for revoke: the id that list shows")
      .option("--scope <scope>", "for create: capture, metrics, read, review (and read) or admin (everything)")
      .option("--name <text>", "for create: what or whom it is for")
      .option("--json", "print JSON (for create, the default if the output is not a terminal)")
      .addHelpText(
        "after",
        helpText(
          [
            "Once a key exists, every request needs one, including requests from this machine. Revoking the last key does not change that.",
          ],
          [
            ["a key for an agent: it can write but not read", "hansard keys create --scope capture --name agent"],
            [
              "a key for Prometheus: it can read metrics but no entries",
              "hansard keys create --scope metrics --name prometheus",
            ],
            ["list all keys", "hansard keys list"],
            ["revoke a key", "hansard keys revoke 5f0c1e6a9b3d7284"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const task = taskOf(invocation);
    refuseMisplaced(invocation, task);
    // The first key may be created before anything is recorded.
    const work = ({ keys }: Recorder): Promise<void> => tasks[task](keys, invocation);
    await (task === "list"
      ? withQuestion(invocation, work)
      : withRecorder(invocation, { create: task === "create" }, work));
    return exitStatus.done;
  },
};

type Task = "create" | "list" | "revoke";

const tasks: { readonly [task in Task]: (keys: Keys, invocation: Invocation) => Promise<void> } = {
  create: createKey,
  list: listKeys,
  revoke: revokeKey,
};

function taskOf({ operands: [action = ""] }: Invocation): Task {
  if (Object.hasOwn(tasks, action)) return action as Task;
  const message = `unknown action ${JSON.stringify(action.slice(0, 40))}`;
  throw new WrongUse({ code: "usage_invalid", message, hint: "Use create, list or revoke." });
}

function refuseMisplaced({ operands: [, id], options }: Invocation, task: Task): void {
  if (task === "revoke" && id === undefined) {
    const message = "revoke needs the id of a key";
    throw new WrongUse({ code: "argument_missing", message, hint: "`hansard keys list` shows the ids." });
  }
  if (task !== "revoke" && id !== undefined) {
    const hint = "Only revoke takes an id. Give a name with --name.";
    throw new WrongUse({ code: "argument_excess", message: `${task} takes no id`, hint });
  }
  const misplaced = task === "create" ? undefined : ["scope", "name"].find((name) => options[name] !== undefined);
  if (misplaced === undefined) return;
  const message = `--${misplaced} has no effect with ${task}`;
  throw new WrongUse({ code: "option_misplaced", field: `--${misplaced}`, message, hint: "It is for create." });
}

async function createKey(keys: Keys, { options, screen, json }: Invocation): Promise<void> {
  const name = typeof options.name === "string" ? options.name : undefined;
  const made = await keys.create({ scope: options.scope as Scope, name, actor: systemUser() });
  const { out } = screen;
  if (json || !out.isTerminal) {
    out.write(documentText(made, out));
    return;
  }
  const { bold, dim } = out.colours;
  const wrapped = (text: string, paint = (line: string): string => line): void =>
    out.write(
      wrapText(text, out.columns)
        .map((line) => `${paint(line)}\n`)
        .join(""),
    );
  out.write(`\n  ${bold(made.key)}\n\n`);
  wrapped(`Key ${made.id}, scope ${made.scope}. It is not shown again: store it safely.`);
  wrapped('Send it with every request: -H "Authorization: Bearer …"', dim);
  wrapped("From now on every request needs a key, including requests from this machine.", dim);
}

async function listKeys(keys: Keys, invocation: Invocation): Promise<void> {
  printResult(invocation, await keys.list(), (list, out) =>
    list.keys.length === 0 ? emptyText(invocation.settings, out) : keyTable(list.keys, out),
  );
}

async function revokeKey(keys: Keys, invocation: Invocation): Promise<void> {
  const key = await keys.revoke(itemAt(invocation.operands, 1), { actor: systemUser() });
  printResult(invocation, key, ({ id }) => `Key ${id} is revoked.\n`);
}

function keyTable(keys: readonly KeySummary[], out: Pane): string {
  const { bold, dim, red } = out.colours;
  const time = (at: string): string => shortTime(at, { year: true });
  return renderTable({
    columns: [
      { title: "ID", paint: (text) => bold(text) },
      { title: "SCOPE" },
      { title: "CREATED", paint: (text) => dim(text) },
      { title: "REVOKED", paint: (text) => red(text) },
      { title: "NAME" },
    ],
    rows: keys.map(({ id, scope, created_at, revoked_at, name }) => [
      ...[id, scope, time(created_at)],
      ...[revoked_at === undefined ? "" : time(revoked_at), cleanLine(name)],
    ]),
    width: out.columns,
    colours: out.colours,
  });
}

function emptyText(settings: Invocation["settings"], out: Pane): string {
  const example = out.colours.bold(commandLine("hansard keys create --scope admin", settings));
  const text = "No keys: anyone who can reach the server on this machine has full access. Create one with";
  return `${wrapText(text, out.columns).join("\n")}\n\n  ${example}\n`;
}
