// Failing commands are grouped by what they do, and say why they fail.
import { expect, test } from "vitest";
import type { EntryOf } from "../model/entry.js";
import { CommandTally } from "./commands.js";

let position = 0;

function ran(command: unknown, result: string, more: object = {}): EntryOf<"tool_call"> {
  position += 1;
  const call = { kind: "tool_call", id: `e${position}`, position, tool: "Bash", args: { command }, result, ...more };
  return call as object as EntryOf<"tool_call">;
}

function found(calls: readonly EntryOf<"tool_call">[]) {
  const tally = new CommandTally((text) => text.replaceAll("hunter2", "••••"));
  for (const call of calls) tally.add(call);
  return tally.finish().map(({ command, calls: all, failures, error }) => [command, all, failures, error]);
}

const failed = { is_error: true };

test("by program and subcommand, with the line that ended most errors, most failures first", () => {
  expect(
    found([
      ran("cd app && npm run build --silent", "x\nerror TS2304: no name\n", failed),
      ran(["bash", "-lc", "npm run build"], "y\nerror TS2304: no name\nExit code 2", failed),
      ran("npm run build", "another", failed),
      ran("npm run build", "fine"),
      ran("CI=1 git push origin main", "rejected", { ...failed, tool: "bash" }),
      ran("ls /nowhere", "", failed),
      ran("cat <<EOF\nx\nEOF", "bad", { ...failed, tool: "shell" }),
      ran("echo hunter2", "token hunter2 refused", failed),
      ran("git status", "clean"),
      ran("rm x", "failed", { ...failed, tool: "Weather" }),
    ]),
  ).toEqual([
    ["npm run build", 4, 3, "error TS2304: no name"],
    ["cat", 1, 1, "bad"],
    ["echo", 1, 1, "token •••• refused"],
    ["git push", 1, 1, "rejected"],
    ["ls", 1, 1, ""],
  ]);
});

test("scripts, endless lines and strange arguments do no harm", () => {
  expect(
    found([
      ran("\n\n", "e", failed),
      ran(`${"a".repeat(100_000)} b`, "x".repeat(1_000_000), failed),
      ran({ a: 1 }, "e", failed),
      ran("for i in 1 2; do false; done", "e", failed),
    ]).map(([command]) => String(command).slice(0, 10)),
  ).toEqual(["aaaaaaaaaa", "for"]);
});
