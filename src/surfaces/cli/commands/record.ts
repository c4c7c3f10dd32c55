// `hansard record`: one entry from flags, or one, some or millions from standard input.

import type { Command } from "commander";
import type { CaptureKind, EntryInput } from "../../../model/entry.js";
import { itemAt } from "../../../model/item-at.js";
import { isJsonObject } from "../../../model/json.js";
import { isCaptureKind, kindRules } from "../../../model/kinds.js";
import { RecorderError } from "../../../model/rejection.js";
import type { AppendResult } from "../../../recorder/recorder.js";
import { type CommandModule, examplesText, type Invocation, withRecorder } from "../command.js";
import { exitStatus, InputStopped, WrongUse } from "../failures.js";
import { type InputBatch, LineRefused, readBatches } from "../record-input.js";
import { defineRecordOptions, type Labels, readEntry, readLabels } from "../record-options.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanLine, documentText, escapeObeyed, type Pane, ProgressLine } from "../text/terminal.js";

export const recordCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[-]", "read JSON, an array or NDJSON from standard input; assumed where no field is given");
    defineRecordOptions(command);
    command.option("--redact <when>", "capture: mask secrets before they are stored");
    command.option("--json", "print the HTTP document").addHelpText(
      "after",
      examplesText([
        ["an interaction with its answer", 'hansard record --prompt "Why?" --response "Because." --project web'],
        ["what a tool did", "hansard record --kind tool_call --tool ls --args '{}' --result 'a b'"],
        ["a file of entries, one JSON object per line", "hansard record --project web < entries.ndjson"],
      ]),
    );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen } = invocation;
    if (operands[0] !== undefined && operands[0] !== "-") throw strayArgument(operands[0]);
    const entry = readEntry(options);
    if (entry !== undefined && operands[0] === "-") throw twoSources();
    if (entry === undefined && operands[0] !== "-" && process.stdin.isTTY) throw nothingGiven(options.kind);
    if (entry !== undefined) {
      const result = await withRecorder(invocation, { create: true }, (recorder) =>
        recorder.append(entry as unknown as EntryInput),
      );
      screen.out.write(oneText(invocation, entry.kind as CaptureKind, result));
      noteUnknown(invocation, new Set(result.entries[0]?.unknown_fields));
      return exitStatus.done;
    }
    const labels = readLabels(options);
    const total = await recordInput(invocation, labels);
    for (const part of totalParts(invocation, total)) screen.out.write(part);
    noteUnknown(invocation, total.unknown);
    return exitStatus.done;
  },
};

type Acknowledged = AppendResult["entries"][number];

/** What many entries came to, with the acknowledgements as they are printed for programs. */
interface Total {
  recorded: number;
  known: number;
  last: Acknowledged | undefined;
  /** The greatest position that was given to one of them. */
  position: number;
  /** The last line that is stored. */
  line: number | undefined;
  readonly json: string[];
  /** Fields that their kinds do not know, of all entries together. */
  readonly unknown: Set<string>;
}

/** The store is opened once the input has turned out to hold something: a mistyped command leaves no empty store. */
async function recordInput(invocation: Invocation, labels: Labels): Promise<Total> {
  const { screen, json } = invocation;
  const total: Total = {
    recorded: 0,
    known: 0,
    last: undefined,
    position: 0,
    line: undefined,
    json: [],
    unknown: new Set(),
  };
  const batches = readBatches(process.stdin as AsyncIterable<Buffer>);
  const first = await batches.next().catch((error: unknown) => {
    throw stopped({ error, total, batch: undefined });
  });
  if (first.done === true) throw emptyInput();
  const progress = new ProgressLine(screen.err);
  await withRecorder(invocation, { create: true }, async (recorder) => {
    let underWay: InputBatch | undefined = first.value;
    try {
      while (underWay !== undefined) {
        const inputs = underWay.items.map((item) => withLabels(item, labels));
        addResult(total, await recorder.append(inputs as readonly EntryInput[]), json);
        total.line = underWay.lines?.at(-1);
        progress.show(`${formatCount(total.recorded + total.known)} entries …`);
        // It is stored; what fails from here on is the reading of the next one.
        underWay = undefined;
        underWay = (await batches.next()).value;
      }
    } catch (error) {
      progress.clear();
      throw stopped({ error, total, batch: underWay });
    } finally {
      // Lets go of the input, which may have no end.
      await batches.return(undefined);
    }
  });
  progress.clear();
  return total;
}

/** No kind means an interaction, and a label given as a flag holds where the entry names none itself. */
function withLabels(item: unknown, { kind, labels }: Labels): unknown {
  if (!isJsonObject(item)) return item;
  const absent = Object.entries({ ...labels, kind }).filter(([name]) => (item[name] ?? undefined) === undefined);
  return absent.length === 0 ? item : { ...item, ...Object.fromEntries(absent) };
}

