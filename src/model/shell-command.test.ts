// Commands are shown as they would be typed in a shell.
import { expect, test } from "vitest";
import { givenText, shellCommand } from "./content-parts.js";

test("a list of words is joined with shell quotes, and a command line stays as it is", () => {
  expect(shellCommand({ command: ["bash", "-lc", 'rg "it\'s" src | head'], workdir: "." })).toBe(
    "bash -lc 'rg \"it'\\''s\" src | head'",
  );
  expect(shellCommand({ command: ["ls", "", "a b", "x=1", "./y"] })).toBe("ls '' 'a b' x=1 ./y");
  expect(shellCommand({ cmd: "npm  test" })).toBe("npm  test");
  for (const args of [{ command: [1] }, { command: [] }, { path: "a" }, "ls", null, undefined])
    expect(shellCommand(args)).toBeUndefined();
});

test("a call with a list of words shows the command before its other arguments", () => {
  const args = { command: ["zsh", "-lc", "npm test"], timeout_ms: 10 };
  for (const given of [args, JSON.stringify(args)])
    expect(givenText(given)).toBe(`zsh -lc 'npm test' {"timeout_ms":10}`);
  expect(givenText({ command: ["ls"] })).toBe("ls");
  expect(givenText({ command: "ls" })).toBe('{"command":"ls"}');
});
