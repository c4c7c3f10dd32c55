// Flags of operations: declared from their parameters, and read back by parameter name.
import { Command } from "commander";
import { expect, test } from "vitest";
import { operations } from "../../operations/index.js";
import type { AnyOperation } from "../../operations/operation.js";
import { streams } from "../../operations/streams.js";
import type { CommandModule } from "./command.js";
import { exportCommand } from "./commands/export.js";
import { historyCommand } from "./commands/history.js";
import { listCommand } from "./commands/list.js";
import { memoriesCommand } from "./commands/memories.js";
import { recallCommand } from "./commands/recall.js";
import { reflectCommand } from "./commands/reflect.js";
import { searchCommand } from "./commands/search.js";
import { sessionsCommand } from "./commands/sessions.js";
import { tailCommand } from "./commands/tail.js";
import { flagsOfOperations } from "./flag-names.js";
import { attributesOf, defineFlags, flagsGiven } from "./operation-command.js";

const { listEntries, listInteractions, search, sessionHistory, reflect } = operations;
const { listSessions, listSessionEntries, getHistory, listMemories, recall } = operations;

test("a switch is on if it is given, and dashes are part of a name", () => {
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

function parsed(asked: readonly Pick<AnyOperation, "input">[], args: readonly string[]) {
  return defineFlags(new Command("ask").exitOverride(), ...asked)
    .parse(args, { from: "user" })
    .opts();
}

test("given options are read by parameter name, and the rest is left out", () => {
  const options = parsed([listEntries], ["--session", "s:1", "--since", "7d", "--limit", "5", "--project", ""]);
  expect(flagsGiven(options, listEntries)).toEqual({ session_id: "s:1", since: "7d", limit: "5", project: "" });
});

test("two operations that share a command each read their own", () => {
  const options = parsed([listEntries, listInteractions], ["--memory", "m", "--kind", "error", "--client", "-"]);
  expect(flagsGiven(options, listEntries)).toEqual({ client: "-", kind: "error" });
  expect(flagsGiven(options, listInteractions)).toEqual({ client: "-", memory: "m" });
});

test("operations of one command share their flags, and the help says which default is whose", () => {
  const flags = flagsOfOperations([listSessions, listSessionEntries]);
  expect(flags.map(({ name }) => name)).toEqual([
    ...["project", "client", "since", "until", "user", "tag", "title", "parent", "sort", "order", "limit", "cursor"],
  ]);
  expect(flags.find(({ name }) => name === "limit")?.says).toContain("(50 sessions, 100 entries)");
  expect(flags[0]?.says).toContain("only sessions with an entry of this project");
});

test.each<[string, CommandModule, readonly Pick<AnyOperation, "input">[]]>([
  ["list", listCommand, [listEntries, listInteractions]],
  ["search", searchCommand, [search, sessionHistory]],
  ["reflect", reflectCommand, [reflect]],
  ["tail", tailCommand, [streams.tail]],
  ["export", exportCommand, [streams.export]],
  ["sessions", sessionsCommand, [listSessions, listSessionEntries]],
  ["history", historyCommand, [getHistory]],
  ["memories", memoriesCommand, [listMemories]],
  ["recall", recallCommand, [recall]],
])("%s has a flag for every parameter of its operations", (name, module, carriedOut) => {
  const command = new Command(name);
  module.define(command);
  const flags = command.options.map(({ long }) => long);
  expect(flags).toEqual(expect.arrayContaining(flagsOfOperations(carriedOut).map((flag) => `--${flag.name}`)));
});
