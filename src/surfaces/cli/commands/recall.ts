// `hansard recall`: the memories for a prompt, as text or as JSON that can be recorded with the interaction.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Recalled, RecallOptions, Recorder } from "../../../index.js";
import { parseJsonObject } from "../../../model/json.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { answerOf, defineCommand, flagsGiven } from "../operation-command.js";
import { wrapText } from "../text/table.js";
import { cleanLine, cleanText, documentText } from "../text/terminal.js";

export const recallCommand: CommandModule = {
  define: (command) =>
    defineCommand(command, [operations.recall], (own) =>
      own.option(
        "--hook",
        "answer Claude Code's SessionStart event, read from standard input, with the memories of its project",
      ),
    ),

  async run(invocation: Invocation) {
    if (invocation.options.hook === true) {
      // Whatever goes wrong must not delay a session, nor say anything in it.
      const text = await hookText(invocation).catch(() => "");
      invocation.screen.out.write(text);
      return exitStatus.done;
    }
    const { options, screen, json } = invocation;
    const { out, err } = screen;
    let nothing = "Nothing to recall.";
    const recalled = await withQuestion(invocation, async (recorder) => {
      const query = flagsGiven(options, operations.recall);
      const { session_id = "" } = query;
      const isNew = session_id !== "" && (await recorder.session(session_id).summary()) === undefined;
      const found = await answerOf<Recalled>(recorder, operations.recall, invocation);
      // Names a session that a typing error may have created.
      if (isNew && found.memories_used.length > 0) err.write(`Created session ${cleanLine(session_id)}.\n`);
      if (found.memories_used.length === 0) nothing = await nothingText(recorder, query);
      return found;
    });
    if (json) out.write(documentText(recalled, out));
    else if (recalled.memories_used.length === 0) err.write(`${wrapText(nothing, err.columns).join("\n")}\n`);
    else out.write(cleanText(recalled.context_pack.text));
    return exitStatus.done;
  },
};

const EVENT_BYTES_MAX = 1024 * 1024;
const HOOK_TOKENS = 1_000;

/** What is added to a session that begins: the memories of the folder's project, and nothing where there are none. */
async function hookText(invocation: Invocation): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > EVENT_BYTES_MAX) return "";
    chunks.push(chunk);
  }
  const { session_id, cwd } = parseJsonObject(Buffer.concat(chunks).toString("utf8")) ?? {};
  if (typeof cwd !== "string" || typeof session_id !== "string") return "";
  const { context_pack, memories_used } = await withQuestion(invocation, (recorder) =>
    recorder.memories.recall({ project: projectOf(cwd), session_id, budget_tokens: HOOK_TOKENS }),
  );
  if (memories_used.length === 0) return "";
  return `Memories of this project, each accepted by a person:\n${cleanText(context_pack.text)}`;
}

/** The name of the repository that a folder is in, or of the folder. */
function projectOf(cwd: string): string {
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return basename(folder);
  }
  return basename(cwd);
}

/** How many projects are suggested. */
const PROJECTS_SHOWN = 5;
const LOOKED_AT = 100;

/** Without memories for the given project, suggests others. */
async function nothingText(recorder: Recorder, { project = "", budget_tokens }: RecallOptions): Promise<string> {
  const { memories } = await recorder.memories.list({ status: "active", limit: LOOKED_AT });
  const projects = [...new Set(memories.map((memory) => memory.project))].filter((name) => name !== "");
  if (projects.length === 0 || projects.includes(project) || budget_tokens !== undefined) return "Nothing to recall.";
  const named = projects.slice(0, PROJECTS_SHOWN).map((name) => cleanLine(name));
  const more = projects.length > named.length ? " and others" : "";
  const where = project === "" ? "without --project" : `for ${cleanLine(project)}`;
  return `Nothing to recall ${where}. Projects with memories: ${named.join(", ")}${more}.`;
}
