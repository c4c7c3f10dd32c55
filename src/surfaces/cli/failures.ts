// Reports a failure once: as text or JSON on stderr, and as the exit status.
import { Fault } from "../../model/fault.js";
import { RecorderError, type RejectionCode } from "../../model/rejection.js";
import { flagNameOf } from "./flag-names.js";
import { hintText } from "./hints.js";
import { wrapText } from "./text/table.js";
import { cleanText, documentText, type Screen } from "./text/terminal.js";

export const exitStatus = { done: 0, failed: 1, wrongUse: 2 } as const;
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

type WrongUseCode =
  | "argument_excess"
  | "argument_missing"
  | "command_unknown"
  | "config_invalid"
  | "consent_missing"
  | "home_missing"
  | "input_missing"
  | "option_invalid"
  | "option_misplaced"
  | "option_repeated"
  | "option_unknown"
  | "setting_invalid"
  | "usage_invalid";

interface ErrorDetails {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly index?: number;
  readonly hint?: string;
  /** If a budget is too small: the smallest possible one. */
  readonly least?: number;
  /** The line of the input, from 1. */
  readonly line?: number;
  /** How many entries of the input were stored before the failure. */
  readonly recorded?: number;
}

/** A usage error: the command cannot work as it was called. */
export class WrongUse extends Error {
  override readonly name = "WrongUse";
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails & { readonly code: WrongUseCode }) {
    super(details.message);
    this.details = details;
  }
}

/** A failure of a valid command that is not a fault of the store. */
export class Failed extends Error {
  override readonly name = "Failed";
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails) {
    super(details.message);
    this.details = details;
  }
}

/** Input of many entries that stopped early: the reason, and how much was stored. */
export class InputStopped extends Error {
  override readonly name = "InputStopped";
  readonly reason: unknown;
  readonly line: number | undefined;
  readonly index: number | undefined;
  readonly recorded: number;
  readonly advice: string | undefined;

  constructor(options: {
    readonly reason: unknown;
    readonly line: number | undefined;
    /** The entry of the whole input, from 0. */
    readonly index: number | undefined;
    readonly recorded: number;
    readonly advice: string | undefined;
  }) {
    super("the input stopped");
    this.reason = options.reason;
    this.line = options.line;
    this.index = options.index;
    this.recorded = options.recorded;
    this.advice = options.advice;
  }
}

/** Invalid input is a usage error (2); something missing or already present is a failure of a valid command (1). */
const statusByRejection = {
  already_completed: 1,
  body_missing: 2,
  budget_too_small: 2,
  confidence_out_of_range: 2,
  consolidation_backwards: 1,
  context_too_large: 2,
  content_type_unsupported: 2,
  cursor_invalid: 2,
  entries_missing: 2,
  entry_not_found: 1,
  entry_too_large: 2,
  expectation_refused: 2,
  field_invalid: 2,
  field_missing: 2,
  headers_too_large: 2,
  history_too_large: 2,
  host_foreign: 2,
  host_refused: 2,
  id_conflict: 1,
  id_invalid: 2,
  interaction_not_found: 1,
  json_invalid: 2,
  key_missing: 1,
  key_not_found: 1,
  key_wrong: 1,
  kind_reserved: 2,
  in_unknown: 2,
  is_unknown: 2,
  kind_unknown: 2,
  label_invalid: 2,
  limit_invalid: 2,
  memory_not_found: 1,
  method_not_allowed: 2,
  nesting_too_deep: 2,
  origin_refused: 2,
  parameter_unknown: 2,
  parameter_repeated: 2,
  project_not_found: 1,
  prompt_blank: 2,
  query_empty: 2,
  query_too_long: 2,
  rate_exceeded: 1,
  request_invalid: 2,
  request_timeout: 1,
  request_too_large: 2,
  role_unknown: 2,
  route_not_found: 2,
  scope_insufficient: 1,
  seal_invalid: 2,
  session_id_invalid: 2,
  session_not_found: 1,
  time_invalid: 2,
  too_many_values: 2,
  utf8_invalid: 2,
  memory_known: 1,
  verdict_given: 1,
} as const satisfies { [C in RejectionCode]: ExitStatus };

