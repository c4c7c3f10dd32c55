// The command line as a whole: help, version, settings, and what wrong use gets told.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, readJson, runCli } from "./cli-run.js";

const commandNames = [
  ...["serve", "record", "list", "show", "sessions", "history", "import", "export", "stats", "verify", "doctor"],
];

test("hints name the store that --data named, on both sides of the command, and as JSON", async () => {
  const folder = folderOfTest();
  await fillStore(join(folder, "my record"), interactions(1));
  const given = ["--data", "my record"];
  const { stderr } = await runCli(["show", "nobody", ...given], { cwd: folder });
  expect(stderr).toContain("`hansard list --data 'my record'` shows both");
  const { hint } = await readError([...given, "sessions", "nobody"], { cwd: folder });
  expect(hint).toContain("`hansard sessions --data 'my record'`");
  const { stdout } = await runCli(["keys", "list", ...given], { cwd: folder });
  expect(stdout).toContain("hansard keys create --scope admin --data 'my record'\n");
  // What the environment says holds for the next command too.
  expect((await readError(["show", "nobody"], { data: join(folder, "my record") })).hint).toContain(
    "`hansard list` shows",
  );
});

describe("help and version", () => {
  test("--version prints the version of the package, alone", async () => {
    const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
    for (const flag of ["--version", "-V"]) {
      expect(await runCli([flag])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
    }
  });

  test("--help names every command, on stdout", async () => {
    const { status, stdout, stderr } = await runCli(["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
  });

  test("--help groups the commands, each on one line of 80 columns", async () => {
    const { stdout } = await runCli(["--help"]);
    const sections = stdout.split("\n\n").map((section) => section.split("\n"));
    const groups = sections.filter(([title = ""]) => /^(Record|Find|Understand|Learn|Verify|Operate):$/.test(title));
    expect(groups.map(([title]) => title)).toEqual([
      "Record:",
      "Find:",
      "Understand:",
      "Learn:",
      "Verify:",
      "Operate:",
    ]);
    const lines = groups.flatMap(([, ...rest]) => rest);
    const names = lines.map((line) => /^ {2}(\S+) +\S/.exec(line)?.[1]);
    expect(names).toEqual(expect.arrayContaining([...commandNames]));
    expect(names).not.toContain(undefined);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("the help of a list names some kinds, and a wrong kind names all of them", async () => {
    for (const name of ["list", "search", "tail", "export"]) {
      const { stdout } = await runCli([name, "--help"]);
      expect(stdout).toMatch(/--kind <kinds> +only these kinds, comma separated: message/);
      expect(stdout).not.toContain("memory_superseded");
    }
    const { stderr } = await runCli(["list", "--kind", "x"], { data: folderOfTest() });
    expect(stderr.replace(/\s+/g, " ")).toContain("memory_superseded");
  });

  test.each(commandNames)("%s has help with an example, by flag and by the help command", async (name) => {
    const { status, stdout } = await runCli([name, "--help"]);
    expect(status).toBe(0);
    expect(stdout).toContain(`hansard ${name}`);
    expect(stdout).toContain("Examples:");
    expect(stdout).toContain("--data");
    expect((await runCli(["help", name])).stdout).toBe(stdout);
  });

  test("without a command the help goes to stderr, and the status says that nothing was done", async () => {
    const { status, stdout, stderr } = await runCli([]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^Record:$/m);
  });
});

describe("wrong use is status 2 and says what to do:", () => {
  test("an unknown command suggests the nearest one", async () => {
    const { status, stdout, stderr } = await runCli(["lst"]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("unknown command 'lst'");
    expect(stderr).toContain("Did you mean one of list, lost?");
  });

  test("an unknown option suggests the nearest one", async () => {
    const { status, stderr } = await runCli(["list", "--projct", "web"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Did you mean --project?");
    expect(stderr).toContain("hansard list --help");
  });

  test.each([
    [["show"], "argument_missing"],
    [["show", "1", "2"], "argument_excess"],
    [["stats", "all"], "argument_excess"],
    [["list", "--colour"], "option_unknown"],
    [["frobnicate"], "command_unknown"],
  ])("%j", async (args, code) => {
    expect(await readError(args, { data: folderOfTest() })).toMatchObject({ status: 2, code });
  });
});

test("an option without its value is named", async () => {
  const { status, stderr } = await runCli(["list", "--limit"]);
  expect(status).toBe(2);
  expect(stderr).toContain("option '--limit <n>' argument missing");
});

describe("settings", () => {
  test("a flag wins over the environment, and that over the user's own file", async () => {
    const folder = folderOfTest();
    const [flag, variable, config] = ["flag", "variable", "config"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const [count, data] of [flag, variable, config].entries()) await fillStore(data, interactions(count + 1));
    mkdirSync(join(folder, "hansard"));
    // A relative path in the file is relative to the file.
    writeFileSync(join(folder, "hansard", "config.json"), JSON.stringify({ data: "../config" }));
    const env = { XDG_CONFIG_HOME: folder };
    const entriesOf = async (args: readonly string[], data?: string) =>
      (await readJson(args, { env, ...(data === undefined ? {} : { data }) })).entries;
    expect(await entriesOf(["stats", "--data", flag], variable)).toBe(1);
    expect(await entriesOf(["--data", flag, "stats"], variable)).toBe(1);
    expect(await entriesOf(["stats"], variable)).toBe(2);
    expect(await entriesOf(["stats"])).toBe(3);
    writeFileSync(join(folder, "other.json"), JSON.stringify({ data: "variable" }));
    expect(await entriesOf(["stats", "--config", join(folder, "other.json")])).toBe(2);
    expect(await readError(["stats", "--config", join(folder, "none.json")])).toMatchObject({ code: "config_invalid" });
  });

  test.each([
    ["{", "not valid JSON"],
    ["[]", "must hold a JSON object"],
    ['{"prot": 5000}', 'unknown setting "prot"'],
    ['{"port": "many"}', "must be a port"],
    ['{"data": 7}', "must be a non-empty string"],
  ])("a broken settings file is an error, not ignored: %s", async (text, says) => {
    const folder = folderOfTest();
    writeFileSync(join(folder, "mine.json"), text);
    const { status, message } = await readError(["stats", "--config", "mine.json"], { cwd: folder });
    expect(status).toBe(2);
    expect(message).toContain(says);
  });

  test("without a home folder --data is needed, and enough", async () => {
    const env = { HOME: "" };
    expect(await readError(["list"], { env })).toMatchObject({ status: 2, code: "home_missing", field: "--data" });
    const data = folderOfTest();
    expect((await runCli(["record", "--prompt", "hello", "--data", data], { env })).status).toBe(0);
  });

  test("the default store is .hansard in the home folder, and a tilde means the home folder", async () => {
    const home = folderOfTest();
    const env = { HOME: home };
    expect((await runCli(["record", "--prompt", "hello"], { env })).status).toBe(0);
    expect(await readJson(["stats", "--data=~/.hansard"], { env })).toMatchObject({ entries: 1 });
    expect(await readJson(["stats", "--data", join(home, ".hansard")])).toMatchObject({ entries: 1 });
  });

  test.each([
    ["record", "mysql://localhost/hansard"],
    ["record", "memory:"],
    ["doctor", "memory:"],
  ])("%s refuses a store that cannot be kept here: %s", async (command, data) => {
    const args = command === "record" ? [command, "--prompt", "x"] : [command];
    expect(await readError(args, { data })).toMatchObject({ status: 2, code: "setting_invalid" });
  });
});

test("a command that hangs fails its own test, and the next one runs", async () => {
  const data = folderOfTest();
  await fillStore(data, interactions(1));
  await expect(runCli(["tail"], { data, limit_ms: 300 })).rejects.toThrow("`hansard tail` did not end within 0.3 s");
  expect((await runCli(["list"], { data })).status).toBe(0);
});
