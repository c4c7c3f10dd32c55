// Who may import whom: the compiler refuses what the references of the parts do not have, and the linter what no reference can say.
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand } from "../../scripts/run-command.mjs";
import { compilerSettings } from "../../scripts/source-files.mjs";
import { folderWithFiles } from "./folder-with-files.js";

/** Parts of this repository, each with one file, and one import between two of them. */
async function compile(from: string, line: string): Promise<string> {
  const parts = compilerSettings(repositoryRoot).filter((file) => file.endsWith("/tsconfig.json"));
  const sources = parts.map((file) => [file.replace("tsconfig.json", "one.ts"), "export type One = 1;\n"] as const);
  const root = folderWithFiles({
    "package.json": '{"type":"module"}',
    ...Object.fromEntries(sources),
    [`${from}/one.ts`]: `${line}\nexport type One = 1;\n`,
  });
  for (const file of ["tsconfig.base.json", ...parts]) cpSync(join(repositoryRoot, file), join(root, file));
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"), "junction");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await runCommand(process.execPath, [tsc, "-b", from, "--pretty", "false"], { cwd: root });
  return stdout;
}

test("an import of a part that is referenced compiles", async () => {
  expect(await compile("src/log", 'export type { One as Other } from "../model/one.js";')).toBe("");
});

describe("an import against the direction does not compile, however it is written:", () => {
  test.each([
    ["src/model", "src/log", 'import "../log/one.js";'],
    ["src/log", "src/index", 'import type { One as Other } from "../index/one.js"; export type Others = Other;'],
    ["src/index", "src/engines/memory", 'export * from "../engines/memory/one.js";'],
    ["src/engines/sqlite", "src/engines/postgres", 'export const later = () => import("../postgres/one.js");'],
    ["src/guard", "src/log", 'export type Other = import("../log/one.js").One;'],
    ["client", "src/model", 'import "../src/model/one.js";'],
  ])("%s imports %s", async (from, to, line) => {
    expect(await compile(from, line)).toMatch(
      new RegExp(`^${from}/one.ts\\(1,\\d+\\): error TS6307: File '.*/${to}/one.ts'`, "m"),
    );
  });
});

/** What the linter says about the imports of a file with this name. */
async function lint(file: string, ...imports: readonly string[]): Promise<string> {
  const root = folderWithFiles({ [file]: imports.map((one) => `import "${one}";\n`).join("") });
  cpSync(join(repositoryRoot, "biome.json"), join(root, "biome.json"));
  const biome = join(repositoryRoot, "node_modules", "@biomejs", "biome", "bin", "biome");
  const args = [biome, "lint", "--only=style/noRestrictedImports", "--vcs-enabled=false", "--reporter=github", "."];
  return (await runCommand(process.execPath, args, { cwd: root })).stdout;
}

test.each([
  ["src/recorder/one.ts", ["@photostructure/sqlite", "node:sqlite", "pg", "fastify", "hansard/client"]],
  ["src/import/one.ts", ["node:sqlite", "../engines/sqlite/log.js"]],
  ["src/engines/sqlite/one.ts", ["node:sqlite", "pg", "fastify"]],
  ["src/engines/postgres/one.ts", ["node:sqlite"]],
  ["src/surfaces/http/one.ts", ["pg", "../../engines/stores.js", "../../reading/local-reading.js"]],
  ["src/surfaces/mcp/one.ts", ["fastify", "../../memories/memories.js"]],
  ["ui/one.ts", ["../src/recorder/recorder.js", "../src/model/time.js"]],
])("%s may not import any of %s", async (file, imports) => {
  const said = await lint(file, ...imports);
  expect(said.match(/^::error/gm)).toHaveLength(imports.length);
});

test.each([
  ["src/import/one.ts", ["../engines/sqlite/driver.js", "node:fs"]],
  ["src/engines/sqlite/driver.ts", ["@photostructure/sqlite"]],
  ["src/engines/postgres/one.ts", ["pg", "../../log/port.js"]],
  ["src/surfaces/http/one.ts", ["fastify", "../../recorder/recorder.js", "./routes/log.js"]],
  ["src/engines/sqlite/one.test.ts", ["pg"]],
  ["ui/one.ts", ["../src/surfaces/http/contract.js", "../src/model/states.js", "./api.js"]],
])("%s may import all of %s", async (file, imports) => {
  expect(await lint(file, ...imports)).not.toContain("::error");
});
