// `hansard record`: one entry from flags, or any number from standard input.
import type { Command, Option } from "commander";
import type { CaptureKind, EntryInput, FieldsByKind } from "../../../model/entry.js";
import type { Field } from "../../../model/fields.js";
import { itemAt } from "../../../model/item-at.js";
import { isJsonObject } from "../../../model/json.js";
import { captureKinds, isCaptureKind, kindRules, parseKind } from "../../../model/kinds.js";
import { orThrow, RecorderError } from "../../../model/rejection.js";
import type { AppendResult } from "../../../recorder/recorder.js";
import { type CommandModule, examplesText, type Invocation, withRecorder } from "../command.js";
import { exitStatus, InputStopped, WrongUse } from "../failures.js";
import { attributeOf, flagNameOf } from "../flag-names.js";
import { type InputBatch, LineRejected, readBatches } from "../record-input.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanLine, documentText, escapeControls, type Pane, ProgressLine } from "../text/terminal.js";

export const recordCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[-]", "read a JSON object, an array or NDJSON from standard input; the default without flags");
    defineRecordOptions(command);
    command.option("--redact <when>", "with capture: mask secrets before they are stored");
    command.option("--json", "print JSON").addHelpText(
      "after",
      examplesText([
        ["an interaction", 'hansard record --prompt "Why?" --response "Because." --project web'],
        ["a tool call", "hansard record --kind tool_call --tool ls --args '{}' --result 'a b'"],
        ["a file of entries, one JSON object per line", "hansard record --project web < entries.ndjson"],
      ]),
    );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen } = invocation;
    if (operands[0] !== undefined && operands[0] !== "-") throw unknownArgument(operands[0]);
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

/** The outcome of many entries, with their acknowledgements as JSON. */
interface Total {
  recorded: number;
  known: number;
  last: Acknowledged | undefined;
  /** The highest position so far. */
  position: number;
  /** The last line that is stored. */
  line: number | undefined;
  readonly json: string[];
  /** Unknown fields of all entries. */
  readonly unknown: Set<string>;
}

/** Opens the store only after reading the first entries: a mistyped command must not leave an empty store behind. */
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
    let batch: InputBatch | undefined = first.value;
    try {
      while (batch !== undefined) {
        const inputs = batch.items.map((item) => withLabels(item, labels));
        addResult(total, await recorder.append(inputs as readonly EntryInput[]), json);
        total.line = batch.lines?.at(-1);
        progress.show(`${formatCount(total.recorded + total.known)} entries …`);
        // This batch is stored: an error from here on is one of reading the next.
        batch = undefined;
        batch = (await batches.next()).value;
      }
    } catch (error) {
      progress.clear();
      throw stopped({ error, total, batch });
    } finally {
      // Closes the input, which may have no end.
      await batches.return(undefined);
    }
  });
  progress.clear();
  return total;
}

/** Adds the labels given as flags, and the default kind, to an entry that has none of its own. */
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
  // Text takes much less memory than objects.
  if (json) total.json.push(escapeControls(JSON.stringify(result.entries).slice(1, -1)));
}

const UNKNOWN_SHOWN = 20;

/** Notes misspelt fields, which are kept in `extra`; a JSON document says so itself. */
function noteUnknown({ screen, json }: Invocation, unknown: ReadonlySet<string>): void {
  if (json || unknown.size === 0) return;
  const names = [...unknown].map((name) => cleanLine(name).slice(0, UNKNOWN_CHARS)).join(", ");
  screen.err.write(`Unknown fields kept in extra: ${names}\n`);
}

const UNKNOWN_CHARS = 80;

/** Says what was stored before the error, and how to continue. A batch is stored completely or not at all. */
function stopped(at: {
  readonly error: unknown;
  readonly total: Total;
  readonly batch: InputBatch | undefined;
}): InputStopped {
  const { error, total, batch } = at;
  const rejected = error instanceof LineRejected ? error : undefined;
  const item = error instanceof RecorderError ? error.index : undefined;
  const line = rejected?.line ?? (item === undefined ? undefined : batch?.lines?.[item]);
  const done = total.recorded + total.known;
  const index = rejected?.index ?? (item === undefined ? undefined : done + item);
  return new InputStopped({
    reason: rejected?.reason ?? error,
    line,
    index,
    recorded: total.recorded,
    advice: done === 0 ? "Nothing was stored." : continueAdvice(done, total.line),
  });
}

