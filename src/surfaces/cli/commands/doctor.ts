// `hansard doctor`: checks a store, and says what is wrong and what to do.
import type { Command } from "commander";
import { isServerAddress } from "../../../model/store-location.js";
import type { Diagnosis, Finding } from "../../../model/verification.js";
import { compactStore, discardDamagedIndex, inspectStore } from "../../../recorder/inspect-store.js";
import {
  type CommandModule,
  helpText,
  type Invocation,
  keptFolder,
  printResult,
  systemUser,
  withProgress,
  withRecorder,
} from "../command.js";
import { exitStatus } from "../failures.js";
import { hintText } from "../hints.js";
import { bar } from "../text/plot.js";
import { countOf, formatBytes, formatCount, wrapText } from "../text/table.js";
import { cleanText, type Pane } from "../text/terminal.js";

const INDENT = 11;

export const doctorCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--rebuild-index", "rebuild the index from the log, even while a server runs; the log is not changed")
      .option(
        "--accept-log",
        "accept a truncated or replaced log: records an audit entry and resets what the index and seal expect",
      )
      .option(
        "--compact",
        "store text that entries share only once, to save space; the content is unchanged, and it can be interrupted",
      )
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          ["The exit status is 1 if a check fails; warnings do not count."],
          [
            ["check the default store", "hansard doctor"],
            ["after an older copy of the log was put back on purpose", "hansard doctor --accept-log"],
            ["shrink a store whose agents send their whole history", "hansard doctor --compact"],
            ["rebuild the index if lists miss entries", "hansard doctor --rebuild-index --data ./record"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, settings } = invocation;
    const diagnosis = await withProgress(invocation, async (progress): Promise<Diagnosis> => {
      const onStep = (says: string): void => progress.show(says);
      const accepted = options.acceptLog === true ? [await acceptLog(invocation)] : [];
      const compacted = options.compact === true ? [await compact(invocation, onStep)] : [];
      const rebuilt = options.rebuildIndex === true ? [await rebuildIndex(invocation, onStep)] : [];
      const { seal_key, key } = settings;
      const { ok, findings } = await inspectStore({ data: keptFolder(settings), key, seal_key, onStep });
      const named = findings.map((finding) => withStore(finding, settings));
      return { ok, findings: [...accepted, ...compacted, ...rebuilt, ...named] };
    });
    printResult(invocation, diagnosis, diagnosisText);
    return diagnosis.ok ? exitStatus.done : exitStatus.failed;
  },
};

/** Adds --data to the commands in a hint. Hints from a server are for its own machine. */
function withStore(finding: Finding, settings: Invocation["settings"]): Finding {
  return finding.hint === undefined || isServerAddress(settings.data)
    ? finding
    : { ...finding, hint: hintText(finding.hint, settings) };
}

async function acceptLog(invocation: Invocation): Promise<Finding> {
  const accepted = await withRecorder(invocation, { create: false }, (recorder) =>
    recorder.acceptLog({ actor: systemUser() }),
  );
  const message =
    accepted === undefined
      ? "nothing to accept: the log is complete"
      : `the log was accepted, and an audit entry was recorded; entries up to ${accepted.known.position} were expected`;
  return { level: "ok", check: "evidence", message };
}

async function compact({ settings }: Invocation, onStep: (says: string) => void): Promise<Finding> {
  onStep("Looking for shared text …");
  const done = await compactStore(keptFolder(settings), (position, end) =>
    onStep(`Compacting ${bar(position, end)} ${formatCount(position)} of ${formatCount(end)}`),
  );
  const check = "compact";
  if (done === undefined) {
    const message =
      "nothing to do: a database stores shared text once as it is recorded; to compact older entries, use `hansard copy` into an empty database";
    return { level: "ok", check, message };
  }
  const { bodies, bytes_before, bytes_after, left } = done;
  const message = `${countOf(bodies, "entry", "entries")} compacted; log.db shrank from ${formatBytes(bytes_before)} to ${formatBytes(bytes_after)}`;
  return left === undefined ? { level: "ok", check, message } : { level: "warn", check, message, hint: left };
}

async function rebuildIndex(invocation: Invocation, onStep: (says: string) => void): Promise<Finding> {
  onStep("Rebuilding the index …");
  return withRecorder(invocation, { create: false }, async (recorder) => {
    discardDamagedIndex(invocation.settings.data);
    const { position: all } = await recorder.health();
    const onProgress = (position: number): void => {
      // Entries recorded in the meantime are indexed too.
      const [done, percent] = [Math.min(position, all), Math.floor((Math.min(position, all) / all) * 100)];
      onStep(`Rebuilding the index ${bar(done, all)} ${percent} %, ${formatCount(done)} of ${formatCount(all)}`);
    };
    await recorder.rebuildIndex({ onProgress });
    const { entries } = await recorder.count();
    return {
      level: "ok",
      check: "rebuild",
      message: `the index was rebuilt: ${countOf(entries, "entry", "entries")}`,
    };
  });
}

function diagnosisText({ findings }: Diagnosis, pane: Pane): string {
  const failed = findings.filter(({ level }) => level === "fail").length;
  const warned = findings.filter(({ level }) => level === "warn").length;
  return `${findings.map((finding) => findingText(finding, pane)).join("")}\n${verdictText(failed, warned, pane)}\n`;
}

function findingText({ level, check, message, hint }: Finding, pane: Pane): string {
  const { green, yellow, red, bold, dim } = pane.colours;
  const mark = { ok: green("✓"), warn: yellow("!"), fail: red("✗") }[level];
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT;
  const [first = "", ...rest] = wrapText(cleanText(message), width);
  const advice = hint === undefined ? [] : wrapText(`→ ${cleanText(hint)}`, width);
  const indented = [...rest, ...advice.map(dim)].map((line) => `${" ".repeat(INDENT)}${line}\n`).join("");
  return `${mark} ${bold(check.padEnd(INDENT - 2))}${first}\n${indented}`;
}

function verdictText(failed: number, warned: number, pane: Pane): string {
  const { green, yellow, red, bold } = pane.colours;
  const warnings = countOf(warned, "warning", "warnings");
  if (failed > 0) {
    const problems = countOf(failed, "problem", "problems");
    return bold(red(warned > 0 ? `${problems}, ${warnings}.` : `${problems}.`));
  }
  return bold(warned > 0 ? yellow(`No problems, ${warnings}.`) : green("No problems."));
}
