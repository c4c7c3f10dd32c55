// Commands are shown as they would be typed in a shell.
import { expect, test } from "vitest";
import { givenText } from "./content-parts.js";
import { commandName, isShellTool, parseCommand, shellCommand, shellFolder, typedCommand } from "./shell-command.js";

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

test("a shell that is given as a list of words is left out of what was typed", () => {
  expect(typedCommand({ command: ["/bin/zsh", "-lc", "npm test"] })).toBe("npm test");
  expect(typedCommand({ cmd: "npm test" })).toBe("npm test");
  expect(typedCommand({ command: ["ls", "a b"] })).toBe("ls 'a b'");
  expect(shellFolder({ workdir: "/src", command: "ls" })).toBe("/src");
  expect(shellFolder({ workdir: 3 })).toBe("");
  for (const tool of ["Bash", "run_shell_command", "exec_command", "!"]) expect(isShellTool(tool)).toBe(true);
  for (const tool of ["Read", "edit", ""]) expect(isShellTool(tool)).toBe(false);
});

const bare = { folder: "", env: [], is_last_of_several: false, hides_exit: false };

test.each([
  ["npm test", { ...bare, core: "npm test", programs: ["npm"] }],
  [
    "cd web && npm  run build 2>&1 | tail -3",
    { folder: "web", core: "npm run build", hides_exit: true, programs: ["cd", "npm", "tail"] },
  ],
  ["cd a && cd b && ls", { folder: "a/b", core: "ls" }],
  ["CI=1 FOO='a b' npx vitest run", { env: ["CI=1", "FOO='a b'"], core: "npx vitest run", programs: ["npx"] }],
  ["timeout 60 cargo test", { core: "cargo test" }],
  ["npm run lint || true", { core: "npm run lint", hides_exit: true }],
  ["make; echo $?", { core: "make", hides_exit: true }],
  ["npm run build && npm test", { core: "npm test", is_last_of_several: true }],
  ["grep -rn 'a | b && c' src > /tmp/out", { core: "grep -rn 'a | b && c' src", is_last_of_several: false }],
  ["/usr/bin/git status", { core: "/usr/bin/git status", programs: ["git"] }],
  ["echo $(ls | wc -l)", { core: "echo $(ls | wc -l)" }],
])("the parts of %j", (line, expected) => {
  expect(parseCommand(line)).toMatchObject(expected);
});

test("scripts, open quotes and long lines are no simple commands", () => {
  for (const line of [
    "",
    "a\nb",
    "cat <<EOF",
    "echo 'a",
    "for f in *; do ls; done",
    "(cd a; ls)",
    `ls ${"x".repeat(600)}`,
  ])
    expect(parseCommand(line)).toBeUndefined();
});

test.each([
  ["git commit -m 'x'", "git commit"],
  ["npm run build -- --watch", "npm run build"],
  ["python3 -m pytest -q", "python3 -m pytest"],
  ["./node_modules/.bin/tsc -b", "tsc"],
  ["ls -la", "ls"],
])("%j is called %j", (line, name) => {
  expect(commandName(parseCommand(line) as never)).toBe(name);
});
