// `hansard resume`: writes a session back in a coding agent's own format, where the agent finds it. It never replaces a file.
import { randomBytes } from "node:crypto";
import { constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import {
  CONVERSATION_KINDS,
  type Conversation,
  type LeftOut,
  readConversation,
} from "../../../export/resume/conversation.js";
import { planResume, type ResumePlan, resumeTarget } from "../../../export/resume/resume.js";
import { type ResumeTool, resumeTools } from "../../../export/resume/target.js";
import type { Recorder, SessionSummary } from "../../../index.js";
import { makeFolder } from "../../../model/files.js";
import {
  type CommandModule,
  confirm,
  helpText,
  type Invocation,
  systemUser,
  textOptions,
  withRecorder,
} from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { namedSession } from "../named-session.js";
import { countOf, type Fact, factsText } from "../text/table.js";
import { cleanText, documentText, pathText } from "../text/terminal.js";

const PAGE = 500;

export const resumeCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<session>", "the session's id, or a beginning of it")
      .requiredOption("--to <agent>", `the agent that goes on with it: ${resumeTools.join(", ")}`)
      .option("--cwd <folder>", "the folder to go on in, where the session's own is gone")
      .option("--yes", "write without asking")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `It shows what it will write and asks first. Nothing is ever overwritten: where the agent still has the session, the
command to continue it is shown. A session of another agent, or of a program, gets an id of its own there. What the record does
not hold (erased entries, calls without a result) is named.`,
            "Secrets are not masked: the agent gets the session as it was.",
          ],
          [
            ["bring back a session that Claude Code deleted", "hansard resume 80be479e --to claude-code"],
            ["go on with a Codex session in pi", "hansard resume 01a1eee7 --to pi"],
            ["in a script, in another folder", "hansard resume 80be479e --to codex --cwd ~/src/atlas --yes"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen, json } = invocation;
    const tool = toolNamed(options.to);
    const { cwd } = textOptions(options, ["cwd"]);
    const file = await withRecorder(invocation, { create: false }, async (recorder) => {
      const session = await namedSession(recorder, operands[0] ?? "");
      return await prepare(recorder, { session, tool, cwd });
    });
    if (!json) screen.err.write(planText(file, screen.err));
    if (!(await isAllowed(invocation, file))) {
      screen.err.write("Nothing was written.\n");
      return exitStatus.done;
    }
    await writeNew(file.path, file.plan.lines);
    const { path, continue_with } = file;
    if (json) screen.out.write(documentText(answerOf(file), screen.out));
    else
      screen.out.write(
        `Wrote ${pathText(path)}. Continue with:\n\n  ${screen.out.colours.bold(cleanText(continue_with))}\n`,
      );
    return exitStatus.done;
  },
};

interface PreparedFile {
  readonly session: SessionSummary;
  readonly conversation: Conversation;
  readonly tool: ResumeTool;
  readonly plan: ResumePlan;
  readonly path: string;
  readonly cwd: string;
  readonly continue_with: string;
  /** Erased entries that may have been part of it. */
  readonly erased: number;
}

function toolNamed(given: unknown): ResumeTool {
  const tool = resumeTools.find((name) => name === given);
  if (tool !== undefined) return tool;
  const message = `--to must be ${resumeTools.slice(0, -1).join(", ")} or ${resumeTools.at(-1)}`;
  throw new WrongUse({ code: "option_invalid", field: "--to", message });
}

async function prepare(
  recorder: Recorder,
  {
    session,
    tool,
    cwd: given,
  }: { readonly session: SessionSummary; readonly tool: ResumeTool; readonly cwd: string | undefined },
): Promise<PreparedFile> {
  const { session_id } = session;
  const kind = CONVERSATION_KINDS.join(",");
  const exported = recorder.exportEntries({ session_id, kind, actor: systemUser() });
  const conversation = await readConversation(session_id, exported);
  if (!conversation.steps.some(({ is }) => is === "said")) throw nothingSaid(session_id);
  const cwd = folderOf(given, conversation);
  const { home } = resumeTarget(tool);
  const place = { cwd, home: process.env[home.variable] || join(homedir(), home.folder) };
  const plan = planResume(conversation, tool, place);
  const path = join(place.home, plan.path);
  const continue_with = `cd ${quoted(cwd)} && ${plan.command}`;
  const taken = existsSync(path) ? path : otherFile(tool, { home: place.home, id: plan.id });
  if (taken !== undefined) throw alreadyThere(taken, continue_with);
  return {
    session,
    conversation,
    tool,
    plan,
    path,
    cwd,
    continue_with,
    erased: await erasedIn(recorder, conversation),
  };
}

/** The folder to go on in: the one that was named, else the session's own, else the current one. */
function folderOf(given: string | undefined, { cwd }: Conversation): string {
  const wanted = given ?? (cwd === "" ? process.cwd() : cwd);
  const found = statSync(resolve(wanted), { throwIfNoEntry: false });
  // A folder of another system, such as C:\src, would be one below the current folder.
  const isHere = given !== undefined || cwd === "" || cwd.startsWith("/") || process.platform === "win32";
  if (isHere && found?.isDirectory() === true) return realpathSync(resolve(wanted));
  throw new Failed({
    code: "folder_missing",
    field: "--cwd",
    message: `the session's folder ${pathText(wanted)} is not on this machine`,
    hint: "Agents look for a session in its folder. Name the folder to go on in with --cwd.",
  });
}

