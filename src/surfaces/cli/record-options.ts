// The flags of `hansard record`, derived from the table of kinds: a field added there has its flag at once.
import type { Command, Option } from "commander";
import type { CaptureKind, FieldsByKind } from "../../model/entry.js";
import type { Field } from "../../model/fields.js";
import { captureKinds, isCaptureKind, kindRules, parseKind } from "../../model/kinds.js";
import { orThrow } from "../../model/rejection.js";
import { WrongUse } from "./failures.js";
import { attributeOf, flagNameOf } from "./flag-names.js";

type FlagShape = "text" | "number" | "switch" | "json" | "list";

/** Every field that a caller may give, of whichever kind. */
type FieldName = { [K in CaptureKind]: keyof FieldsByKind[K] }[CaptureKind];
type OwnFlagName = "id" | "created_at" | "extra";

interface Flag {
  readonly field: FieldName | OwnFlagName;
  readonly name: string;
  readonly shape: FlagShape;
  readonly kinds: readonly CaptureKind[];
}

/** Labels hold for everything that is recorded at once; the rest is one entry's own. */
const labels = [
  ["session_id", "<id>", "the session it belongs to"],
  ["project", "<name>", "the project it belongs to"],
  ["client", "<name>", "the program that recorded it"],
] as const;

const ownFlags: readonly Flag[] = [
  { field: "id", name: "id", shape: "text", kinds: captureKinds },
  { field: "created_at", name: "created-at", shape: "text", kinds: captureKinds },
  { field: "extra", name: "extra", shape: "json", kinds: captureKinds },
];

/** A field that nobody described does not compile. */
const describedBy: { readonly [N in FieldName | OwnFlagName]: string } = {
  id: "an id of your own: recording it again stores it once",
  created_at: "when it happened, if not now",
  extra: "further fields, kept as they are",
  prompt: "what the model was asked",
  response: "what the model answered",
  response_summary: "the answer in short",
  memories_used: "a memory that was used; may be repeated",
  chunks_used: "a chunk that was used; may be repeated",
  context_pack: "what else the model was given",
  model: "which model answered",
  usage: "tokens it took",
  latency_ms: "how long it took",
  interaction_id: "the interaction that it completes",
  role: "user, assistant, system or tool; developer, function and model are read as these",
  content: "what was said",
  confidence: "from 0 to 1",
  tool_calls: "the calls it makes, in OpenAI's shape",
  tool_call_id: "the call that it answers",
  name: "who said it",
  tool: "which tool was called",
  args: "what it was called with",
  result: "what it gave back, whole",
  is_error: "the tool failed",
  duration_ms: "how long it took",
  error: "what went wrong; of an interaction, why the call failed",
  context: "while doing what",
  decision: "what was decided",
  rationale: "and why",
  through: "the position up to which it consolidates; 0 where nothing is dropped",
  summary: "what is kept of it in short",
  kept: "positions up to there that history keeps, as JSON",
  trigger: "why it is consolidated",
  tokens_before: "how many tokens the context had before",
  withdraws: "the position of the message that history leaves out",
  entry_id: "the entry that it is about",
  score: "what somebody thought of it, from -1 to 1",
  label: "the same as a word",
  comment: "the same in words",
  title: "what the session is called",
  metadata: "what else is known of it",
  parent: "the session it came from",
  source: "where it came from",
  record: "the record as it came",
};

const placeholderByShape: { readonly [shape in FlagShape]: string } = {
  text: " <text>",
  number: " <n>",
  switch: "",
  json: " <json>",
  list: " <id>",
};

export function defineRecordOptions(command: Command): void {
  const add = (flags: string, says: string, group: string): Option => {
    const option = command.createOption(flags, says).helpGroup(group);
    command.addOption(option);
    return option;
  };
  const common = "Of any kind:";
  add("--kind <kind>", "what it is, if not an interaction", common);
  for (const [field, placeholder, says] of labels) add(`--${flagNameOf(field)} ${placeholder}`, says, common);
  for (const flag of [...ownFlags, ...kindFlags()]) {
    const [first, ...others] = flag.kinds;
    const isCommon = flag.kinds.length === captureKinds.length;
    const also = isCommon || others.length === 0 ? "" : ` (also of ${others.join(", ")})`;
    const says = `${describedBy[flag.field]}${also}`;
    const option = add(
      `--${flag.name}${placeholderByShape[flag.shape]}`,
      says,
      isCommon ? common : `Of kind ${first}:`,
    );
    if (flag.shape === "list") {
      option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
    }
  }
}

export interface Labels {
  readonly kind: CaptureKind;
  readonly labels: { readonly [field: string]: unknown };
}

export function readLabels(options: { readonly [name: string]: unknown }): Labels {
  const kind = options.kind === undefined ? "interaction" : orThrow(parseKind(options.kind));
  const pairs = labels.map(([field]) => [field, options[flagNameOf(field)]] as const);
  return { kind, labels: Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) };
}

/** The entry that the flags describe; undefined where they describe none and the input has to. */
export function readEntry(options: { readonly [name: string]: unknown }): { [field: string]: unknown } | undefined {
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

/** The published schema says how a value is typed; what may be text or JSON is taken as the text it is. */
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
    // What is no number stays the text it was, and capture refuses it with its own words.
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
      hint: `Quote it for the shell, for example --${flag.name} '{"key": "value"}'.`,
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
    hint: isOfOne ? `Add --kind ${only}.` : `It belongs to ${flag.kinds.join(", ")}; choose with --kind.`,
  });
}
