// Rules on commands: what each class learns, when, in which words, and what it leaves alone.
import { describe, expect, test } from "vitest";
import type { EntryOf } from "../../../model/entry.js";
import { noMask } from "../../../model/mask.js";
import { judge } from "../../judge/gates.js";
import { quotedEntry } from "../../text/quoted-entry.js";
import { Stems } from "../../text/stems.js";
import { CommandLessons } from "./lessons.js";
import { stepsIn } from "./runs.js";

interface Called {
  readonly run?: unknown;
  readonly read?: string;
  readonly edit?: string;
  readonly in?: string;
  readonly says?: unknown;
  /** The exit code that the tool reports by `is_error`; 0 by default. */
  readonly fails?: boolean | undefined;
  readonly session?: string;
  readonly project?: string;
}

const ok = (run: unknown, says: unknown = "ok", more: object = {}): Called => ({ run, says, fails: false, ...more });
const bad = (run: unknown, says: unknown, more: object = {}): Called => ({ run, says, fails: true, ...more });
const inSession = (session: string, ...calls: readonly Called[]) => calls.map((call) => ({ session, ...call }));
const times = (count: number, call: Called) => Array.from({ length: count }, () => call);

function entryOf(
  { run, read, edit, in: workdir, says, fails, session = "s1", project = "atlas" }: Called,
  nth: number,
) {
  const path = read ?? edit;
  return {
    id: `e${nth}`,
    kind: "tool_call",
    tool: path === undefined ? "Bash" : read === undefined ? "Edit" : "Read",
    session_id: session,
    project,
    args: path === undefined ? { command: run, ...(workdir === undefined ? {} : { workdir }) } : { file_path: path },
    result: says === undefined ? null : says,
    ...(fails === undefined ? {} : { is_error: fails }),
  } as unknown as EntryOf<"tool_call">;
}

function learned(calls: readonly Called[], mask = noMask): readonly string[] {
  const lessons = new CommandLessons();
  const entries = calls.map(entryOf);
  for (const entry of entries) for (const step of stepsIn(entry, mask)) lessons.add(step);
  const quotedEntries = new Map(entries.map((entry) => [entry.id, quotedEntry(entry)] as const));
  return lessons.newProposals().map(({ proposal }) => {
    expect(proposal).toMatchObject({ source: "rule:commands", project: calls[0]?.project ?? "atlas" });
    // Every statement passes the gates as it is made.
    const entriesById = new Map(
      [...quotedEntries].flatMap(([id, quoted]) => (quoted === undefined ? [] : [[id, quoted]])),
    );
    const judged = judge(proposal, { entriesById, given: [], memories: [] }, new Stems());
    expect(judged).toHaveProperty("kept");
    return proposal.content;
  });
}

describe("a program that is not installed", () => {
  test.each<[string, readonly Called[], readonly string[]]>([
    [
      "with its substitute within six calls",
      [bad("rg -n foo src", "zsh: command not found: rg"), ok("ls"), ok("grep -rn foo src")],
      ["`rg` is not installed where the agent runs; `grep` works"],
    ],
    [
      "behind a pipe, where the exit code says nothing",
      [ok("python script.py | tail -3", "bash: line 1: python: command not found"), ok("python3 script.py | tail -3")],
      ["`python` is not installed where the agent runs; `python3` works"],
    ],
    [
      "seen twice",
      [bad("htop", "sh: 1: htop: not found"), bad("htop -d 5", "sh: 1: htop: not found")],
      ["`htop` is not installed where the agent runs"],
    ],
    ["seen once", [bad("htop", "sh: 1: htop: not found")], []],
    [
      "which worked later",
      [bad("rg a", "rg: command not found"), ok("grep a b"), ok("apt-get install ripgrep"), ok("rg a")],
      [],
    ],
    ["that only a script calls", times(2, bad("./build.sh", "./build.sh: line 3: jq: command not found")), []],
  ])("%s", (_, calls, expected) => {
    expect(learned(calls)).toEqual(expected);
  });
});

const npm = "npm ERR! code EUNSUPPORTEDPROTOCOL\nnpm ERR! Unsupported URL Type workspace:";

