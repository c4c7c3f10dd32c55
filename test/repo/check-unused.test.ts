// Proves that the check of unused exports finds what nothing but tests uses, and nothing else.
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkUnused } from "../../scripts/check-unused.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderWithFiles } from "./folder-with-files.js";

/** A project with this repository's settings, whose entry is src/index.ts. */
async function problems(contentsByFile: { readonly [file: string]: string }): Promise<string[]> {
  const root = folderWithFiles({
    "package.json": JSON.stringify({
      name: "small",
      type: "module",
      exports: "./dist/src/index.js",
      dependencies: { pino: "*" },
    }),
    "src/index.ts":
      'import { pino } from "pino";\nimport { used } from "./used.js";\nexport const all = [pino, used];\n',
    "src/used.ts": "export const used = 1;\n",
    ...contentsByFile,
  });
  for (const file of ["tsconfig.base.json", "tsconfig.json", "knip.jsonc"])
    cpSync(join(repositoryRoot, file), join(root, file));
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"), "junction");
  return checkUnused(root);
}

test("this repository has nothing unused", async () => {
  expect(await checkUnused(repositoryRoot)).toEqual([]);
});

test("what is used passes: by another file, by the public interface, by a thread and by a benchmark", async () => {
  const files = {
    "src/used.ts": 'import { other } from "./other.js";\nexport const used = other;\n',
    "src/other.ts": "export const other = 1;\n",
    "src/threads/log-thread.ts": 'import { work } from "../work.js";\nwork();\n',
    "src/work.ts": "export function work(): void {}\n",
    "bench/main.ts": 'import { measured } from "../src/measured.js";\nmeasured();\n',
    "src/measured.ts": "export function measured(): void {}\n",
  };
  expect(await problems(files)).toEqual([]);
});

test("what only its own file uses need not be exported, be it a value or a type", async () => {
  const lines = ["export const inner = 1;", "export type Inner = number;", "const kept: Inner = inner;"];
  expect(await problems({ "src/used.ts": [...lines, "export const used = kept;", ""].join("\n") })).toEqual([
    "src/used.ts:1: inner is exported, and nothing but tests imports it",
    "src/used.ts:2: Inner is exported, and nothing but tests imports it",
  ]);
});

test("what only tests import does not count as used, beside its source or elsewhere", async () => {
  const files = {
    "src/used.ts": "export const used = 1;\nexport const tried = 2;\nexport const proven = 3;\n",
    "src/used.test.ts": 'import { tried } from "./used.js";\nvoid tried;\n',
    "test/e2e/used.test.ts": 'import { proven } from "../../src/used.js";\nvoid proven;\n',
  };
  expect(await problems(files)).toEqual([
    "src/used.ts:2: tried is exported, and nothing but tests imports it",
    "src/used.ts:3: proven is exported, and nothing but tests imports it",
  ]);
});

test("a file that nothing imports is named", async () => {
  expect(await problems({ "src/left-over.ts": "export const leftOver = 1;\n" })).toEqual([
    "src/left-over.ts: nothing imports this file, tests aside",
  ]);
});

test("a package that nothing imports is named, and so is one that nobody declared", async () => {
  const files = { "src/index.ts": 'import pg from "pg";\nimport { used } from "./used.js";\nexport { pg, used };\n' };
  expect(await problems(files)).toEqual([
    expect.stringMatching(/^package\.json.*: pino is a dependency, and nothing but tests needs it$/),
    expect.stringMatching(/^src\/index\.ts.*: pg is imported, and no dependency$/),
  ]);
});
