// The flags of a question, and what was given with them: both follow from the table of questions.
import type { Command } from "commander";
import { flagsOf, type ParameterName, type QuestionName } from "../../search/question-rules.js";
import type { Invocation } from "./command.js";
import { attributeOf } from "./flag-names.js";

/** Declares the flags of a question, or of several that one command asks, each once. */
export function defineQuestion(command: Command, ...questions: readonly QuestionName[]): Command {
  for (const { name, value, says } of flagsOf(questions)) {
    command.option(value === undefined ? `--${name}` : `--${name} <${value}>`, says);
  }
  return command;
}

/** What was given for a question, as text and by the names of its parameters; what was not given is left out. */
export function readQuestion<Q extends QuestionName>(
  options: Invocation["options"],
  question: Q,
): { readonly [name in ParameterName<Q>]?: string } {
  const given: { [name: string]: string } = {};
  for (const { name, parameter } of flagsOf([question])) {
    const value = options[attributeOf(name)];
    if (value !== undefined) given[parameter] = String(value);
  }
  return given as { [name in ParameterName<Q>]?: string };
}

/** What a question's flags are called among the options that were parsed. */
export function optionNamesOf(question: QuestionName): readonly string[] {
  return flagsOf([question]).map(({ name }) => attributeOf(name));
}