describe("another form of a command", () => {
  test.each<[string, readonly Called[], readonly string[]]>([
    [
      "another program, in two sessions",
      [
        ...inSession("s1", bad("npm install", npm), ok("pnpm install")),
        ...inSession("s2", bad("npm install", npm), ok("pnpm install")),
      ],
      ["Use `pnpm`, not `npm`: `npm install` fails (Unsupported URL Type workspace)"],
    ],
    ["in one session, once", [bad("npm install", npm), ok("pnpm install")], []],
    [
      "in one session, the fixed form used twice",
      [bad("cargo tree --foo", "error: unexpected argument '--foo' found"), ok("cargo tree"), ok("cargo tree")],
      ["`cargo tree --foo` fails (error: unexpected argument '--foo' found); `cargo tree` works"],
    ],
    [
      "with a variable",
      [
        bad("bin/rails db:seed", "ActiveRecord: missing RAILS_ENV"),
        ...times(2, ok("RAILS_ENV=test bin/rails db:seed")),
      ],
      ["`bin/rails db:seed` fails (ActiveRecord: missing RAILS_ENV); `RAILS_ENV=test bin/rails db:seed` works"],
    ],
    [
      "in another folder",
      [bad("npm run dev", 'npm error Missing script: "dev"'), ...times(2, ok("cd web && npm run dev"))],
      ['Run `npm run dev` in `web`: elsewhere it fails (Missing script: "dev")'],
    ],
    [
      "of a script that is missing",
      [bad("npm run tests", 'npm error Missing script: "tests"'), ok("npm run spec"), ok("npm run spec")],
      ['`npm run tests` fails (Missing script: "tests"); `npm run spec` works'],
    ],
    ["a failing test is not a wrong command", [bad("go vet -x", "--- FAIL: TestA"), ...times(2, ok("go vet"))], []],
    [
      "what worked unchanged was not the problem",
      [bad("npm install", npm), ...times(2, ok("pnpm install")), ok("npm install")],
      [],
    ],
    [
      "git commit is a person's",
      [bad("git commit -m", "error: switch m requires a value"), ...times(2, ok("git commit"))],
      [],
    ],
    ["one source file", [bad("node a.js", "Error: Cannot find module 'x'"), ...times(2, ok("tsx a.js"))], []],
    ["looking around", [bad("ls -Q", "ls: invalid option -- Q"), ...times(2, ok("ls"))], []],
    ["no line that says why", [bad("make all", ""), ...times(2, ok("make all -k"))], []],
    [
      "more than twelve calls later",
      [bad("npm install", npm), ...times(12, ok("ls")), ...times(2, ok("pnpm install"))],
      [],
    ],
    [
      "the exit code stands in the text",
      [
        { run: "cargo tree --foo", says: "Exit code: 1\nOutput:\nerror: unexpected argument '--foo' found" },
        ...times(2, { run: "cargo tree", says: "Exit code: 0\nOutput:\nx" }),
      ],
      ["`cargo tree --foo` fails (error: unexpected argument '--foo' found); `cargo tree` works"],
    ],
    [
      "the exit code is metadata",
      [
        { run: "cargo tree --foo", says: '{"output":"error: unexpected argument","metadata":{"exit_code":1}}' },
        ...times(2, { run: "cargo tree", says: '{"output":"x","metadata":{"exit_code":0}}' }),
      ],
      [expect.stringContaining("`cargo tree` works") as unknown as string],
    ],
  ])("%s", (_, calls, expected) => {
    expect(learned(calls)).toEqual(expected);
  });
});

describe("a command that helps another one", () => {
  const lacks = bad("npm run dev", "Error: Cannot find module 'vite'");
  const round = [lacks, ok("npm ci"), ok("npm run dev")];

  test.each<[string, readonly Called[], readonly string[]]>([
    [
      "in two sessions",
      [...inSession("s1", ...round), ...inSession("s2", ...round)],
      ["When `npm run dev` fails (Error: Cannot find module 'vite'), `npm ci` helps"],
    ],
    ["once", round, []],
    [
      "between changes of files",
      [
        ...inSession("s1", lacks, { edit: "a.ts" }, ok("npm ci"), ok("npm run dev")),
        ...inSession("s2", lacks, { edit: "a.ts" }, ok("npm ci"), ok("npm run dev")),
      ],
      [],
    ],
  ])("%s", (_, calls, expected) => {
    expect(learned(calls)).toEqual(expected);
  });
});

describe("paths", () => {
  const glob = "zsh: no matches found: src/app/(auth)/page.tsx";
  test.each<[string, readonly Called[], readonly string[]]>([
    [
      "unquoted, twice",
      times(2, bad("cat src/app/(auth)/page.tsx", glob)),
      ["Quote paths such as `src/app/(auth)/page.tsx` in shell commands"],
    ],
    ["unquoted, once", [bad("cat src/app/(auth)/page.tsx", glob)], []],
    [
      "one folder further down, for two files",
      ["a", "b"].flatMap((name) => [
        { read: `/srv/atlas/pkg/src/${name}.ts`, says: "File does not exist.", fails: true },
        { read: `/srv/atlas/pkg/src/core/${name}.ts`, says: "export {}" },
      ]),
      ["Files of `pkg/src/` are in `pkg/src/core/`"],
    ],
    [
      "too large, in two sessions",
      ["s1", "s2"].map((session) => ({
        session,
        read: "/atlas/src/big/data.json",
        fails: true,
        says: "File content (301KB) exceeds maximum allowed size",
      })),
      ["Read of `big/data.json` fails (too large): use offset and limit"],
    ],
  ])("%s", (_, calls, expected) => {
    expect(learned(calls)).toEqual(expected);
  });
});

