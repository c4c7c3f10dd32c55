// `hansard memories`: lists them, shows one with its history, adds one, and audits memory files.

import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { MemoryInput, MemoryList, Recorder } from "../../../index.js";
import { withMemories } from "../../../memories/files/memory-export.js";
import { notFound, RecorderError } from "../../../model/rejection.js";
import { operations } from "../../../operations/index.js";
import {
  type CommandModule,
  type Invocation,
  systemUser,
  textOptions,
  withQuestion,
  withRecorder,
} from "../command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "../failures.js";
import { answerOf, attributesOf, defineCommand, flagsGiven } from "../operation-command.js";
import { proposeChange } from "../settings-file.js";
import { auditText, heldBackText, memoryTable, memoryText } from "../text/memory-text.js";
import { countOf, tellMore, wrapText } from "../text/table.js";
import { cleanLine, documentText } from "../text/terminal.js";

const { listMemories, addMemory, auditMemoryFile, getMemory } = operations;

type Task = (invocation: Invocation, operands: readonly string[]) => Promise<ExitStatus | undefined>;

const tasks: { readonly [name: string]: Task } = {
  list: (invocation) => withQuestion(invocation, (recorder) => showList(recorder, invocation)).then(nothing),
  show: (invocation, ids) =>
    withQuestion(invocation, (recorder) => showMemory(recorder, invocation, ids)).then(nothing),
  audit: (invocation, files) =>
    withQuestion(invocation, (recorder) => auditFiles(recorder, invocation, files)).then(nothing),
  add: (invocation, words) =>
    withRecorder(invocation, { create: true }, (recorder) => addOne(recorder, invocation, words)).then(nothing),
  export: (invocation) => exportTo(invocation),
};

export const memoriesCommand: CommandModule = {
  define: (command) =>
    defineCommand(
      command.argument("[what...]", "list (the default), show ID, add TEXT, audit FILE…, or export --to FILE"),
      [listMemories, addMemory, auditMemoryFile, getMemory],
      (own) =>
        own
          .option("--confidence <n>", "for add: from 0 to 1")
          .option("--valid-until <time>", "for add: when the memory expires")
          .option("--to <file>", "for export: the memory file, such as AGENTS.md; its folder names the project")
          .option("--yes", "for export: do not ask"),
    ),

  async run(invocation: Invocation) {
    const [name = "list", ...operands] = invocation.operands;
    const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
    if (task === undefined) throw taskUnknown(name);
    refuseMisplaced(name, invocation.options);
    return (await task(invocation, operands)) ?? exitStatus.done;
  },
};

function nothing(): undefined {
  return undefined;
}

const PAGE = 500;

/** Writes accepted memories into a memory file, between markers; the change is shown first. */
async function exportTo(invocation: Invocation): Promise<ExitStatus> {
  const { to, project: named } = textOptions(invocation.options, ["to", "project"]);
  if (to === undefined) throw oneNeeded("export", "--to FILE, such as --to AGENTS.md");
  const path = resolve(to);
  const project = named ?? basename(dirname(path));
  const memories = await withQuestion(invocation, async (recorder) => {
    const active: MemoryList["memories"][number][] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: MemoryList = await recorder.memories.list({ project, status: "active", limit: PAGE, cursor });
      active.push(...page.memories);
      cursor = page.next_cursor;
    }
    return active;
  });
  const change = (text: string): string => {
    const changed = withMemories(text, memories);
    if (typeof changed === "string") return changed;
    const hint = "Put the missing marker back, or remove the other one.";
    throw new Failed({ code: "file_not_written", field: to, message: `${to}: ${changed.problem}`, hint });
  };
  if (memories.length === 0) invocation.screen.err.write(`No accepted memories of ${cleanLine(project)}.\n`);
  return proposeChange(invocation, { path, change });
}

