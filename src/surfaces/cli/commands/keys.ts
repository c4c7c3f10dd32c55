// `hansard keys`: makes, lists and revokes the keys that a server asks for. A running server knows at once.

import type { Command } from "commander";
import { itemAt } from "../../../model/item-at.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { type CommandModule, helpText, type Invocation, withQuestion, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { systemUser } from "../system-user.js";
import { shortTime } from "../text/entry-text.js";
import { renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Screen } from "../text/terminal.js";

type Keys = Recorder["keys"];
type Scope = Parameters<Keys["create"]>[0]["scope"];
type KeySummary = Awaited<ReturnType<Keys["list"]>>["keys"][number];

export const keysCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<action>", "create, list or revoke")
      .argument("[id]", "of revoke: the key's id, as list shows it")
      .option("--scope <scope>", "of create: capture, metrics, read, review (reads too) or admin (all)")
      .option("--name <text>", "of create: what or whom it is for")
      .option("--json", "print the document and nothing else; create does so wherever no terminal is")
      .addHelpText(
        "after",
        helpText(
          ["Once there is a key, everybody needs one, also on this machine; revoking the last one opens nothing."],
          [
            ["a key for an agent, which can write and not read", "hansard keys create --scope capture --name agent"],
            [
              "a key for Prometheus, which sees figures and no entry",
              "hansard keys create --scope metrics --name prometheus",
            ],
            ["what was made, and what still opens the door", "hansard keys list"],
            ["from now on this one does not", "hansard keys revoke 5f0c1e6a9b3d7284"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const task = taskOf(invocation);
    refuseMisplaced(invocation, task);
    // The first key may be made before anything is recorded, so that a server can start with it.
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
  const message = `${JSON.stringify(action.slice(0, 40))} is nothing that can be done with keys`;
  throw new WrongUse({ code: "usage_invalid", message, hint: "Use create, list or revoke." });
}

function refuseMisplaced({ operands: [, id], options }: Invocation, task: Task): void {
  if (task === "revoke" && id === undefined) {
    const message = "revoke needs the id of a key";
    throw new WrongUse({ code: "argument_missing", message, hint: "`hansard keys list` shows their ids." });
  }
  if (task !== "revoke" && id !== undefined) {
    const hint = "Only revoke takes an id; a name is given with --name.";
    throw new WrongUse({ code: "argument_excess", message: `${task} takes no id`, hint });
  }
  const misplaced = task === "create" ? undefined : ["scope", "name"].find((name) => options[name] !== undefined);
  if (misplaced === undefined) return;
  const message = `--${misplaced} does nothing beside ${task}`;
  throw new WrongUse({ code: "option_misplaced", field: `--${misplaced}`, message, hint: "It belongs to create." });
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
  wrapped(`This is key ${made.id}, of scope ${made.scope}. It is shown only now: keep it where secrets are kept.`);
  wrapped('Send it with every request: -H "Authorization: Bearer …"', dim);
  wrapped("From now on whoever asks a server of this store needs a key, also on this machine.", dim);
}

async function listKeys(keys: Keys, { settings, screen, json }: Invocation): Promise<void> {
  const list = await keys.list();
  const { out } = screen;
  if (json) out.write(documentText(list, out));
  else if (list.keys.length === 0) out.write(emptyText(settings, screen));
  else out.write(keyTable(list.keys, screen));
}

async function revokeKey(keys: Keys, { operands, screen, json }: Invocation): Promise<void> {
  const key = await keys.revoke(itemAt(operands, 1), { actor: systemUser() });
  const { out } = screen;
  if (json) out.write(documentText(key, out));
  else out.write(`Key ${key.id} opens nothing any more.\n`);
}

function keyTable(keys: readonly KeySummary[], { out }: Screen): string {
  const { bold, dim, red } = out.colours;
  const time = (at: string): string => shortTime(at, { year: true });
  return renderTable({
    columns: [
      { title: "ID", paint: (text) => bold(text) },
      { title: "SCOPE" },
      { title: "MADE (UTC)", paint: (text) => dim(text) },
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

function emptyText(settings: Invocation["settings"], { out }: Screen): string {
  const example = out.colours.bold(commandLine("hansard keys create --scope admin", settings));
  const text = "No keys: whoever reaches this machine's own address may do everything. To change that:";
  return `${wrapText(text, out.columns).join("\n")}\n\n  ${example}\n`;
}
