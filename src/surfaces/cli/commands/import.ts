// `hansard import`: files, folders or standard input into the record, with a bar while it runs and a table at the end.
import { existsSync } from "node:fs";
import type { Command } from "commander";
import {
  type ImportedFile,
  type ImportProgress,
  type ImportReport,
  importFormats,
  openRecorder,
  type Recorder,
  type RejectedLine,
} from "../../../index.js";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { askForPlaces } from "../found-places.js";
import { bar, countOf, formatBytes, formatCount, renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane, ProgressLine } from "../text/terminal.js";

/** More refused lines, or files that were refused for one reason, than this are for `--json`. */
const REJECTED_SHOWN = 20;
/** Of more files than this each has no line of its own in the table, but its format. */
const FILES_SHOWN = 40;
const SHOW_EVERY_MS = 100;
const NEXT_STEPS =
  "`hansard sessions` lists them, `hansard search WORDS` finds what was said; `hansard watch` keeps reading.";
const NOTHING_THERE = "There is nothing in it to read: no file, or only empty ones.";
const BAR_TOTAL = 1_000;

export const importCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument(
        "[path...]",
        "files, folders with all that is in them, or - for standard input; none looks for known tools",
      )
      .option("--format <name>", `what it is, where its content does not tell: ${importFormats.join(", ")}`)
      .option("--timezone <zone>", "where times without a zone were written, such as Europe/Berlin (this machine's)")
      .option("--as-new", "place a Hansard export anew, also one whose chain does not hold")
      .option("--redact <when>", "capture: mask secrets before they are stored")
      .option("--yes", "without a path: read what was found without asking")
      .option("--json", "print the report as a document")
      .addHelpText(
        "after",
        helpText(
          [
            `Without a path it looks where known tools keep their files, says what it found, and asks before it reads them.
The format is found by content. Importing again adds nothing, and a file that has grown adds what is new.
Lines that cannot be read are reported and left out, and so are files of no known format. The exit status is 1 where a
named path, a file of a known format or everything could not be read; and of a Hansard export whose chain does not hold
nothing is imported.`,
          ],
          [
            ["what known tools have left on this machine", "hansard import"],
            ["all sessions of a nanobot workspace", "hansard import ~/.nanobot/workspace/sessions"],
            ["Timmy's logs, written on a machine in Chicago", "hansard import logs --timezone America/Chicago"],
            ["a whole export into a store of its own", "hansard import --data ./copy record.ndjson"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, screen, json } = invocation;
    const named = invocation.operands;
    const operands = named.length > 0 ? named : await askForPlaces(invocation);
    if (operands === undefined) return exitStatus.done;
    const progress = new ProgressLine(screen.err);
    const files: ImportedFile[] = [];
    const chosen = { ...textOptions(options, ["format", "timezone"]), as_new: options.asNew === true };
    const isThere = operands.some((path) => path === "-" || existsSync(path));
    // Said without a store, so that a mistyped command leaves no empty one behind.
    const before = await withoutStore((recorder) => recorder.importFiles(isThere ? [] : operands, chosen));
    const report = isThere
      ? await withRecorder(invocation, { create: true }, (recorder) =>
          recorder.importFiles(operands, {
            ...chosen,
            onProgress: now(progress, screen.err.columns ?? 80),
            onFile: (file) => void files.push(file),
          }),
        ).finally(() => progress.clear())
      : before;
    const known = files.filter(({ format }) => format !== "").map(({ file }) => file);
    const meant = new Set([...named, ...known]);
    if (json) screen.out.write(documentText(report, screen.out));
    else {
      printReport(invocation, report, files);
      if (named.length === 0 && report.sessions > 0) screen.err.write(wrapped(NEXT_STEPS, screen.err));
    }
    return isFailure(report, meant) ? exitStatus.failed : exitStatus.done;
  },
};

/** A file that was meant and could not be read fails; so does an import of which nothing could be read at all. */
function isFailure({ rejected, added, existing }: ImportReport, meant: ReadonlySet<string>): boolean {
  if (rejected.length > 0 && added + existing === 0) return true;
  return rejected.some(({ line, file }) => line === 0 && meant.has(file));
}

async function withoutStore<T>(work: (recorder: Recorder) => Promise<T>): Promise<T> {
  const recorder = await openRecorder({ data: "memory:" });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}

/** Shows how far it is, now and then. */
function now(line: ProgressLine, columns: number): (progress: ImportProgress) => void {
  let shownAt = 0;
  return ({ file, bytes, bytes_total, added, existing }) => {
    if (Date.now() - shownAt < SHOW_EVERY_MS) return;
    shownAt = Date.now();
    const entries = countOf(added + existing, "entry", "entries");
    const done =
      bytes_total === undefined || bytes_total === 0
        ? formatBytes(bytes)
        : `${bar((bytes / bytes_total) * BAR_TOTAL, BAR_TOTAL)} ${Math.floor((bytes / bytes_total) * 100)} %`;
    line.show(`${cleanLine(file).slice(-40)} ${done}, ${entries}`.slice(0, columns - 1));
  };
}

function printReport({ screen, operands }: Invocation, report: ImportReport, files: readonly ImportedFile[]): void {
  const { out, err } = screen;
  const known = files.filter(({ format }) => format !== "");
  // Of what tools have left nobody has named a file.
  const isListed = operands.length > 0 && known.length <= FILES_SHOWN;
  if (known.length > 0) out.write(fileTable(known, isListed, out));
  const { added, existing, rejected, sessions } = report;
  if (report.files === 0 && rejected.length === 0) err.write(wrapped(NOTHING_THERE, err));
  const lines = rejected.filter(({ line }) => line > 0);
  const read = report.files - (files.length - known.length);
  const total = [
    `Added ${countOf(added, "entry", "entries")}`,
    `${formatCount(existing)} there before`,
    `${countOf(lines.length, "line", "lines")} rejected`,
    `${countOf(sessions, "session", "sessions")} in ${read === report.files ? "" : `${formatCount(read)} of `}`,
  ].join(", ");
  if (report.files > 0) out.write(wrapped(`${total}${countOf(report.files, "file", "files")}.`, out));
  const runs = runsOf(lines);
  for (const run of runs.slice(0, REJECTED_SHOWN)) err.write(wrapped(rejectedText(run), err));
  err.write(moreText(runs.slice(REJECTED_SHOWN).reduce((sum, { line, through }) => sum + through - line + 1, 0)));
  for (const [reason, alike] of filesByReason(rejected)) err.write(refusedFilesText(reason, alike, err));
}

function fileTable(files: readonly ImportedFile[], isListed: boolean, out: Pane): string {
  const number = { align: "right" } as const;
  const rows = isListed
    ? files.map(({ file, ...counts }) => ({ ...counts, what: cleanLine(file) }))
    : totalsByFormat(files).map(({ files: count, ...counts }) => ({ ...counts, what: formatCount(count) }));
  return renderTable({
    columns: [
      { title: "FORMAT" },
      { title: "ADDED", ...number },
      { title: "EXISTING", ...number },
      { title: "REJECTED", ...number, paint: (text) => (text === "0" ? text : out.colours.red(text)) },
      isListed ? { title: "FILE" } : { title: "FILES", ...number },
    ],
    rows: rows.map(({ format, added, existing, rejected, what }) => [
      format,
      ...[added, existing, rejected].map(formatCount),
      what,
    ]),
    width: out.columns,
    colours: out.colours,
  });
}

function totalsByFormat(files: readonly ImportedFile[]) {
  const totals = new Map<
    string,
    { format: string; added: number; existing: number; rejected: number; files: number }
  >();
  for (const { format, added, existing, rejected } of files) {
    const total = totals.get(format) ?? { format, added: 0, existing: 0, rejected: 0, files: 0 };
    total.added += added;
    total.existing += existing;
    total.rejected += rejected;
    total.files += 1;
    totals.set(format, total);
  }
  return [...totals.values()];
}

/** Files that were not read at all; a folder has many of them that are refused for the same reason, which is told once. */
function filesByReason(rejected: readonly RejectedLine[]): ReadonlyMap<string, readonly RejectedLine[]> {
  const alike = new Map<string, RejectedLine[]>();
  for (const one of rejected) {
    if (one.line > 0) continue;
    const files = alike.get(one.reason) ?? [];
    files.push(one);
    alike.set(one.reason, files);
  }
  return alike;
}

function refusedFilesText(reason: string, files: readonly RejectedLine[], err: Pane): string {
  const [only] = files;
  if (only !== undefined && files.length === 1) return wrapped(rejectedText(only), err);
  const head = wrapped(`${countOf(files.length, "file", "files")}: ${cleanLine(reason)}`, err);
  const names = files.slice(0, REJECTED_SHOWN).map(({ file }) => `  ${cleanLine(file)}\n`);
  return `${head}${names.join("")}${moreText(files.length - names.length)}`;
}

function wrapped(text: string, pane: Pane): string {
  return `${wrapText(text, pane.columns).join("\n")}\n`;
}

function moreText(count: number): string {
  return count === 0 ? "" : `… and ${formatCount(count)} more; --json has all of them.\n`;
}

interface RejectedRun extends RejectedLine {
  readonly through: number;
}

/** Lines that follow each other and were refused for one reason are told at once, so that they hide no others. */
function runsOf(lines: readonly RejectedLine[]): readonly RejectedRun[] {
  const runs: RejectedRun[] = [];
  for (const one of lines) {
    const last = runs.at(-1);
    const goesOn = last?.file === one.file && last.reason === one.reason && last.through + 1 === one.line;
    if (goesOn) runs[runs.length - 1] = { ...last, through: one.line };
    else runs.push({ ...one, through: one.line });
  }
  return runs;
}

function rejectedText({ file, line, reason, through = line }: RejectedLine & { readonly through?: number }): string {
  const where = [cleanLine(file), ...(line === 0 ? [] : [through === line ? line : `${line}-${through}`])].join(":");
  return `${where}: ${cleanLine(reason)}`;
}
