// Flags of questions: declared from the table, and read back by the names of the parameters.
import { Command } from "commander";
import { expect, test } from "vitest";
import { flagsOf, type QuestionName } from "../../search/question-rules.js";
import type { CommandModule } from "./command.js";
import { exportCommand } from "./commands/export.js";
import { listCommand } from "./commands/list.js";
import { reflectCommand } from "./commands/reflect.js";
import { searchCommand } from "./commands/search.js";
import { tailCommand } from "./commands/tail.js";
import { defineQuestion, readQuestion } from "./question-options.js";

function parsed(questions: readonly QuestionName[], args: readonly string[]) {
  return defineQuestion(new Command("ask").exitOverride(), ...questions)
    .parse(args, { from: "user" })
    .opts();
}

test("what was given is read by the names of the parameters, and the rest left out", () => {
  const options = parsed(["entries"], ["--session", "s:1", "--since", "7d", "--limit", "5", "--project", ""]);
  expect(readQuestion(options, "entries")).toEqual({ session_id: "s:1", since: "7d", limit: "5", project: "" });
});

test("of two questions that share a command each reads its own", () => {
  const options = parsed(["entries", "interactions"], ["--memory", "m", "--kind", "error", "--client", "-"]);
  expect(readQuestion(options, "entries")).toEqual({ client: "-", kind: "error" });
  expect(readQuestion(options, "interactions")).toEqual({ client: "-", memory: "m" });
});

test.each<[string, CommandModule, readonly QuestionName[]]>([
  ["list", listCommand, ["entries", "interactions"]],
  ["search", searchCommand, ["search", "session_history"]],
  ["reflect", reflectCommand, ["reflection"]],
  ["tail", tailCommand, ["tail"]],
  ["export", exportCommand, ["export"]],
])("%s has a flag for all that its questions are asked with", (name, module, questions) => {
  const command = new Command(name);
  module.define(command);
  const flags = command.options.map(({ long }) => long);
  expect(flags).toEqual(expect.arrayContaining(flagsOf(questions).map((flag) => `--${flag.name}`)));
});
