// Commands in hints name the given store, quoted for a shell, and without a password.
import { expect, test } from "vitest";
import { commandLine, hintText } from "./hints.js";

test.each([
  ["./record", "`hansard doctor --data ./record` says more."],
  ["~/my record", "`hansard doctor --data '~/my record'` says more."],
  ["it's", "`hansard doctor --data 'it'\\''s'` says more."],
  ["postgres://h:secret@db/h", "`hansard doctor --data 'postgres://h:***@db/h'` says more."],
  [undefined, "`hansard doctor` says more."],
])("--data %s", (given_data, hint) => {
  expect(hintText("`hansard doctor` says more.", { given_data })).toBe(hint);
});

test("keys are not created through a server", () => {
  const given = { given_data: "https://record.example.com" };
  expect(hintText("`hansard keys list`, then `hansard list`", given)).toBe(
    "`hansard keys list`, then `hansard list --data https://record.example.com/`",
  );
});

test("every command of a sentence has it, except those that show help or have it already", () => {
  const given = { given_data: "r" };
  const text = "`hansard keys list`, `hansard list --help`, `hansard seal --data r`, hansard and `-H 'a: b'`";
  expect(hintText(text, given)).toBe(
    "`hansard keys list --data r`, `hansard list --help`, `hansard seal --data r`, hansard and `-H 'a: b'`",
  );
  expect(commandLine("hansard keys list", given)).toBe("hansard keys list --data r");
});
