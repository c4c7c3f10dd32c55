// `hansard memories`: lists them, shows one with its history, adds one, and audits memory files.

import { readFileSync } from "node:fs";
import type { MemoryInput, MemoryList, Recorder } from "../../../index.js";
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
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { answerOf, attributesOf, defineCommand, flagsGiven } from "../operation-command.js";
import { auditText, heldBackText, memoryTable, memoryText } from "../text/memory-text.js";
import { countOf, tellMore, wrapText } from "../text/table.js";
import { documentText } from "../text/terminal.js";

const { listMemories, addMemory, auditMemoryFile, getMemory } = operations;

type Task = (invocation: Invocation, operands: readonly string[]) => Promise<void>;

const tasks: { readonly [name: string]: Task } = {
  list: (invocation) => withQuestion(invocation, (recorder) => showList(recorder, invocation)),
  show: (invocation, ids) => withQuestion(invocation, (recorder) => showMemory(recorder, invocation, ids)),
  audit: (invocation, files) => withQuestion(invocation, (recorder) => auditFiles(recorder, invocation, files)),
  add: (invocation, words) =>
    withRecorder(invocation, { create: true }, (recorder) => addOne(recorder, invocation, words)),
};

export const memoriesCommand: CommandModule = {
  define: (command) =>
    defineCommand(
      command.argument("[what...]", "list (the default), show ID, add TEXT, or audit FILE…"),
      [listMemories, addMemory, auditMemoryFile, getMemory],
      (own) =>
        own
          .option("--confidence <n>", "for add: from 0 to 1")
          .option("--valid-until <time>", "for add: when the memory expires"),
    ),

  async run(invocation: Invocation) {
    const [name = "list", ...operands] = invocation.operands;
    const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
    if (task === undefined) throw taskUnknown(name);
    refuseMisplaced(name, invocation.options);
    await task(invocation, operands);
    return exitStatus.done;
  },
};

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