async function showList(recorder: Recorder, invocation: Invocation): Promise<void> {
  const { options, screen, json } = invocation;
  const filters = flagsGiven(options, listMemories);
  const page = await answerOf<MemoryList>(recorder, listMemories, invocation);
  const { out, err } = screen;
  if (json) {
    out.write(documentText(page, out));
    return;
  }
  const isBare = Object.keys(filters).length === 0;
  const nothing = `${wrapText(isBare ? NONE_YET : "No memory matches.", out.columns).join("\n")}\n`;
  out.write(page.memories.length === 0 ? nothing : memoryTable(page.memories, out));
  if (page.pending > 0) err.write(`${countOf(page.pending, "candidate", "candidates")} waiting: hansard review\n`);
  if (page.held_back > 0) err.write(`${heldBackText(page.held_back)}\n`);
  tellMore({ shown: page.memories.length, cursor: page.next_cursor, pane: err });
}

async function showMemory(recorder: Recorder, { screen, json }: Invocation, ids: readonly string[]): Promise<void> {
  const [id] = ids;
  if (id === undefined || ids.length > 1) throw oneNeeded("show", "the id of a memory");
  const memory = await recorder.memories.get(id);
  if (memory === undefined) throw new RecorderError(notFound("memory", id));
  screen.out.write(json ? documentText(memory, screen.out) : memoryText(memory, screen.out));
}

async function addOne(
  recorder: Recorder,
  { options, screen, json }: Invocation,
  words: readonly string[],
): Promise<void> {
  const [content] = words;
  if (content === undefined || words.length > 1) throw oneNeeded("add", "one statement, in quotes");
  const { type, project, confidence, validUntil: valid_until } = textOptions(options, ADD_OPTIONS);
  const memory = await recorder.memories.add({
    content,
    project,
    valid_until,
    actor: systemUser(),
    type: type as MemoryInput["type"],
    ...(confidence === undefined ? {} : { confidence: Number(confidence) }),
  });
  screen.out.write(json ? documentText(memory, screen.out) : `Added ${memory.id}.\n`);
}

async function auditFiles(recorder: Recorder, invocation: Invocation, files: readonly string[]): Promise<void> {
  if (files.length === 0) throw oneNeeded("audit", "a file or more");
  const { options, screen, json } = invocation;
  const { project } = textOptions(options, ["project"]);
  const audits = [];
  for (const file of files)
    audits.push({ file, ...(await recorder.memories.audit({ text: readText(file), project })) });
  const { out } = screen;
  out.write(json ? documentText({ files: audits }, out) : audits.map((audit) => auditText(audit, out)).join("\n"));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failed({ code: "file_not_read", field: file, message: `${file}: ${(error as Error).message}` });
  }
}

const NONE_YET =
  "No memories yet. hansard extract proposes some, hansard review asks you about them, and hansard memories add adds " +
  "one yourself.";

const ADD_OPTIONS = ["type", "project", "confidence", "validUntil"] as const;

/** The options that only some subcommands take; an option without effect is an error. */
const optionsByTask: { readonly [task: string]: readonly string[] } = {
  list: attributesOf(listMemories),
  show: [],
  audit: ["project"],
  add: ADD_OPTIONS,
  export: ["to", "project", "yes"],
};

function refuseMisplaced(task: string, options: Invocation["options"]): void {
  const taken = optionsByTask[task] ?? [];
  const wrong = Object.values(optionsByTask)
    .flat()
    .find((name) => options[name] !== undefined && !taken.includes(name));
  if (wrong === undefined) return;
  const flag = `--${wrong.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const owners = Object.keys(optionsByTask).filter((name) => optionsByTask[name]?.includes(wrong));
  throw new WrongUse({
    code: "option_misplaced",
    field: flag,
    message: `${flag} has no effect with ${task}`,
    hint: `It is for ${owners.join(" and ")}.`,
  });
}

function taskUnknown(name: string): WrongUse {
  return new WrongUse({
    code: "usage_invalid",
    message: `unknown subcommand ${JSON.stringify(name.slice(0, 40))}`,
    hint: `Use ${Object.keys(tasks).join(", ")}.`,
  });
}

function oneNeeded(task: string, what: string): WrongUse {
  return new WrongUse({ code: "argument_missing", message: `\`hansard memories ${task}\` needs ${what}` });
}
