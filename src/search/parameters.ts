// What a question can be asked with: how a parameter describes itself to every surface, and the parsers that several share.
import { limits } from "../model/limits.js";
import { type Rejection, type RejectionCode, reject } from "../model/rejection.js";

/** A parameter in words, whichever surface it is given through. */
export interface ParameterDoc {
  /** Whole sentences, for the documentation of HTTP and of tools. */
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: string | number;
  /** How the command line takes it; absent where it is no flag there. */
  readonly flag?: Flag;
  /** Whether it may be left out although the library takes it by its place. */
  readonly is_optional?: true;
  /** The codes that a bad value is refused with. */
  readonly refusals: readonly RejectionCode[];
}

/** A parameter with what it is given as, and what that means. */
export interface Parameter<Given = unknown, Parsed = unknown> extends ParameterDoc {
  /** What was not given comes here, too: a default is the parameter's own. */
  readonly parse: (value: unknown, at: { readonly name: string; readonly nowMs: number }) => Parsed | Rejection;
  /** Whether it only changes how rows are shown: a cursor goes on without it. */
  readonly is_view?: true;
  /** What of it a cursor is bound to, where that is not all of it. */
  bound?(parsed: Parsed): unknown;
  /** Never there: it carries the type of what is given. */
  readonly given?: Given;
}

type JsonSchema = { readonly [keyword: string]: unknown };

export interface Flag {
  /** Without its dashes. */
  readonly name: string;
  /** What the help calls its value; a switch has none. */
  readonly value?: string;
  readonly says: string;
}

/** How many a question answers with where no limit is given, and at most. */
export interface LimitRule {
  readonly default: number;
  readonly max: number;
  /** What is counted, where that is more than the rows of a list. */
  readonly says?: string;
}

/** What is not there, or is empty, was not given. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function parseSwitch(name: string, value: unknown): boolean | Rejection {
  if (!isGiven(value) || value === false || value === "false" || value === "0") return false;
  if (value === true || value === "true" || value === "1") return true;
  return reject({ code: "field_invalid", field: name, message: `${name} must be true or false` });
}

/** A number of things, none below zero; undefined where it was not given. */
export function parseCount(name: string, value: unknown): number | undefined | Rejection {
  if (!isGiven(value)) return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  // Infinity is how a program says "all of it".
  if (typeof number === "number" && !Number.isNaN(number)) return Math.max(0, Math.floor(number));
  return reject({ code: "limit_invalid", field: name, message: `${name} must be a number` });
}

/** A position to go on after. One that the log has not reached yet is fine: it is waited for. */
export function parsePosition(name: string, value: unknown): number | undefined | Rejection {
  if (!isGiven(value)) return undefined;
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number;
  return reject({
    code: "field_invalid",
    field: name,
    message: `${name} must be a position (a whole number from 0)`,
    hint: "0 starts with the first entry.",
  });
}

function parseLimit(value: unknown, rule: LimitRule): number | Rejection {
  const count = parseCount("limit", value) ?? rule.default;
  return typeof count === "number" ? Math.min(count, rule.max) : count;
}

const switchSchema: JsonSchema = { type: "boolean", default: false };

/** The limit of lists: as many as `default` says, and never more than the contract allows. */
export function listLimit(limitDefault: number): LimitRule {
  return { default: limitDefault, max: limits.list_max };
}

function limitParameter(rule: LimitRule): ParameterDoc {
  const words = boundedWords(rule);
  return {
    description: `${words.charAt(0).toUpperCase()}${words.slice(1)}; a larger one is treated as that, and zero or less gives none.`,
    schema: { type: "number", default: rule.default },
    flag: limitFlag([{ limit: rule, lists: "" }]),
    refusals: ["limit_invalid"],
  };
}

/** One flag for all questions that a command asks; where they have different defaults, it names what each is of. */
export function limitFlag(limited: readonly { readonly limit: LimitRule; readonly lists: string }[]): Flag {
  const [first] = limited.map(({ limit }) => limit) as [LimitRule];
  const isOne = limited.every(({ limit }) => limit.default === first.default);
  const defaults = isOne ? [`${first.default}`] : limited.map(({ limit, lists }) => `${limit.default} ${lists}`);
  return { name: "limit", value: "n", says: `${boundedWords(first)} (${defaults.join(", ")})` };
}

/** Every start of a command makes these words, and the first number that a process formats by locale takes 10 ms. */
function boundedWords({ says = "at most this many", max }: LimitRule): string {
  return `${says}, up to ${`${max}`.replace(/\B(?=(?:\d{3})+$)/g, ",")}`;
}

export const cursorParameter: ParameterDoc = {
  description: "`next_cursor` of the previous page, with the same filters.",
  schema: { type: "string" },
  flag: { name: "cursor", value: "cursor", says: "continue after the previous page" },
  refusals: ["cursor_invalid"],
};

/** True or false, as `1` and `0` too. */
export function switchParameter(
  doc: Omit<ParameterDoc, "schema" | "refusals"> & { readonly is_view?: true },
): Parameter<boolean | string, boolean> {
  return {
    ...doc,
    schema: switchSchema,
    refusals: ["field_invalid"],
    parse: (value, { name }) => parseSwitch(name, value),
  };
}

/** A limit with its rule: a command that carries out several operations has one flag for all their limits. */
export interface LimitParameter extends Parameter<number | string, number> {
  readonly limit: LimitRule;
  readonly lists: string;
}

/** How many at most; it does not choose what is listed. */
export function limited(limit: LimitRule, lists = "entries"): LimitParameter {
  return { ...limitParameter(limit), is_view: true, limit, lists, parse: (value) => parseLimit(value, limit) };
}