function continueAdvice(done: number, line = 0): string {
  const stored = `The first ${countOf(done, "entry is", "entries are")} stored, up to line ${line}.`;
  return `${stored} Continue with \`tail -n +${line + 1} FILE | hansard record\`.`;
}

/** Answers a single interaction as POST /interactions does, and anything else as POST /entries. */
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
  const before = known === 0 ? "" : `; ${countOf(known, "duplicate", "duplicates")}`;
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
  return new WrongUse({ code: "input_missing", message: "nothing to record", field: flag, hint });
}

function emptyInput(): WrongUse {
  return new WrongUse({ code: "input_missing", message: "standard input is empty", hint: GIVE_INPUT });
}

function unknownArgument(argument: string): WrongUse {
  return new WrongUse({
    code: "argument_excess",
    message: `unexpected argument ${JSON.stringify(argument.slice(0, 80))}`,
    hint: 'Give a prompt with --prompt "TEXT".',
  });
}

function twoSources(): WrongUse {
  return new WrongUse({
    code: "option_misplaced",
    message: "give an entry either with flags or on standard input (-), not both",
    hint: "--kind and labels such as --project can be used with either.",
  });
}

/** The type of a flag's value. The flags follow from the table of kinds, so a field added there has a flag at once. */
type FlagShape = "text" | "number" | "switch" | "json" | "list";

/** Every field that a caller may give, of any kind. */
type FieldName = { [K in CaptureKind]: keyof FieldsByKind[K] }[CaptureKind];
type OwnFlagName = "id" | "created_at" | "tags" | "extra";

interface Flag {
  readonly field: FieldName | OwnFlagName;
  readonly name: string;
  readonly shape: FlagShape;
  readonly kinds: readonly CaptureKind[];
}

/** Labels apply to everything that one command records. */
const labels = [
  ["session_id", "<id>", "the session it belongs to"],
  ["project", "<name>", "the project it belongs to"],
  ["client", "<name>", "the program that recorded it"],
  ["user_id", "<id>", "whom it was done for"],
  ["parent_id", "<id>", "the entry that it was made for"],
] as const;

const ownFlags: readonly Flag[] = [
  { field: "id", name: "id", shape: "text", kinds: captureKinds },
  { field: "created_at", name: "created-at", shape: "text", kinds: captureKinds },
  { field: "tags", name: "tag", shape: "list", kinds: captureKinds },
  { field: "extra", name: "extra", shape: "json", kinds: captureKinds },
];

/** A field without a description does not compile. */
const describedBy: { readonly [N in FieldName | OwnFlagName]: string } = {
  id: "an id of your own; recording the same id again stores it once",
  created_at: "when it happened, if not now",
  tags: "a tag; may be repeated",
  extra: "further fields, kept unchanged",
  prompt: "what the model was asked",
  response: "what the model answered",
  response_summary: "a summary of the answer",
  memories_used: "a memory that was used; may be repeated",
  chunks_used: "a chunk that was used; may be repeated",
  context_pack: "further context that the model was given",
  model: "the model that answered",
  usage: "tokens used",
  latency_ms: "how long the answer took",
  first_token_ms: "how long its first token took",
  interaction_id: "the interaction that the response completes",
  role: "user, assistant, system or tool (also developer, function, model)",
  content: "what was said",
  confidence: "from 0 to 1",
  tool_calls: "the tool calls, in OpenAI's format",
  tool_call_id: "the call that the message answers",
  name: "who said it",
  injected: "for text that a program inserted: command, summary, reminder, environment, hook, file, output or other",
  tool: "the tool that was called",
  args: "its arguments",
  result: "its result",
  is_error: "the tool failed",
  duration_ms: "how long the call took",
  error: "what went wrong; for an interaction, why the call failed",
  context: "what was being done",
  decision: "what was decided",
  rationale: "why it was decided",
  through: "the last position to consolidate; 0 drops nothing",
  summary: "a summary of what was consolidated",
  kept: "positions up to there that stay in history, as JSON",
  trigger: "what caused the consolidation",
  tokens_before: "the tokens of the context before",
  withdraws: "the position of the message to remove from history",
  entry_id: "the entry that the feedback is about",
  score: "a rating from -1 to 1",
  label: "a rating as a word",
  comment: "a comment",
  title: "the title of the session",
  metadata: "further facts about the session",
  parent: "the session that it continues",
  source: "the tool that wrote it",
  record: "the content, unchanged",
};

