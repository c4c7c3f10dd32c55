// A command of an operation: its flags, its help and its document follow from the operation; how it looks to a person does not.
import type { Command } from "commander";
import { type Noun, RecorderError } from "../../model/rejection.js";
import { type AnyOperation, missingFrom } from "../../operations/operation.js";
import type { Input } from "../../search/input.js";
import { type CommandModule, helpText, type Invocation, withQuestion } from "./command.js";
import { exitStatus } from "./failures.js";
import { attributeOf, flagsOfOperations } from "./flag-names.js";
import { documentText, type Pane } from "./text/terminal.js";

/** What a person sees of an answer. */
export type Print<A> = (
  answer: A,
  out: Pane,
  options: GivenOptions,
  settings: Invocation["settings"],
) => string | Promise<string>;

/** What a command has in addition to its operation: an option of its own, such as how the store is opened. */
interface More {
  readonly define: (command: Command) => void;
  readonly opening: (settings: Invocation["settings"]) => { readonly prices?: string | undefined };
}

type GivenOptions = { readonly [name: string]: string };

export function operationCommand<A>(operation: AnyOperation, print: Print<A>, more?: More): CommandModule {
  const { operands = [], prose = "", examples = [] } = operation.command ?? {};
  return {
    define(command: Command): void {
      for (const { name, description } of operands) command.argument(name, description);
      defineFlags(command, operation);
      more?.define(command);
      command.option("--json", "print JSON").addHelpText("after", helpText(prose === "" ? [] : [prose], examples));
    },

    async run(invocation: Invocation) {
      const { screen, json, settings } = invocation;
      const options = optionsGiven(invocation, operation);
      const opening = { ...invocation, ...more?.opening(settings) };
      const answer = await withQuestion(opening, (recorder) => recorder.operate(operation, options)).catch((error) => {
        throw withoutFlag(error, operation);
      });
      if (answer === undefined) throw missingFrom(operation, options, moreByNoun[operation.missing ?? "entry"]);
      screen.out.write(
        json ? documentText(answer as object, screen.out) : await print(answer as A, screen.out, options, settings),
      );
      return exitStatus.done;
    },
  };
}

/** An error about an operand names no flag. */
function withoutFlag(error: unknown, { command }: AnyOperation): unknown {
  const isOperand = (field: string | undefined) => command?.operands.some(({ parameter }) => parameter === field);
  if (!(error instanceof RecorderError) || !isOperand(error.field)) return error;
  const { field: _, ...details } = error;
  return new RecorderError({ ...details, message: error.message });
}

/** What else is said of something that is not there. */
const moreByNoun: { readonly [N in Noun]?: { readonly hint?: string } } = {
  entry: { hint: "Give an id or a position such as 12. `hansard list` shows both." },
};

/** Declares the flags of an operation, or of several that one command carries out. */
export function defineFlags(command: Command, ...operations: readonly Pick<AnyOperation, "input">[]): Command {
  for (const { name, value, says } of flagsOfOperations(operations)) {
    command.option(value === undefined ? `--${name}` : `--${name} <${value}>`, says);
  }
  return command;
}

/** What was given with the flags of an operation, by the names of its parameters. */
export function flagsGiven<I extends Input>(
  options: Invocation["options"],
  { input }: { readonly input: I },
): { readonly [name in keyof I & string]?: string } {
  const given: { [name: string]: string } = {};
  for (const { name, parameter } of flagsOfOperations([{ input }])) {
    const value = options[attributeOf(name)];
    if (value !== undefined) given[parameter] = String(value);
  }
  return given as { [name in keyof I & string]?: string };
}

/** What an operation's flags are called among the options that were parsed. */
export function attributesOf(operation: Pick<AnyOperation, "input">): readonly string[] {
  return flagsOfOperations([operation]).map(({ name }) => attributeOf(name));
}

/** What was given on the command line, by the names of an operation's parameters. */
function optionsGiven({ options, operands }: Invocation, { input, command }: AnyOperation): GivenOptions {
  const given: { [name: string]: string } = { ...(flagsGiven(options, { input }) as GivenOptions) };
  for (const [at, { name, parameter }] of (command?.operands ?? []).entries()) {
    const words = name.includes("...") ? operands.slice(at) : operands.slice(at, at + 1);
    if (words.length > 0) given[parameter] = words.join(" ");
  }
  return given;
}
