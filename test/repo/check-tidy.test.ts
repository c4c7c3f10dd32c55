// Proves that the tidiness check finds each thing it forbids, and lets ordinary code pass.
import { expect, test } from "vitest";
import { checkTidy } from "../../scripts/check-tidy.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderWithFiles } from "./folder-with-files.js";

// The check reads this file too, so what it forbids is put together here.
const later = ["TO", "DO"].join("");
const machineFolder = ["", "home", "ada", "hansard"].join("/");
const ignoreTypes = ["// @ts", "ignore"].join("-");
const ignoreLint = ["// biome", "ignore"].join("-");

function problems(contentsByFile: { readonly [file: string]: string }): string[] {
  return checkTidy(folderWithFiles(contentsByFile));
}

/** What is found in one source file, without its name; a first comment is put in front. */
function findings(text: string, file = "src/read/list.ts"): string[] {
  return problems({ [file]: `// A list.\n${text}\n` }).map((line) => line.slice(file.length + 1));
}

test("this repository is tidy", () => {
  expect(checkTidy(repositoryRoot)).toEqual([]);
});

test("ordinary code passes", () => {
  const text = [
    "export interface Entry { readonly id: string }",
    "export function rowToEntry(row: { id: string }): Entry { return { id: row.id } }",
    "const handled = process.argv as readonly string[]",
    `${ignoreLint} lint/suspicious/noConsole: the command line speaks to a person.`,
    "console.log(handled)",
  ].join("\n");
  expect(findings(text)).toEqual([]);
});

test("a file of more than 600 lines is too long", () => {
  expect(findings("\n".repeat(398))).toEqual([]);
  expect(findings("\n".repeat(599))).toEqual(["601: 601 lines; at most 600, and 200 is usual"]);
});

test("a file begins with a comment, after the line for the shell if there is one", () => {
  const missing = "a file begins with a comment that says what it is";
  expect(problems({ "src/surfaces/cli/main.ts": "export const a = 1\n" })).toEqual([
    `src/surfaces/cli/main.ts:1: ${missing}`,
  ]);
  expect(
    problems({ "src/surfaces/cli/main.ts": "#!/usr/bin/env node\n// The command.\nexport const a = 1\n" }),
  ).toEqual([]);
});

test("a test that does not run is found in every spelling", () => {
  const text = [
    "test.only('a', () => {})",
    "describe.skip('b', () => {})",
    "it.concurrent.todo('c')",
    "test.skipIf(true)('d', () => {})",
    "test('e', ({ task, ...context }) => context.skip())",
    "test('f', { skip: true }, () => {})",
  ].join("\n");
  const expected = [2, 3, 4, 5, 6, 7].map((line) => `${line}: every test runs, always`);
  expect(findings(text, "src/read/list.test.ts")).toEqual(expected);
  expect(findings(text, "test/conformance/entry-log.ts")).toEqual(expected);
});

test("unfinished work and silenced tools are found", () => {
  const text = [`// ${later}: later`, ignoreTypes, `${ignoreLint} lint/suspicious/noConsole`].join("\n");
  expect(findings(text)).toEqual([
    `2: ${later}: finish it, or open an issue`,
    `3: ${ignoreTypes.slice(3)}: use @ts-expect-error with a reason`,
    `4: ${ignoreLint.slice(3)}: a suppression names its rule and its reason`,
  ]);
});

test("a cast to any is found", () => {
  expect(findings('export const a = JSON.parse("1") as any')).toEqual(["2: a cast to any switches the compiler off"]);
});

test("a default export is found, except in the configuration of a tool", () => {
  const text = "const a = 1\nexport default a";
  expect(findings(text)).toEqual(["3: exports have names"]);
  expect(findings("const a = 1\nexport { a as default }")).toEqual(["3: exports have names"]);
  expect(findings(text, "ui/vite.config.ts")).toEqual([]);
});

test("exported names that say nothing are found", () => {
  const text = [
    "export class SessionManager {}",
    "export const stringUtils = {}",
    "export function handleRequest() {}",
    "export type Record = { a: 1 }",
    "export const historyOfSession = 1",
    "const a = 1",
    "export { a as processEntry }",
  ].join("\n");
  expect(findings(text)).toEqual([
    '2: SessionManager: "manager" says nothing',
    '3: stringUtils: "utils" says nothing',
    '4: handleRequest: "handle" says nothing',
    "5: Record is the name of a type of the language",
    '8: processEntry: "process" says nothing',
  ]);
});

test("file names are kebab-case and say what is in them", () => {
  expect(problems({ "src/read/listEntries.ts": "// A list.\n" })).toEqual([
    "src/read/listEntries.ts: file names are kebab-case",
  ]);
  expect(problems({ "src/utils/strings.ts": "// Strings.\n" })).toEqual([
    'src/utils/strings.ts: a name says what a thing is, and "utils" does not',
  ]);
});

test("a path of one machine is found in code and in documents", () => {
  expect(problems({ "docs/OPERATIONS.md": `Go to ${machineFolder}/ and look.\n` })).toEqual([
    `docs/OPERATIONS.md:1: ${machineFolder.replace("hansard", "")} exists on one machine only`,
  ]);
  expect(findings("export const address = 'https://example.org/work/1'")).toEqual([]);
});

test("a lockfile that names hosts is found", () => {
  const lock = JSON.stringify({ packages: { a: { resolved: "https://example.org/a.tgz" } } });
  expect(problems({ "package-lock.json": lock })).toHaveLength(1);
  expect(problems({ "bench/peers/package-lock.json": lock })).toHaveLength(1);
  expect(problems({ "package-lock.json": '{"packages":{"client":{"resolved":"client","link":true}}}' })).toEqual([]);
});

test("a lockfile that leaves out the builds of some platforms is found", () => {
  const tool = { optionalDependencies: { "@tool/linux": "1.0.0", "@tool/mac": "1.0.0" } };
  const lock = JSON.stringify({ packages: { "node_modules/tool": tool, "node_modules/@tool/linux": {} } });
  expect(problems({ "package-lock.json": lock })).toEqual([
    "package-lock.json: without @tool/mac, npm ci refuses it on every platform",
  ]);
});