const placeholderByShape: { readonly [shape in FlagShape]: string } = {
  text: " <text>",
  number: " <n>",
  switch: "",
  json: " <json>",
  list: " <id>",
};

function defineRecordOptions(command: Command): void {
  const add = (flags: string, says: string, group: string): Option => {
    const option = command.createOption(flags, says).helpGroup(group);
    command.addOption(option);
    return option;
  };
  const common = "For any kind:";
  add("--kind <kind>", "the kind of entry (interaction)", common);
  for (const [field, placeholder, says] of labels) add(`--${flagNameOf(field)} ${placeholder}`, says, common);
  for (const flag of [...ownFlags, ...kindFlags()]) {
    const [first, ...others] = flag.kinds;
    const isCommon = flag.kinds.length === captureKinds.length;
    const also = isCommon || others.length === 0 ? "" : ` (also for ${others.join(", ")})`;
    const says = `${describedBy[flag.field]}${also}`;
    const option = add(
      `--${flag.name}${placeholderByShape[flag.shape]}`,
      says,
      isCommon ? common : `For kind ${first}:`,
    );
    if (flag.shape === "list") {
      option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
    }
  }
}

interface Labels {
  readonly kind: CaptureKind;
  readonly labels: { readonly [field: string]: unknown };
}

function readLabels(options: { readonly [name: string]: unknown }): Labels {
  const kind = options.kind === undefined ? "interaction" : orThrow(parseKind(options.kind));
  const pairs = labels.map(([field]) => [field, options[attributeOf(flagNameOf(field))]] as const);
  return { kind, labels: Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) };
}

/** The entry that the flags describe; undefined if there are none. */
function readEntry(options: { readonly [name: string]: unknown }): { [field: string]: unknown } | undefined {
  const { kind, labels: common } = readLabels(options);
  const given = [...kindFlags(), ...ownFlags].filter((flag) => options[attributeOf(flag.name)] !== undefined);
  const hasFields = Object.keys(kindRules[kind].fields).length > 0;
  if (given.length === 0 && hasFields) return undefined;
  const entry: { [field: string]: unknown } = { kind, ...common };
  for (const flag of given) {
    if (!flag.kinds.includes(kind)) throw misplaced(flag, kind);
    entry[flag.field] = parseValue(flag, options[attributeOf(flag.name)]);
  }
  return entry;
}

function kindFlags(): readonly Flag[] {
  const flagByField = new Map<string, Flag>();
  for (const kind of captureKinds) {
    for (const [field, rule] of Object.entries(kindRules[kind].fields) as [FieldName, Field][]) {
      const known = flagByField.get(field);
      const name = flagNameOf(field);
      flagByField.set(field, { field, name, shape: shapeOf(rule), kinds: [...(known?.kinds ?? []), kind] });
    }
  }
  return [...flagByField.values()];
}

/** The type of a flag, from the published schema. A value that may be text or JSON is taken as text. */
function shapeOf(rule: Field): FlagShape {
  const { type, items } = rule.schema as { readonly type?: string; readonly items?: { readonly type?: string } };
  if (type === "number" || type === "integer") return "number";
  if (type === "boolean") return "switch";
  if (type === "object") return "json";
  if (type === "array") return items?.type === "object" || items?.type === "integer" ? "json" : "list";
  return "text";
}

function parseValue(flag: Flag, given: unknown): unknown {
  if (typeof given !== "string") return given;
  if (flag.shape === "number") {
    // Capture rejects what is not a number.
    return given.trim() === "" || Number.isNaN(Number(given)) ? given : Number(given);
  }
  return flag.shape === "json" ? parseJson(flag, given) : given;
}

function parseJson(flag: Flag, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WrongUse({
      code: "option_invalid",
      field: `--${flag.name}`,
      message: `--${flag.name} must be JSON: ${(error as Error).message}`,
      hint: `Quote it for the shell: --${flag.name} '{"key": "value"}'.`,
    });
  }
}

function misplaced(flag: Flag, kind: CaptureKind): WrongUse {
  const [only] = flag.kinds;
  const isOfOne = flag.kinds.length === 1 && isCaptureKind(only);
  return new WrongUse({
    code: "option_misplaced",
    field: `--${flag.name}`,
    message: `--${flag.name} is not a field of kind ${kind}`,
    hint: isOfOne ? `Add --kind ${only}.` : `It is for ${flag.kinds.join(", ")}; choose one with --kind.`,
  });
}
