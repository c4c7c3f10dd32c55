// `hansard tail`: prints entries as any process records them, one line each, until Ctrl-C.
import type { Command } from "commander";
import stringWidth from "string-width";
import { valueText } from "../../../model/content.js";
import type { AlteredEntry, Entry } from "../../../model/entry.js";
import { isAltered } from "../../../model/entry.js";
import { streams } from "../../../operations/streams.js";
import { type CommandModule, examplesText, type Invocation, onStop, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { localSecond } from "../local-times.js";
import { defineFlags, flagsGiven } from "../operation-command.js";
import { entryLine, kindColour, whoOf } from "../text/entry-text.js";
import { fitText } from "../text/table.js";
import { beginningOf, cleanLine, escapeControls, type Pane } from "../text/terminal.js";

const KIND_WIDTH = 13;
const LABELS_WIDTH_MAX = 40;
const LABELS_SHARE = 0.3;
const TEXT_WIDTH_MIN = 8;
const LINE_CHARS_MAX = 400;
/** Tool results are long, and rarely interesting at a glance. */
const RESULT_CHARS_MAX = 100;

export const tailCommand: CommandModule = {
  define(command: Command): void {
    defineFlags(command, streams.tail)
      .option("--json", "print JSON, one entry per line")
      .addHelpText(
        "after",
        examplesText([
          ["all new entries", "hansard tail"],
          ["new errors of one project", "hansard tail --project web --kind error"],
          ["the whole record, then new entries, as JSON", "hansard tail --after 0 --json"],
        ]),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    await withRecorder({ settings, screen, json }, { create: false }, async (recorder) => {
      const tail = recorder.tail(flagsGiven(options, streams.tail));
      const stop = onStop(() => void tail.return());
      try {
        const { out } = screen;
        const after = await tail.started();
        if (out.isTerminal && !json) screen.err.write(waitingText(after, screen.err));
        for (let rows = await tail.nextRows(); rows !== undefined; rows = await tail.nextRows()) {
          const texts = rows.map((row) => Buffer.from(row.json).toString());
          const lines = texts.map((text) =>
            json ? escapeControls(text) : tailLine(JSON.parse(text) as Entry | AlteredEntry, out),
          );
          out.write(`${lines.join("\n")}\n`);
        }
        // The terminal has echoed ^C.
        if (out.isTerminal) screen.err.write("\n");
      } finally {
        stop.forget();
      }
    });
    return exitStatus.done;
  },
};

function waitingText(after: number, pane: Pane): string {
  return `${pane.colours.dim(`Waiting for entries after #${after}. Press Ctrl-C to stop.`)}\n`;
}

/** One entry on one line: time, position, kind, text, session and project. @internal Exported for tests. */
export function tailLine(entry: Entry | AlteredEntry, pane: Pane): string {
  const { dim, bold } = pane.colours;
  const labels = [entry.session_id, entry.project].filter((label) => label !== "").map((label) => cleanLine(label));
  const time = timeOf(entry);
  const position = `#${entry.position}`.padStart(6);
  const kind = fitText(cleanLine(entry.kind), KIND_WIDTH).padEnd(KIND_WIDTH);
  const text = beginningOf(textOf(entry), LINE_CHARS_MAX);
  const head = `${dim(time)} ${bold(position)} ${kindColour(entry.kind, pane.colours)(kind)}`;
  const { columns } = pane;
  const labelsWidth = columns === undefined ? LABELS_WIDTH_MAX : Math.min(columns * LABELS_SHARE, LABELS_WIDTH_MAX);
  const where = labels.length === 0 ? "" : ` (${fitText(labels.join(", "), Math.floor(labelsWidth))})`;
  if (columns === undefined) return `${head} ${text}${where}`;
  const used = stringWidth(`${time} ${position} ${kind} ${where}`);
  return `${head} ${fitText(text, Math.max(columns - used, TEXT_WIDTH_MIN))}${dim(where)}`;
}

/** An entry that was recorded long after it happened, as imported ones are, shows its date too. */
function timeOf({ created_at, recorded_at }: Entry | AlteredEntry): string {
  const [created, recorded] = [localSecond(created_at), localSecond(recorded_at)];
  return created.slice(0, 10) === recorded.slice(0, 10) ? created.slice(11) : created;
}

function textOf(entry: Entry | AlteredEntry): string {
  if (isAltered(entry)) return entryLine(entry);
  switch (entry.kind) {
    case "interaction":
      return cleanLine(
        `${beginningOf(entry.prompt, LINE_CHARS_MAX)}${entry.response === "" ? "" : ` → ${entry.response}`}`,
      );
    case "response":
      return cleanLine(entry.response || entry.response_summary);
    case "tool_call":
      return entryLine({ ...entry, result: shortened(entry.result) });
    case "message":
      return `${whoOf(entry)}: ${entryLine(entry)}`;
    default:
      return entryLine(entry);
  }
}

function shortened(result: unknown): string {
  const text = cleanLine(valueText(result), RESULT_CHARS_MAX * 4);
  const points = [...text];
  if (points.length <= RESULT_CHARS_MAX) return text;
  return `${beginningOf(text, points.slice(0, RESULT_CHARS_MAX).join("").length)}…`;
}