/** Reports the failure on stderr and returns its exit status. */
export function reportFailure(
  error: unknown,
  options: {
    readonly screen: Screen;
    readonly json: boolean;
    readonly given_data: string | undefined;
    /** The names of the command's flags, without their dashes. */
    readonly flags: ReadonlySet<string>;
  },
): ExitStatus {
  const { err } = options.screen;
  const { details: described, status } = describe(error);
  const { hint } = described;
  const details = hint === undefined ? described : { ...described, hint: hintText(hint, options) };
  if (options.json) {
    err.write(documentText({ error: details }, err));
    return status;
  }
  const indented = (text: string, indent: number): string => {
    const width = err.columns === undefined ? undefined : err.columns - indent;
    return `${wrapText(cleanText(text), width).join(`\n${" ".repeat(indent)}`)}\n`;
  };
  const { red, bold, dim } = err.colours;
  const item = details.index === undefined ? "" : `item ${details.index + 1}: `;
  const where = details.line === undefined ? item : `line ${details.line}: `;
  err.write(`${bold(red("error:"))} ${indented(where + details.message, 7)}`);
  const lines = [
    ["field", error instanceof RecorderError ? flagOf(details.field, options.flags) : details.field],
    ["hint", details.hint],
  ] as const;
  for (const [label, text] of lines) {
    if (text !== undefined && text !== "") err.write(`  ${dim(`${label}:`.padEnd(6))} ${indented(text, 9)}`);
  }
  return status;
}

/** The flag of a field that the library names; none if the command has no such flag. */
function flagOf(field: string | undefined, flags: ReadonlySet<string>): string | undefined {
  const name = flagNameOf(field ?? "");
  return flags.has(name) ? `--${name}` : undefined;
}

function describe(error: unknown): { readonly details: ErrorDetails; readonly status: ExitStatus } {
  if (error instanceof WrongUse) return { details: error.details, status: exitStatus.wrongUse };
  if (error instanceof Failed) return { details: error.details, status: exitStatus.failed };
  if (error instanceof InputStopped) return describeStopped(error);
  if (error instanceof RecorderError) {
    const { code, message, field, index, hint, least } = error;
    const details = { code, message, ...given({ field, index, hint, least }) };
    return { details, status: statusByRejection[code] };
  }
  if (error instanceof Fault) {
    const { code, message, hint } = error;
    return { details: { code, message, hint }, status: exitStatus.failed };
  }
  return { details: describeDefect(error), status: exitStatus.failed };
}

function describeStopped(stopped: InputStopped): { readonly details: ErrorDetails; readonly status: ExitStatus } {
  const { details, status } = describe(stopped.reason);
  // The index within the batch is replaced by that within the input.
  const { index: _, ...rest } = details;
  const hint = [details.hint, stopped.advice].filter((text) => text !== undefined && text !== "").join(" ");
  const { line, index, recorded } = stopped;
  return { details: { ...rest, ...given({ line, index }), recorded, hint }, status };
}

/** An unexpected error is a bug; the stack is what a bug report needs. */
function describeDefect(error: unknown): ErrorDetails {
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  const isDebugging = (process.env.HANSARD_DEBUG ?? "") !== "";
  return {
    code: "defect",
    message: isDebugging ? stack : message,
    hint: "This is a bug in Hansard. Please report it, with the output of HANSARD_DEBUG=1.",
  };
}

function given<T extends object>(optional: T): { [N in keyof T]?: Exclude<T[N], undefined> } {
  const pairs = Object.entries(optional).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as { [N in keyof T]?: Exclude<T[N], undefined> };
}
