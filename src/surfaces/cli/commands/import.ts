// `hansard import`: reads files, folders or standard input into the record, with a progress bar and a table at the end.
import { existsSync } from "node:fs";
import type { Command } from "commander";
import {
  type FoundPlace,
  findInPlaces,
  type ImportedFile,
  type ImportProgress,
  type ImportReport,
  importFormats,
  knownPlaces,
  openRecorder,
  type Recorder,
  type RejectedLine,
} from "../../../index.js";
import { isServerAddress } from "../../../model/store-location.js";
import { type CommandModule, confirm, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { bar } from "../text/plot.js";
import { countOf, formatBytes, formatCount, renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane, ProgressLine, pathText } from "../text/terminal.js";

/** How many rejected lines, or files per reason, are listed; `--json` has all. */
const REJECTED_SHOWN = 20;
/** With more files than this, the table has a line per format instead of per file. */
const FILES_SHOWN = 40;
const SHOW_EVERY_MS = 100;
const NEXT_STEPS =
  "Next: `hansard sessions` lists the sessions, `hansard search WORDS` searches them, `hansard watch` keeps importing.";
const NOTHING_THERE = "Nothing to import: no files, or only empty ones.";
const BAR_TOTAL = 1_000;

export const importCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[path...]", "files, folders, or - for standard input; by default, the files of known tools")
      .option("--format <name>", `the format, if it cannot be detected: ${importFormats.join(", ")}`)
      .option("--timezone <zone>", "time zone of times without one, such as Europe/Berlin (this machine's)")
      .option("--as-new", "give the entries of a Hansard export new positions, even if its hash chain is broken")
      .option("--restore", "a Hansard export is your own record: its verdicts on memories count")
      .option("--again", "read again what an older version of Hansard imported, and replace what it made of it")
      .option("--redact <when>", "with capture: mask secrets before they are stored")
      .option("--yes", "without a path: import what was found without asking")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `Without a path it looks for the files of known tools, lists them, and asks before it reads them. The format is
detected from the content. Importing again adds nothing; a file that has grown adds what is new.`,
            `Lines that cannot be read and files of unknown format are reported and skipped. The exit status is 1 if a named path,
a file of a known format, or everything could not be read. A Hansard export with a broken hash chain is not imported.`,
            `With --again, sessions that an older version of Hansard imported are read again as this version reads them. Every
view then shows the new entries; the log keeps the old ones. Doing it twice changes nothing.`,
            `In a tool's own folder only that tool's format is read, and an export only if you name the file. The memories of an
export are proposed for your review; with --restore the record is restored as it was.`,
          ],
          [
            ["everything that known tools left on this machine", "hansard import"],
            ["all sessions of a nanobot workspace", "hansard import ~/.nanobot/workspace/sessions"],
            ["Timmy's logs, written in Chicago", "hansard import logs --timezone America/Chicago"],
            ["your own export into a store of its own", "hansard import --restore --data ./copy record.ndjson"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, screen, settings, json } = invocation;
    const named = invocation.operands;
    const operands = named.length > 0 ? named : await findFiles(invocation);
    if (operands === undefined) return exitStatus.done;
    const progress = new ProgressLine(screen.err);
    const files: ImportedFile[] = [];
    const chosen = {
      ...textOptions(options, ["format", "timezone"]),
      as_new: options.asNew === true,
      restore: options.restore === true,
      again: options.again === true,
      found: named.length === 0,
    };
    let suggestions = 0;
    const isThere = operands.some((path) => path === "-" || existsSync(path));
    // A mistyped command must not leave an empty store behind, so its arguments are checked without one.
    const before = await withoutStore((recorder) => recorder.importFiles(isThere ? [] : operands, chosen));
    const report = isThere
      ? await withRecorder(invocation, { create: true }, async (recorder) => {
          const { position } = await recorder.health();
          const imported = await recorder.importFiles(operands, {
            ...chosen,
            onProgress: showingOn(progress, screen.err.columns ?? 80),
            onFile: (file) => void files.push(file),
          });
          // A record of one's own comes back as it was: what was proposed from it comes with it.
          const isTranscripts = files.some(
            ({ format }) => format !== "" && format !== "hansard" && format !== "memories",
          );
          if (imported.added > 0 && isTranscripts && !chosen.restore && !isServerAddress(settings.data) && !json) {
            const after = Math.max(0, position - LOOKED_BACK);
            suggestions = await suggestionsIn(recorder, { after, progress });
          }
          return imported;
        }).finally(() => progress.clear())
      : before;
    const known = files.filter(({ format }) => format !== "").map(({ file }) => file);
    const expected = new Set([...named, ...known]);
    if (json) screen.out.write(documentText(report, screen.out));
    else {
      printReport(invocation, report, files);
      if (suggestions > 0) {
        screen.err.write(`${countOf(suggestions, "suggestion", "suggestions")} to review: hansard review\n`);
      }
      if (named.length === 0 && report.sessions > 0) screen.err.write(wrapped(NEXT_STEPS, screen.err));
    }
    return isFailure(report, expected) ? exitStatus.failed : exitStatus.done;
  },
};

/** What was learned from before an import goes on in it: so many earlier entries are looked at again. */
const LOOKED_BACK = 5_000;

/** How many candidates wait, once the rules have read what was imported. */
async function suggestionsIn(
  recorder: Recorder,
  { after, progress }: { readonly after: number; readonly progress: ProgressLine },
): Promise<number> {
  const { position: head } = await recorder.health();
  const onProgress = (at: number): void =>
    progress.show(`Looking for memories: ${formatCount(at)} of ${formatCount(head)} …`);
  await recorder.memories.extract({ after, onProgress });
  return recorder.memories.pending();
}

