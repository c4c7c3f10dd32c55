// `hansard extract` and `hansard reinforce`: passes over the record that propose memories and count their uses. Either can be
// stopped and run again.
import type { Command } from "commander";
import type { Extraction, PassOptions, Recorder, Reinforcement } from "../../../index.js";
import { gateNames } from "../../../memories/judge/gates.js";
import { isRuleClass, ruleClasses } from "../../../memories/propose/rule-classes.js";
import {
  type CommandModule,
  confirm,
  helpText,
  type Invocation,
  modelOf,
  modelOptions,
  printResult,
  textOptions,
  withProgress,
  withRecorder,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { countOf, formatCount, renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

export const extractCommand: CommandModule = {
  define(command: Command): void {
    modelOptions(definePass(command))
      .option("--words", "also propose sentences in which users say what always holds")
      .option("--dry-run", "with a model: say how many sessions and tokens it would be sent, and send nothing")
      .option("--yes", "with a model: do not ask before the first run")
      .option("--explain", "show what was read, skipped and dropped, and why")
      .addHelpText(
        "after",
        helpText(
          [],
          [
            ["propose memories from the whole record", "hansard extract"],
            ["also let a model read sessions that have ended", "hansard extract --via 'claude -p'"],
            ["what that would cost", "hansard extract --via 'claude -p' --dry-run"],
            ["see why something was not proposed", "hansard extract --session cli:anna --explain"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const model = modelOf(invocation);
    const isDry = invocation.options.dryRun === true;
    if (isDry && model === undefined) throw modelMissing();
    if (model !== undefined && (isDry || invocation.operands[0] === undefined)) {
      const isGo = await tellCost(invocation, model, isDry);
      if (!isGo) return exitStatus.done;
    }
    const extraction = await runPass(invocation, "Looking for memories", (recorder, pass) =>
      recorder.memories.extract({ ...pass, ...model, words: invocation.options.words === true }),
    );
    printResult(invocation, extraction, (result, out) =>
      extractionText(result, out, invocation.options.explain === true),
    );
    return exitStatus.done;
  },
};

/** Says what a model is about to be sent, and asks before its first run; whether to go on. */
async function tellCost(
  invocation: Invocation,
  model: NonNullable<ReturnType<typeof modelOf>>,
  isDry: boolean,
): Promise<boolean> {
  const { screen, json, options } = invocation;
  const { planned } = await runPass(invocation, "Reading sessions", (recorder, pass) =>
    recorder.memories.extract({ ...pass, ...model, dry_run: true }),
  );
  if (planned === undefined) return !isDry;
  if (isDry && json) screen.out.write(documentText(planned, screen.out));
  const { sessions, tokens, is_first } = planned;
  const cost = `${countOf(sessions, "session", "sessions")}, about ${formatCount(tokens)} tokens`;
  if (isDry && !json) screen.out.write(`${cost}.\n`);
  if (isDry) return false;
  if (!is_first || sessions === 0 || options.yes === true) return true;
  const isAsked = !json && process.stdin.isTTY === true && screen.err.isTerminal;
  if (!isAsked) {
    const message = `the first run would send ${cost} to the model, and there is no terminal to ask`;
    const hint = "Add --yes, or see --dry-run.";
    throw new WrongUse({ code: "consent_missing", field: "--yes", message, hint });
  }
  if (await confirm(`${cost}, go on? [y/N] `)) return true;
  screen.err.write("Nothing was sent.\n");
  return false;
}

function modelMissing(): WrongUse {
  const message = "--dry-run has no effect without a model";
  return new WrongUse({ code: "option_misplaced", field: "--dry-run", message, hint: "Add --via or --model-url." });
}

export const reinforceCommand: CommandModule = {
  define(command: Command): void {
    definePass(command).addHelpText("after", helpText([], [["count over the whole record", "hansard reinforce"]]));
  },

  async run(invocation: Invocation) {
    const reinforcement = await runPass(invocation, "Looking for uses of memories", (recorder, pass) =>
      recorder.memories.reinforce(pass),
    );
    printResult(invocation, reinforcement, reinforcementText);
    return exitStatus.done;
  },
};

function definePass(command: Command): Command {
  return command
    .argument("[id]", "only this interaction")
    .option("--project <name>", "only entries of this project")
    .option("--session <id>", "only entries of this session")
    .option("--after <position>", "start after this position (0)")
    .option("--json", "print JSON");
}

async function runPass<T>(
  invocation: Invocation,
  doing: string,
  work: (recorder: Recorder, pass: PassOptions) => Promise<T>,
): Promise<T> {
  const { operands, options } = invocation;
  const { project, session: session_id, after } = textOptions(options, ["project", "session", "after"]);
  return withProgress(invocation, (progress) =>
    withRecorder(invocation, { create: false }, async (recorder) => {
      const { position: head } = await recorder.health();
      const onProgress = (at: number): void => progress.show(`${doing}: ${formatCount(at)} of ${formatCount(head)} …`);
      return work(recorder, { interaction_id: operands[0], project, session_id, ...parseAfter(after), onProgress });
    }),
  );
}

function parseAfter(after: string | undefined): { readonly after?: number } {
  if (after === undefined) return {};
  if (/^\d{1,15}$/.test(after)) return { after: Number(after) };
  throw new WrongUse({ code: "option_invalid", field: "--after", message: "--after must be a position, such as 120" });
}

const NOTHING_FOUND =
  "No rule matched. Rules look for decisions with a rationale, for headings such as " +
  '"## Decision: …" in answers, and for commands: programs that are missing, forms that work, the commands that test and build ' +
  "a project. To have a model read the rest, add --via " +
  "or --model-url. To add a memory yourself, run `hansard memories add`.";

function extractionText(extraction: Extraction, pane: Pane, explain: boolean): string {
  const { colours, columns } = pane;
  const indented = (text: string, indent: number): string =>
    wrapText(cleanLine(text), columns === undefined ? undefined : columns - indent).join(`\n${" ".repeat(indent)}`);
  const { candidates, dropped, dropped_by_gate, looked_at, passed_over, stopped } = extraction;
  const gates = Object.entries(dropped_by_gate).map(([gate, count]) => `${formatCount(count)} by ${gate}`);
  const head = `${countOf(candidates.length, "candidate", "candidates")} proposed${gates.length === 0 ? "" : `; dropped ${gates.join(", ")}`}.\n`;
  const lines = candidates.map(
    ({ type, content }) => `  ${colours.green("+")} ${indented(`${type}: ${content}`, 4)}\n`,
  );
  const ended = stopped === undefined ? "" : `Stopped: ${cleanLine(stopped)}. Run it again to continue.\n`;
  // Most sessions match no rule; without an explanation that looks like a failure.
  const nothing = candidates.length + dropped.length === 0 ? `${indented(NOTHING_FOUND, 0)}\n` : "";
  const left = passed_over.filter(({ reason }) => reason.includes("--words")).length;
  const words = left === 0 ? "" : `${indented(wordsText(left), 0)}\n`;
  if (!explain) return `${head}${lines.join("")}${nothing}${words}${ended}`;
  const reasons = dropped.map(
    ({ dropped: gate, reason, content, entry_ids }) =>
      `  ${colours.red("-")} ${indented(`${gate}: ${content}`, 4)}\n    ${colours.dim(indented(`${reason} (${entry_ids.join(", ")})`, 4))}\n`,
  );
  const byClass = passed_over.toSorted((one, other) => ((one.class ?? "") < (other.class ?? "") ? -1 : 1));
  const skipped = byClass.map(
    ({ reason, content, entry_id, class: name }) =>
      `  ${colours.dim("·")} ${indented(`skipped: ${content}`, 4)}\n    ${colours.dim(indented(`${name === undefined ? "" : `${name}: `}${reason} (${entry_id})`, 4))}\n`,
  );
  const read = `${indented(readText(looked_at), 0)}\n`;
  const gatesText = `${indented(`Gates: ${gateNames.map((gate) => `${gate} ${dropped_by_gate[gate] ?? 0}`).join(", ")}.`, 0)}\n`;
  const found = `${read}${classTable(extraction, pane)}${gatesText}`;
  return `${head}${found}${lines.join("")}${nothing}${words}${reasons.join("")}${skipped.join("")}${ended}`;
}

function wordsText(count: number): string {
  const what = countOf(count, "sentence of a user says", "sentences of users say");
  return `${what} what always holds: add --words to propose such sentences, or --explain to see them.`;
}

/** What each class of rules found, and what became of it. */
function classTable({ candidates, dropped, passed_over }: Extraction, { columns, colours }: Pane): string {
  const counts = new Map<string, [proposed: number, dropped: number, skipped: number]>();
  const count = (name: string | undefined, at: 0 | 1 | 2): void => {
    if (name === undefined || !isRuleClass(name)) return;
    const own = counts.get(name) ?? [0, 0, 0];
    own[at] += 1;
    counts.set(name, own);
  };
  for (const { tags } of candidates) count(tags.find(isRuleClass), 0);
  for (const one of dropped) count(one.class, 1);
  for (const one of passed_over) count(one.class, 2);
  if (counts.size === 0) return "";
  const number = { align: "right" } as const;
  const titles = [
    { title: "PROPOSED", ...number },
    { title: "DROPPED", ...number },
    { title: "SKIPPED", ...number },
  ];
  return renderTable({
    columns: [{ title: "CLASS" }, ...titles, { title: "WHAT IT FINDS" }],
    rows: [...counts].map(([name, own]) => [
      ...[name, ...own.map(formatCount)],
      isRuleClass(name) ? ruleClasses[name].finds : "",
    ]),
    width: columns,
    colours,
  });
}

function readText({ entries, users, assistants, decisions, tool_calls }: Extraction["looked_at"]): string {
  const parts = [
    countOf(users, "user message", "user messages"),
    countOf(assistants, "answer", "answers"),
    countOf(decisions, "decision", "decisions"),
    countOf(tool_calls, "tool call", "tool calls"),
  ];
  return `Reviewed ${countOf(entries, "entry", "entries")}: ${parts.join(", ")}.`;
}

function reinforcementText({ reinforced }: Reinforcement): string {
  const count = (use: "given" | "used" | "confirmed"): string =>
    `${formatCount(reinforced.filter((one) => one[use]).length)} ${use}`;
  const turns = new Set(reinforced.map(({ turn_id }) => turn_id)).size;
  return `${countOf(turns, "turn", "turns")}: ${count("given")}, ${count("used")}, ${count("confirmed")}.\n`;
}
