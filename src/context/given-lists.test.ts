// Contexts behind a list of what the model is given from there on: in the list's order, and never less than what is known.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import { assistant, type SessionEntry, system, user } from "../../test/support/recorded-session.js";
import type { EntryInput } from "../index.js";

const list = (...given_list: readonly unknown[]): SessionEntry => ({
  ...{ kind: "raw", source: "tool", record: {} },
  extra: { given_list },
});

/** The contents of the context of the last entry; entries have the ids e1, e2 and so on. */
async function contextOf(...entries: readonly SessionEntry[]): Promise<readonly unknown[]> {
  const { recorder } = memoryRecorder();
  const placed = entries.map((entry, at) => ({ id: `e${at + 1}`, session_id: "s", ...entry }) as EntryInput);
  await recorder.append([{ kind: "session_info", session_id: "s", metadata: { source: { tool: "t" } } }, ...placed]);
  const context = await recorder.context(`e${entries.length}`);
  return (context?.messages ?? []).map(({ content }) => content);
}

const talk = [user("one"), assistant("first"), user("two"), assistant("second")];

test("are the listed entries in their order, and what came later", async () => {
  expect(await contextOf(...talk, list("e3", "e1"), user("three"), assistant("third"))).toEqual([
    "two",
    "one",
    "three",
  ]);
});

test("have a summary where the list names its consolidation, and results with their calls wherever these stand", async () => {
  const called = assistant("look", "c1");
  const found = { kind: "tool_call", tool: "read", result: "seen", tool_call_id: "c1" };
  const summary = { kind: "consolidation", through: 0, summary: "Short." };
  expect(await contextOf(user("one"), called, summary, list("e1", "e3", "e2"), found, assistant("done"))).toEqual([
    ...["one", "Short.", "look", "seen"],
  ]);
});

test("have the rest of a message that was recorded while it was being written", async () => {
  const rest = { ...assistant("", "c1"), id: "e2:1", extra: { continues: "e2" } };
  const found = { kind: "tool_call", id: "e3", tool: "read", result: "seen", tool_call_id: "c1" };
  const other = { ...user("another"), id: "e1:1" };
  const entries = [user("one"), assistant("look"), rest, found, other, list("e2", "e3", "e1"), user("two")];
  expect(await contextOf(...entries, assistant("done"))).toEqual(["look", "", "seen", "one", "two"]);
});

test("have the system's own words, and of those that a program put there what is listed or came later", async () => {
  const added = (text: string): SessionEntry => ({ ...system(text), injected: "other" });
  const entries = [system("Be kind."), added("old"), added("kept"), user("one"), list("e3", "e4"), added("new")];
  expect(await contextOf(...entries, assistant("a"))).toEqual(["Be kind.", "kept", "new", "one"]);
});

test.each([
  ["names an entry that is missing", [list("e1", "gone")]],
  ["names nothing", [list()]],
  ["names what comes later", [list("e1", "e7")]],
  [
    "stands before a clear, which is newer",
    [list("e1"), { kind: "clear" }, user("one"), assistant("first"), user("two")],
  ],
] as const)("are the session's history where the list %s", async (_, behind) => {
  const isCleared = behind.length > 1;
  const history = isCleared ? ["one", "first", "two"] : ["one", "first", "two", "second"];
  expect(await contextOf(...talk, ...behind, user("three"), assistant("third"))).toEqual([...history, "three"]);
});

test("name an entry once, however often a list does, and a list of far too many is not used", async () => {
  expect(await contextOf(user("one"), list("e1", "e1", "e1"), assistant("a"))).toEqual(["one"]);
  const many = Array.from({ length: 20_001 }, (_, at) => `x${at}`);
  expect(await contextOf(user("one"), list("e1", ...many), assistant("a"))).toEqual(["one"]);
});

test("have nothing of another session, and only the newest list counts", async () => {
  const other = { ...user("secret"), session_id: "other" };
  expect(await contextOf(other, user("one"), list("e2"), list("e1", "e2"), assistant("a"))).toEqual(["one"]);
});