/** The files that known tools left on this machine, if the user agrees to import them. */
async function findFiles(invocation: Invocation): Promise<readonly string[] | undefined> {
  const { options, screen, json, settings } = invocation;
  const { found, files } = await findInPlaces();
  if (found.length === 0) throw nothingFound();
  const isAllowed = options.yes === true;
  if (!json) (isAllowed ? screen.err : screen.out).write(foundText(found, invocation));
  if (isAllowed) return files;
  const isAsked = !json && process.stdin.isTTY === true && screen.out.isTerminal;
  if (!isAsked) {
    if (json) screen.out.write(documentText({ found }, screen.out));
    const message = `found ${countOf(files.length, "file", "files")}, and there is no terminal to ask before reading them`;
    const hint = "Add --yes, or name the paths to import.";
    throw new WrongUse({ code: "consent_missing", field: "--yes", message, hint });
  }
  if (await confirm(`Import them into ${pathText(settings.data)}? [y/N] `)) return files;
  screen.err.write("Nothing was imported.\n");
  return undefined;
}

function nothingFound(): Failed {
  const looked = [...new Set(knownPlaces().map(({ path }) => pathText(path)))];
  return new Failed({
    code: "nothing_found",
    message: `no files of known tools found in ${looked.join(", ")}`,
    hint: "Name a file or folder: hansard import PATH.",
  });
}

function foundText(found: readonly FoundPlace[], { screen }: Invocation): string {
  const number = { align: "right" } as const;
  const { columns, colours } = screen.out;
  return renderTable({
    columns: [
      { title: "TOOL" },
      { title: "SESSIONS", ...number },
      { title: "FILES", ...number },
      { title: "SIZE", ...number },
      { title: "OLDEST" },
      { title: "PLACE" },
    ],
    rows: found.map(({ tool, sessions, files, bytes, oldest, path }) => [
      ...[tool, sessions === undefined ? "in a database" : formatCount(sessions), formatCount(files)],
      ...[formatBytes(bytes), oldest.slice(0, 10), pathText(path)],
    ]),
    width: columns,
    colours,
  });
}

/** The import fails if an expected file could not be read, or nothing at all. */
function isFailure({ rejected, added, existing }: ImportReport, expected: ReadonlySet<string>): boolean {
  if (rejected.length > 0 && added + existing === 0) return true;
  return rejected.some(({ line, file }) => line === 0 && expected.has(file));
}

async function withoutStore<T>(work: (recorder: Recorder) => Promise<T>): Promise<T> {
  const recorder = await openRecorder({ data: "memory:" });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}

/** Shows progress, at most ten times per second. */
function showingOn(line: ProgressLine, columns: number): (progress: ImportProgress) => void {
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
  const isListed = operands.length > 0 && known.length <= FILES_SHOWN;
  if (known.length > 0) out.write(fileTable(known, isListed, out));
  const { added, existing, rejected, sessions } = report;
  if (report.files === 0 && rejected.length === 0) err.write(wrapped(NOTHING_THERE, err));
  const lines = rejected.filter(({ line }) => line > 0);
  const read = report.files - (files.length - known.length);
  const total = [
    `Added ${countOf(added, "entry", "entries")}`,
    `${countOf(existing, "duplicate", "duplicates")}`,
    `${countOf(lines.length, "line", "lines")} rejected`,
    `${countOf(sessions, "session", "sessions")} in ${read === report.files ? "" : `${formatCount(read)} of `}`,
  ].join(", ");
  if (report.files > 0) out.write(wrapped(`${total}${countOf(report.files, "file", "files")}.`, out));
  const runs = runsOf(lines);
  for (const run of runs.slice(0, REJECTED_SHOWN)) err.write(wrapped(rejectedText(run), err));
  err.write(moreText(runs.slice(REJECTED_SHOWN).reduce((sum, { line, through }) => sum + through - line + 1, 0)));
  for (const [reason, alike] of filesByReason(rejected)) err.write(rejectedFilesText(reason, alike, err));
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

/** Files that could not be read at all, by the reason they share. */
function filesByReason(rejected: readonly RejectedLine[]): ReadonlyMap<string, readonly RejectedLine[]> {
  const grouped = new Map<string, RejectedLine[]>();
  for (const one of rejected) {
    if (one.line > 0) continue;
    const files = grouped.get(one.reason) ?? [];
    files.push(one);
    grouped.set(one.reason, files);
  }
  return grouped;
}

function rejectedFilesText(reason: string, files: readonly RejectedLine[], err: Pane): string {
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

/** Joins consecutive lines that were rejected for one reason. */
function runsOf(lines: readonly RejectedLine[]): readonly RejectedRun[] {
  const runs: RejectedRun[] = [];
  for (const one of lines) {
    const last = runs.at(-1);
    const isNext = last?.file === one.file && last.reason === one.reason && last.through + 1 === one.line;
    if (isNext) runs[runs.length - 1] = { ...last, through: one.line };
    else runs.push({ ...one, through: one.line });
  }
  return runs;
}

function rejectedText({ file, line, reason, through = line }: RejectedLine & { readonly through?: number }): string {
  const where = [cleanLine(file), ...(line === 0 ? [] : [through === line ? line : `${line}-${through}`])].join(":");
  return `${where}: ${cleanLine(reason)}`;
}
