// Proves that the import-direction check refuses what the architecture forbids, and nothing else.
import { describe, expect, test } from "vitest";
import { checkImports } from "../../scripts/check-imports.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderWithFiles } from "./folder-with-files.js";

function problems(contentsByFile: { readonly [file: string]: string }): string[] {
  return checkImports(folderWithFiles(contentsByFile));
}

test("this repository obeys its own rule", () => {
  expect(checkImports(repositoryRoot)).toEqual([]);
});

test("an allowed direction passes", () => {
  expect(
    problems({
      "src/ports/entry-log.ts": "import type { Entry } from '../model/entry.js'\nimport { join } from 'node:path'",
      "src/engines/sqlite/log.ts": "import Database from 'better-sqlite3'\nimport { rowToEntry } from './rows.js'",
      "src/threads/log-thread.ts": "export { openLog } from '../engines/sqlite/log.js'",
      "src/index.ts": "export { openRecorder } from './recorder.js'",
    }),
  ).toEqual([]);
});

describe("a forbidden direction is found, however it is written:", () => {
  test.each([
    ["import", "import { list } from '../read/list.js'"],
    ["import for its types", "import type { List } from '../read/list.js'"],
    ["import over several lines", "import {\n  list,\n} from '../read/list.js'"],
    ["import for its effect", "import '../read/list.js'"],
    ["export from", "export { list } from '../read/list.js'"],
    ["export all", "export * from '../read/list.js'"],
    ["dynamic import", "export const later = () => import('../read/list.js')"],
    ["import inside a type", "export type List = import('../read/list.js').List"],
  ])("%s", (_, line) => {
    expect(problems({ "src/model/entry.ts": `// An entry.\n\n${line}` })).toEqual([
      "src/model/entry.ts:3: model may not import read (../read/list.js)",
    ]);
  });
});

test("text that only looks like an import is none", () => {
  const text = "// import '../read/list.js'\nexport const example = `import '../read/list.js'`";
  expect(problems({ "src/model/entry.ts": text })).toEqual([]);
});

test("an engine may not import another engine, not even the one in memory", () => {
  expect(problems({ "src/engines/sqlite/log.ts": "import '../memory/log.js'" })).toEqual([
    "src/engines/sqlite/log.ts:1: engines/sqlite may not import engines/memory (../memory/log.js)",
  ]);
});

test("a test beside its source may use the engine in memory and the support for tests, and still not a surface", () => {
  const text = "import '../engines/memory/log.js'\nimport '../../test/support/clock.js'\nimport '../http/server.js'";
  expect(problems({ "src/read/list.test.ts": text })).toEqual([
    "src/read/list.test.ts:3: read may not import http (../http/server.js)",
  ]);
});

test("a surface sees what can be asked, and nothing else of what answers", () => {
  const text = "import '../read/question-rules.js'\nimport '../read/reader.js'";
  expect(problems({ "src/http/server.ts": text })).toEqual([
    "src/http/server.ts:2: http may not import read (../read/reader.js)",
  ]);
});

test("a source may not import tests", () => {
  expect(problems({ "src/read/list.ts": "import '../../test/support/clock.js'" })).toEqual([
    "src/read/list.ts:1: read may not import test/support (../../test/support/clock.js)",
  ]);
});

test("a new folder must get a row before anything in it passes", () => {
  expect(problems({ "src/common/strings.ts": "export const a = 1" })).toEqual([
    "src/common/strings.ts: common has no row in scripts/check-imports.mjs; decide what it may import",
  ]);
});

test("a driver stays in its engine", () => {
  expect(problems({ "src/read/list.ts": "import Database from 'better-sqlite3'" })).toEqual([
    "src/read/list.ts:1: better-sqlite3 is imported only in engines/sqlite",
  ]);
  expect(problems({ "src/import/tables.ts": "import Database from 'better-sqlite3'" })).toEqual([]);
  expect(problems({ "src/import/lines.ts": "import Database from 'better-sqlite3'" })).toHaveLength(1);
});

test("an import whose target is computed cannot be checked, and is refused", () => {
  expect(problems({ "src/recorder.ts": "export const load = (name: string) => import(name)" })).toEqual([
    "src/recorder.ts:1: import() needs a plain string, so that its direction can be checked",
  ]);
});

test("the client imports nothing of the server, and no package", () => {
  expect(problems({ "client/spool.ts": "import '../src/model/entry.js'\nimport 'pino'" })).toEqual([
    "client/spool.ts:1: client may not import model (../src/model/entry.js)",
    "client/spool.ts:2: client has no dependencies, and pino is one",
  ]);
});

test("the page sees the types of the HTTP contract, how contents are read, rules of the model, and nothing else", () => {
  const text = [
    "import { messagePieces } from '../src/model/content-pieces.js'",
    "import { readRole } from '../src/model/roles.js'",
    "import type { Page } from '../src/http/contract.js'",
    "import { page } from '../src/http/contract.js'",
    "import type { Entry } from '../src/model/entry.js'",
  ].join("\n");
  expect(problems({ "ui/api.ts": text })).toEqual([
    "ui/api.ts:4: the page may import only types from src/http/contract.ts",
    "ui/api.ts:5: ui may not import model (../src/model/entry.js)",
  ]);
});