function addResult(total: Total, result: AppendResult, json: boolean): void {
  for (const entry of result.entries) {
    for (const name of entry.unknown_fields ?? []) if (total.unknown.size < UNKNOWN_SHOWN) total.unknown.add(name);
    if (entry.status === "recorded") {
      total.recorded += 1;
      total.position = entry.position;
    } else total.known += 1;
  }
  total.last = result.entries.at(-1) ?? total.last;
  // Text takes a fraction of what as many objects would.
  if (json) total.json.push(escapeObeyed(JSON.stringify(result.entries).slice(1, -1)));
}

const UNKNOWN_SHOWN = 20;

/** A misspelt field is kept, but nobody would look for it where it is; a document says so itself. */
function noteUnknown({ screen, json }: Invocation, unknown: ReadonlySet<string>): void {
  if (json || unknown.size === 0) return;
  const names = [...unknown].map((name) => cleanLine(name).slice(0, UNKNOWN_CHARS)).join(", ");
  screen.err.write(`Kept in extra, since no field of the kind is called so: ${names}\n`);
}

const UNKNOWN_CHARS = 80;

/** Says what is stored in spite of the failure, and where to go on: batches are stored whole or not at all. */
function stopped(at: {
  readonly error: unknown;
  readonly total: Total;
  readonly batch: InputBatch | undefined;
}): InputStopped {
  const { error, total, batch } = at;
  const refused = error instanceof LineRefused ? error : undefined;
  const item = error instanceof RecorderError ? error.index : undefined;
  const line = refused?.line ?? (item === undefined ? undefined : batch?.lines?.[item]);
  const done = total.recorded + total.known;
  const index = refused?.index ?? (item === undefined ? undefined : done + item);
  return new InputStopped({
    reason: refused?.reason ?? error,
    line,
    index,
    recorded: total.recorded,
    advice: done === 0 ? "Nothing of this input was stored." : goOnAdvice(done, total.line),
  });
}

function goOnAdvice(done: number, line = 0): string {
  const stored = `The first ${countOf(done, "entry is", "entries are")} stored, up to line ${line}, and nothing after.`;
  return `${stored} Go on with \`tail -n +${line + 1} FILE | hansard record\`.`;
}

/** A single interaction answers as POST /interactions does, anything else as POST /entries. */
function oneText({ screen, json }: Invocation, kind: CaptureKind, result: AppendResult): string {
  const acknowledged = itemAt(result.entries, 0);
  if (!json) return acknowledgedText(acknowledged, screen.out);
  return documentText(kind === "interaction" ? acknowledged : result, screen.out);
}

function totalParts({ screen, json }: Invocation, total: Total): readonly string[] {
  const { recorded, known, last } = total;
  if (json) {
    const status = recorded > 0 ? "recorded" : "already_recorded";
    const entries = total.json.map((text, index) => (index === 0 ? text : `,${text}`));
    return [`{"status":"${status}","entries":[`, ...entries, "]}\n"];
  }
  if (last !== undefined && recorded + known === 1) return [acknowledgedText(last, screen.out)];
  const where = recorded === 0 ? "" : `, the last at position ${total.position}`;
  const before = known === 0 ? "" : `; ${countOf(known, "was", "were")} recorded before`;
  return [`Recorded ${countOf(recorded, "entry", "entries")}${where}${before}.\n`];
}

function acknowledgedText({ status, id, position }: Acknowledged, pane: Pane): string {
  const says = status === "recorded" ? "Recorded" : "Already recorded:";
  return `${says} ${pane.colours.bold(id)} at position ${position}.\n`;
}

const GIVE_INPUT = "Give --prompt TEXT and other fields, or JSON on standard input: hansard record < entries.ndjson";

function nothingGiven(kind: unknown): WrongUse {
  const fields = Object.entries(kindRules[isCaptureKind(kind) ? kind : "interaction"].fields);
  const [field] = fields.find(([, { required }]) => required) ?? ["session"];
  const flag = `--${field.replaceAll("_", "-")}`;
  const hint = GIVE_INPUT.replace("--prompt", flag);
  return new WrongUse({ code: "input_missing", message: "there is nothing to record", field: flag, hint });
}

function emptyInput(): WrongUse {
  return new WrongUse({ code: "input_missing", message: "standard input was empty", hint: GIVE_INPUT });
}

function strayArgument(argument: string): WrongUse {
  return new WrongUse({
    code: "argument_excess",
    message: `${JSON.stringify(argument.slice(0, 80))} is neither an option nor -`,
    hint: "A prompt is given with --prompt, quoted for the shell.",
  });
}

function twoSources(): WrongUse {
  return new WrongUse({
    code: "option_misplaced",
    message: "fields were given both as options and, with -, on standard input",
    hint: "Leave out one of them; --kind, --project, --session and --client go with either.",
  });
}