describe("commands of a project", () => {
  const clean = (run: string, count: number) => times(count, ok(run, "5 passed"));
  test.each<[string, readonly Called[], readonly string[]]>([
    ["four clean runs", clean("npm test", 4), ["Test: `npm test` (ran 4 times in 1 session, 4 without error)"]],
    ["three in one session", clean("npm test", 3), []],
    [
      "three in two sessions, in a folder",
      [
        ...inSession("s1", ...clean("cd /srv/atlas/api && go test ./... 2>&1 | tail -5", 2)),
        ...inSession("s2", ...clean("cd api && go test ./...", 1)),
      ],
      ["Test: `go test ./...` in `api` (ran 3 times in 2 sessions, 3 without error)"],
    ],
    [
      "the variant that ran most often, of each class",
      [
        ...clean("npm run build", 4),
        ...clean("npx vitest run", 4),
        ...clean("npm test", 5),
        ...clean("uv run ruff check .", 4),
      ],
      [
        "Build: `npm run build` (ran 4 times in 1 session, 4 without error)",
        "Test: `npm test` (ran 5 times in 1 session, 5 without error)",
        "Lint: `uv run ruff check .` (ran 4 times in 1 session, 4 without error)",
      ],
    ],
    ["mostly failing", [...clean("npm test", 3), ...times(4, bad("npm test", "2 failed"))], []],
    ["failing behind a pipe", times(4, ok("npm test | tail -3", "Tests: 2 failed, 3 passed")), []],
    [
      "failing behind a pipe, as only the runner says",
      times(4, ok("npm run build | tail -2", "npm error command failed\nnpm error command sh -c tsc")),
      [],
    ],
    [
      "one file, one test",
      [...clean("npx vitest run a.test.ts", 4), ...clean("pytest -k slow", 4), ...clean("npm test -- --watch", 4)],
      [],
    ],
    [
      "named in a memory file that the session read",
      [{ read: "/atlas/CLAUDE.md", says: "Run `npm test` first." }, ...clean("npm test", 4)],
      [],
    ],
    ["refused by the user", times(4, ok("npm test", "The user doesn't want to proceed with this tool use.")), []],
    [
      "in two projects of other names",
      [...clean("npm test", 2), ...times(2, { ...ok("npm test", "5 passed"), project: "borealis" })],
      [],
    ],
  ])("%s", (_, calls, expected) => {
    expect([...learned(calls)].sort()).toEqual([...expected].sort());
  });
});

test("a secret in a command is masked in the statement", () => {
  const mask = { text: (text: string) => text.replaceAll("hunter2", "[masked:value]") };
  const statements = learned(
    [
      ...times(2, bad("deploy --token hunter2 --fast", "error: unknown option --fast")),
      ...times(2, ok("deploy --token hunter2")),
    ],
    mask as typeof noMask,
  );
  expect(statements).toEqual([
    "`deploy --token [masked:value] --fast` fails (error: unknown option --fast); `deploy --token [masked:value]` works",
  ]);
});

test("long commands, scripts, odd arguments and huge outputs teach nothing and take no time", () => {
  const huge = `${"npm error x\n".repeat(200_000)}`;
  const calls = [
    bad(`echo ${"x".repeat(4_000)}`, "error: x"),
    bad("cat <<EOF\nrm\nEOF", "error: x"),
    bad(["bash", "-lc", 3], "error"),
    bad(7, "error"),
    ok("npm test", huge),
    bad("npm test", { deep: [[["error"]]] }),
    ok("a".repeat(500)),
    bad(`${"(".repeat(400)}`, huge),
  ];
  const began = performance.now();
  expect(learned(calls)).toEqual([]);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a lesson is proposed again only when another session shows it", () => {
  const lessons = new CommandLessons();
  const add = (session: string, nth: number) => {
    for (const step of stepsIn(entryOf(ok("npm test", "5 passed", { session }), nth), noMask)) lessons.add(step);
  };
  const propose = () => lessons.newProposals().map(({ proposal, done }) => [proposal.evidence.length, done()][0]);
  for (let nth = 0; nth < 4; nth += 1) add("s1", nth);
  expect(propose()).toEqual([2]);
  expect(propose()).toEqual([]);
  add("s1", 5);
  expect(propose()).toEqual([]);
  add("s2", 6);
  expect(propose()).toEqual([3]);
});
