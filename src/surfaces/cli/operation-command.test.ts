// Flags of operations: declared from their parameters, and read back by the names of these.
import { Command } from "commander";
import { expect, test } from "vitest";
import { operations } from "../../operations/index.js";
import type { AnyOperation } from "../../operations/operation.js";
import type { CommandModule } from "./command.js";
import { historyCommand } from "./commands/history.js";
import { memoriesCommand } from "./commands/memories.js";
import { recallCommand } from "./commands/recall.js";
import { sessionsCommand } from "./commands/sessions.js";
import { flagsOfOperations } from "./flag-names.js";
import { attributesOf, defineFlags, flagsGiven } from "./operation-command.js";

const { listSessions, listSessionEntries, getHistory, listMemories, recall } = operations;

test("a switch is on where it is given, and dashes are part of a name", () => {
  const command = defineFlags(new Command("ask").exitOverride(), getHistory);
  const options = command.parse(["--include-pending", "--max-messages", "20"], { from: "user" }).opts();
  expect(flagsGiven(options, getHistory)).toEqual({ include_pending: "true", max_messages: "20" });
  expect(attributesOf(getHistory)).toEqual([
    "maxMessages",
    "maxTokens",
    "format",
    "includePending",
    "include",
    "masked",
  ]);
});

test("operations that one command carries out share their flags, and name what their defaults are of", () => {
  const flags = flagsOfOperations([listSessions, listSessionEntries]);
  expect(flags.map(({ name }) => name)).toEqual(["project", "client", "limit", "cursor", "order"]);
  expect(flags.find(({ name }) => name === "limit")?.says).toContain("(50 sessions, 100 entries)");
  expect(flags[0]?.says).toContain("only sessions with an entry of this project");
});

test.each<[string, CommandModule, readonly AnyOperation[]]>([
  ["sessions", sessionsCommand, [listSessions, listSessionEntries]],
  ["history", historyCommand, [getHistory]],
  ["memories", memoriesCommand, [listMemories]],
  ["recall", recallCommand, [recall]],
])("%s has a flag for all that its operations take", (name, module, carriedOut) => {
  const command = new Command(name);
  module.define(command);
  const flags = command.options.map(({ long }) => long);
  expect(flags).toEqual(expect.arrayContaining(flagsOfOperations(carriedOut).map((flag) => `--${flag.name}`)));
});