/** A file of the same session in another place of the tool. */
function otherFile(tool: ResumeTool, { home, id }: { readonly home: string; readonly id: string }): string | undefined {
  const { others } = resumeTarget(tool);
  for (const folder of others.folders) {
    const root = join(home, folder);
    if (!existsSync(root)) continue;
    const names = namesBelow(root);
    const name = names.find((one) => others.matches(`/${one}`, id));
    if (name !== undefined) return join(root, name);
  }
  return undefined;
}

/** A folder that cannot be read is a failure of its own: the session may be in it. */
function namesBelow(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, encoding: "utf8" });
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw new Failed({ code: "file_not_read", message: `cannot look for the session in ${root}: ${message}` });
  }
}

function alreadyThere(path: string, continue_with: string): Failed {
  return new Failed({
    code: "file_exists",
    message: `the session is already there: ${pathText(path)}`,
    hint: `Continue it with: ${continue_with}`,
  });
}

function nothingSaid(session_id: string): Failed {
  return new Failed({
    code: "nothing_found",
    field: "session",
    message: `session ${session_id} holds no conversation to go on with`,
    hint: "`hansard show` and `hansard sessions` show what it holds.",
  });
}

/**
 * Erased entries between the first and the last of the session. What an erased entry belonged to was erased with it, so only its
 * place tells.
 */
async function erasedIn(recorder: Recorder, { steps }: Conversation): Promise<number> {
  const [first, last] = [steps[0]?.entry.position ?? 0, steps.at(-1)?.entry.position ?? 0];
  const erased = new Set<number>();
  let cursor: string | null | undefined;
  do {
    const page = await recorder.listEntries({
      kind: "redaction",
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const entry of page.entries) {
      // A session that was forgotten as a whole was another one.
      if (entry.kind !== "redaction" || !("positions" in entry) || entry.scope === "session") continue;
      for (const position of entry.positions) if (position > first && position < last) erased.add(position);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return erased.size;
}

async function isAllowed({ options, screen, json }: Invocation, file: PreparedFile): Promise<boolean> {
  if (options.yes === true) return true;
  const isAsked = !json && process.stdin.isTTY === true && screen.err.isTerminal;
  if (isAsked) return confirm("Write it? [y/N] ");
  const message = `${file.path} would be written, and there is no terminal to ask`;
  throw new WrongUse({ code: "consent_missing", field: "--yes", message, hint: "Add --yes to write it." });
}

/** What the file will not have, in words; each with how many. */
const leftOutWords: readonly (readonly [keyof LeftOut, one: string, many: string])[] = [
  [
    "unanswered",
    "call without a result, or result without a call",
    "calls without a result, or results without a call",
  ],
  ["cleared", "message from before it was cleared", "messages from before it was cleared"],
  ["withdrawn", "message that was taken back", "messages that were taken back"],
  ["injected", "text that the agent adds by itself", "texts that the agent adds by itself"],
  ["system", "system message: the agent has its own", "system messages: the agent has its own"],
];

function missingOf({ conversation, erased }: PreparedFile): readonly string[] {
  const { left_out } = conversation;
  const found = leftOutWords.flatMap(([name, one, many]) =>
    left_out[name] === 0 ? [] : [countOf(left_out[name], one, many)],
  );
  const gone = countOf(
    erased,
    "entry was erased and may have been part of it",
    "entries were erased and may have been part of it",
  );
  const cut = countOf(left_out.shortened, "text is cut, as in the record", "texts are cut, as in the record");
  return [...found, ...(erased === 0 ? [] : [gone]), ...(left_out.shortened === 0 ? [] : [cut])];
}

function planText(file: PreparedFile, pane: Parameters<typeof factsText>[1]): string {
  const { session, conversation, plan, path, cwd } = file;
  const compactions = plan.compactions === 0 ? "" : `, ${countOf(plan.compactions, "compaction", "compactions")}`;
  const facts: readonly Fact[] = [
    ["session", session.title === "" ? session.session_id : `${session.title} (${session.session_id})`],
    ["from", conversation.tool === "" ? "the record" : conversation.tool],
    ["writes", `${countOf(plan.messages, "message", "messages")}${compactions}`],
    ...missingOf(file).map((words): Fact => ["without", words]),
    ["to", pathText(path)],
    ["in", pathText(cwd)],
  ];
  return `${factsText(facts, pane)}\n`;
}

function answerOf(file: PreparedFile): object {
  const { session, tool, plan, path, cwd, continue_with, conversation, erased } = file;
  return {
    ...{
      session_id: session.session_id,
      tool,
      id: plan.id,
      path,
      cwd,
      messages: plan.messages,
      compactions: plan.compactions,
    },
    ...{ left_out: { ...conversation.left_out, erased }, continue_with },
  };
}

/** Appears whole or not at all, and only where nothing is. */
async function writeNew(path: string, lines: readonly string[]): Promise<void> {
  const folder = dirname(path);
  const part = join(folder, `.${randomBytes(8).toString("hex")}.part`);
  try {
    makeFolder(folder, 0o700);
    const file = await open(part, "wx", 0o600);
    try {
      await file.writeFile(lines.join(""));
      await file.sync();
    } finally {
      await file.close();
    }
    // Some file systems have no links.
    await link(part, path).catch((error: NodeJS.ErrnoException) =>
      error.code === "EEXIST" ? Promise.reject(error) : copyFile(part, path, constants.COPYFILE_EXCL),
    );
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const failure = code === "EEXIST" ? "file_exists" : "file_not_written";
    throw new Failed({ code: failure, message: `cannot write the file: ${message}` });
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

function quoted(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
