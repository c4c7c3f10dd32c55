// `hansard doctor`: what is wrong with a store, in plain words, and what to do about it.
import type { Command } from "commander";
import { isServerAddress } from "../../../model/store-location.js";
import type { Diagnosis, Finding } from "../../../model/verification.js";
import { compactStore, discardDamagedIndex, inspectStore } from "../../../recorder/inspect-store.js";
import { type CommandModule, helpText, type Invocation, keptFolder, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { hintText } from "../hints.js";
import { systemUser } from "../system-user.js";
import { bar, countOf, formatCount, wrapText } from "../text/table.js";
import { cleanText, documentText, type Pane, ProgressLine } from "../text/terminal.js";

const INDENT = 11;

export const doctorCommand: CommandModule = {
  define(command: Command): void {
    command
      .option(
        "--rebuild-index",
        "build the index anew from the log, also while a server runs; nothing recorded is touched",
      )
      .option(
        "--accept-log",
        "the log was cut off or exchanged with your knowledge: write that down, and let go of what was known of the other",
      )
      .option(
        "--compact",
        "store once what entries share, also of entries recorded before; nothing recorded changes, and it can be stopped",
      )
      .option("--json", "print a JSON document")
      .addHelpText(
        "after",
        helpText(
          ["The exit status is 1 where a check fails; warnings alone leave it 0."],
          [
            ["look at the default store", "hansard doctor"],
            ["an older copy of the log was put back by hand", "hansard doctor --accept-log"],
            ["make a store smaller whose agents send their whole history", "hansard doctor --compact"],
            ["mend lists that miss entries", "hansard doctor --rebuild-index --data ./record"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, settings, screen, json } = invocation;
    const progress = new ProgressLine(screen.err);
    const onStep = (says: string): void => progress.show(says);
    try {
      const accepted = options.acceptLog === true ? [await acceptLog(invocation)] : [];
      const compacted = options.compact === true ? [await compact(invocation, onStep)] : [];
      const rebuilt = options.rebuildIndex === true ? [await rebuildIndex(invocation, onStep)] : [];
      const { seal_key, key } = settings;
      const { ok, findings } = await inspectStore({ data: keptFolder(settings), key, seal_key, onStep });
      progress.clear();
      const named = findings.map((finding) => withStore(finding, settings));
      const diagnosis = { ok, findings: [...accepted, ...compacted, ...rebuilt, ...named] };
      screen.out.write(json ? documentText(diagnosis, screen.out) : diagnosisText(diagnosis, screen.out));
      return ok ? exitStatus.done : exitStatus.failed;
    } finally {
      progress.clear();
    }
  },
};

/** What to do can be typed as it stands; what a server says is to be done where it runs. */
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
      ? "there was nothing to accept: the log holds all that is known of it"
      : `the log was accepted as it is, and an audit entry says so; entries through ${accepted.known.position} were known`;
  return { level: "ok", check: "evidence", message };
}

async function compact({ settings }: Invocation, onStep: (says: string) => void): Promise<Finding> {
  onStep("Looking for what entries share …");
  const done = await compactStore(keptFolder(settings), (position, end) =>
    onStep(`Storing once what entries share ${bar(position, end)} ${formatCount(position)} of ${formatCount(end)}`),
  );
  const check = "compact";
  if (done === undefined) {
    const message = `nothing was done: what is recorded into a database is stored once as it comes, and what it held whole before that stays so; \`hansard copy\` into an empty database stores it anew`;
    return { level: "ok", check, message };
  }
  const { bodies, bytes_before, bytes_after, left } = done;
  const message = `${countOf(bodies, "entry refers", "entries refer")} to what they share now; log.db had ${formatCount(bytes_before)} bytes and has ${formatCount(bytes_after)}`;
  return left === undefined ? { level: "ok", check, message } : { level: "warn", check, message, hint: left };
}

async function rebuildIndex(invocation: Invocation, onStep: (says: string) => void): Promise<Finding> {
  onStep("Building the index anew …");
  return withRecorder(invocation, { create: false }, async (recorder) => {
    discardDamagedIndex(invocation.settings.data);
    const { position: all } = await recorder.health();
    const onProgress = (position: number): void => {
      // Others may record meanwhile, and the rebuild goes as far as they have come.
      const [done, percent] = [Math.min(position, all), Math.floor((Math.min(position, all) / all) * 100)];
      onStep(`Building the index anew ${bar(done, all)} ${percent} %, ${formatCount(done)} of ${formatCount(all)}`);
    };
    await recorder.rebuildIndex({ onProgress });
    const { entries } = await recorder.count();
    return {
      level: "ok",
      check: "rebuild",
      message: `the index was built anew: ${countOf(entries, "entry", "entries")}`,
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
  return bold(warned > 0 ? yellow(`No problem, ${warnings}.`) : green("All is well."));
}
