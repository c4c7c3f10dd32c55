// A command of operations: its arguments, flags, help and document follow from them; how an answer looks to a person does not.
import type { Command } from "commander";
import type { Recorder } from "../../index.js";
import { type Noun, RecorderError } from "../../model/rejection.js";
import { sessionId } from "../../operations/ids.js";
import { type AnyOperation, missingFrom } from "../../operations/operation.js";
import type { Input } from "../../search/filters.js";
import { type CommandModule, helpText, type Invocation, notePartial, withQuestion } from "./command.js";
import { exitStatus } from "./failures.js";
import { attributeOf, flagsOfOperations } from "./flag-names.js";
import { localBound } from "./local-times.js";
import { sessionIdFor } from "./named-session.js";
import { documentText, type Pane } from "./text/terminal.js";

/** What was given for an operation, by the names of its parameters. */
export type Given = { readonly [name: string]: string };

/** What a person sees of an answer. The recorder is still open. */
export type Print<A> = (answer: A, out: Pane, shown: Shown) => string | Promise<string>;

interface Shown {
  readonly given: Given;
  readonly operation: AnyOperation;
  readonly invocation: Invocation;
  readonly recorder: Recorder;
}

interface More<A> {
  /** Options that belong to no operation. */
  readonly define?: (command: Command) => void;
  /** How the store is opened. */
  readonly opening?: (settings: Invocation["settings"]) => { readonly prices?: string | undefined };
  /** What is asked with besides what was given. */
  readonly ask?: (invocation: Invocation) => { readonly [name: string]: unknown };
  /** Which of the operations is asked for; the first unless it says. What cannot be asked for together is refused here. */
  readonly choose?: (invocation: Invocation) => AnyOperation;
  /** What the document has in addition to the answer. */
  readonly extend?: (answer: A, invocation: Invocation) => A;
  /** What is said on stderr once a person has seen the answer. */
  readonly tell?: (answer: A, invocation: Invocation) => void;
}

/** A command that carries out one of its operations. */
export function operationCommand<A extends object>(
  operations: readonly [AnyOperation, ...AnyOperation[]],
  print: Print<A>,
  { define, opening, ask, choose, extend = (answer) => answer, tell }: More<A> = {},
): CommandModule {
  return {
    define: (command) => defineCommand(command, operations, define),

    async run(invocation: Invocation) {
      const { screen, json, settings } = invocation;
      const operation = choose?.(invocation) ?? operations[0];
      const { answer, text } = await withQuestion({ ...invocation, ...opening?.(settings) }, async (recorder) => {
        const answer = extend(await answerOf<A>(recorder, operation, invocation, ask?.(invocation)), invocation);
        const shown = { given: givenFor(operation, invocation), operation, invocation, recorder };
        return {
          answer,
          text: json ? documentText(answer, screen.out) : await print(answer, screen.out, shown),
        };
      });
      if (operation.markdown === undefined) notePartial(answer, invocation);
      screen.out.write(text);
      if (!json) tell?.(answer, invocation);
      return exitStatus.done;
    },
  };
}

/** Declares what the operations of a command take, and their help. */
export function defineCommand(
  command: Command,
  operations: readonly AnyOperation[],
  define?: (command: Command) => void,
): void {
  const helps = operations.flatMap((operation) => (operation.command === undefined ? [] : [operation.command]));
  // What has the same name in several of them is one argument, as the first describes it.
  const operands = new Map<string, string>();
  for (const { name, description } of helps.flatMap((help) => help.operands ?? [])) {
    if (!operands.has(name)) operands.set(name, description);
  }
  for (const [name, description] of operands) command.argument(name, description);
  defineFlags(command, ...operations);
  define?.(command);
  if (!command.options.some(({ long }) => long === "--json")) command.option("--json", "print JSON");
  const prose = helps.flatMap(({ prose }) => prose ?? []);
  command.addHelpText(
    "after",
    helpText(
      prose,
      helps.flatMap(({ examples = [] }) => examples),
    ),
  );
}

/** Carries an operation out with what was given on the command line. */
export async function answerOf<A>(
  recorder: Recorder,
  operation: AnyOperation,
  invocation: Invocation,
  own: { readonly [name: string]: unknown } = {},
): Promise<A> {
  const options = await withNamedSession(recorder, operation, { ...givenFor(operation, invocation), ...own });
  const answer = await recorder.operate(operation, options).catch((error) => {
    throw invocation.json ? error : withoutOperand(error, operation);
  });
  if (answer === undefined) throw missingFrom(operation, options, moreByNoun[operation.missing ?? "entry"]);
  return answer as A;
}

/** What names a session may be the beginning of its id. */
async function withNamedSession(
  recorder: Recorder,
  { missing, input }: AnyOperation,
  options: { readonly [name: string]: unknown },
): Promise<{ readonly [name: string]: unknown }> {
  const name = missing === "session" || input.id === sessionId ? "id" : "session_id";
  const given = options[name];
  if (typeof given !== "string" || !(name in input)) return options;
  return { ...options, [name]: await sessionIdFor(recorder, given) };
}

/** An error about an operand names no flag. */
function withoutOperand(error: unknown, { command }: AnyOperation): unknown {
  if (!(error instanceof RecorderError)) return error;
  const operand = command?.operands?.find(({ parameter }) => parameter === error.field);
  if (operand === undefined) return error;
  const { field: _, hint = "", ...details } = error;
  return new RecorderError({ ...details, message: error.message, hint: operand.hint ?? hint });
}

/** An additional hint if something does not exist. */
const moreByNoun: { readonly [N in Noun]?: { readonly hint?: string } } = {
  entry: { hint: "Give an id or a position such as 12. `hansard list` shows both." },
  session: { hint: "`hansard sessions` lists the ids. They are case-sensitive." },
};

/** Declares the flags of an operation, or of several that one command carries out. */
export function defineFlags(command: Command, ...operations: readonly Pick<AnyOperation, "input">[]): Command {
  for (const { name, value, says } of flagsOfOperations(operations)) {
    command.option(value === undefined ? `--${name}` : `--${name} <${value}>`, says);
  }
  return command;
}

/** The values given with the flags of an operation, by parameter name. */
export function flagsGiven<I extends Input>(
  options: Invocation["options"],
  { input }: { readonly input: I },
): { readonly [name in keyof I & string]?: string } {
  const given: { [name: string]: string } = {};
  for (const { name, parameter } of flagsOfOperations([{ input }])) {
    const value = options[attributeOf(name)];
    if (value !== undefined) given[parameter] = localBound(parameter, String(value));
  }
  return given as { [name in keyof I & string]?: string };
}

/** The names of an operation's flags among the parsed options. */
export function attributesOf(operation: Pick<AnyOperation, "input">): readonly string[] {
  return flagsOfOperations([operation]).map(({ name }) => attributeOf(name));
}

/** The values given on the command line, by an operation's parameter names. */
function givenFor({ input, command }: AnyOperation, { options, operands }: Invocation): Given {
  const given: { [name: string]: string } = { ...(flagsGiven(options, { input }) as Given) };
  for (const [at, { name, parameter }] of (command?.operands ?? []).entries()) {
    const words = name.includes("...") ? operands.slice(at) : operands.slice(at, at + 1);
    if (words.length > 0) given[parameter] = words.join(" ");
  }
  return given;
}
