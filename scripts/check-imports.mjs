// Who may import whom: the table of docs/ARCHITECTURE.md as a check that fails.
//
// It is written here because the tools made for it need either the older compiler's programming interface, which
// TypeScript 7 no longer has, or a newer Node than the oldest one supported.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { listFiles } from "./source-files.mjs";
import { lineAt, nodesOf } from "./syntax.mjs";

/**
 * A folder under src, or a file that lies directly in it, and what it may import besides itself. What is not listed
 * here is an error, so that a new folder gets its place before it gets its imports. Type-only imports count like all
 * others. `engines/*` is each engine on its own on the left, and any engine on the right. A single file of a folder, on the
 * right, is that file and no other of its folder.
 *
 * @type {{ readonly [area: string]: readonly string[] }}
 */
export const mayImport = {
  model: [],
  // Forgetting asks readers for positions, and a selection of the log is made with the filters of rows.
  log: ["model", "index", "reading"],
  index: ["model", "log"],
  guard: ["model"],
  "engines/*": ["model", "log", "index", "guard", "engines/parts"],
  "engines/parts": ["model"],
  "engines/port.ts": ["model", "log", "index", "guard"],
  "engines/stores.ts": ["model", "engines/*", "engines/port.ts"],
  // A search looks through the very texts that the index was given.
  search: ["model", "log", "index"],
  sessions: ["model", "index", "search"],
  context: ["model", "log", "index", "search", "sessions"],
  usage: ["model", "index", "search"],
  reflect: ["model", "index", "search"],
  import: ["model"],
  // The two directions of a format lie in one file: what comes in can go out as it was.
  export: ["model", "log", "index", "search", "sessions", "usage", "import", "reading"],
  memories: ["model", "log", "index", "search", "sessions", "reflect", "reading"],
  // What answers while there is no whole index is one in memory.
  reading: [
    ...["model", "log", "index", "search", "sessions", "context", "usage", "reflect", "memories"],
    "engines/memory",
  ],
  threads: ["model", "log", "index", "guard", "search", "reading", "engines/*", "engines/port.ts", "engines/stores.ts"],
  recorder: [
    ...["model", "log", "index", "guard", "engines/*", "engines/port.ts", "engines/stores.ts", "search", "sessions"],
    ...["context", "usage", "reflect", "import", "export", "memories", "reading", "threads", "client"],
  ],
  "index.ts": [
    ...["model", "log", "index", "guard", "search", "sessions", "context", "usage", "reflect", "import", "export"],
    ...["memories", "reading", "recorder"],
  ],
  "surfaces/http": ["model", "guard", "search/question-rules.ts", "recorder", "surfaces/mcp"],
  "surfaces/mcp": ["model", "guard", "search/question-rules.ts", "recorder"],
  // What agents import is used where they cannot.
  "surfaces/proxy": ["client", "recorder", "surfaces/http"],
  "surfaces/cli": [
    ...["model", "search/question-rules.ts", "recorder", "import", "engines/stores.ts", "index.ts", "client"],
    ...["surfaces/http", "surfaces/mcp", "surfaces/proxy"],
  ],
};

/** What a test beside its source may import as well. */
const testsMayImport = ["engines/memory", "test/support"];

/** What of src the page may see for its types only, and what it shares: how contents are read, and rules of the model. */
const contractOfThePage = "src/surfaces/http/contract.ts";
const sharedWithThePage = ["altered", "content-pieces", "entry", "memory", "roles", "states"].map(
  (name) => `src/model/${name}.ts`,
);

/**
 * Packages that have one home: a driver belongs to its engine, a framework to its surface. Databases of other programs
 * are read with the same driver, in one file of import, and another one keeps how far watched files were read.
 *
 * @type {{ readonly [name: string]: string }}
 */
const homeOfPackage = {
  "better-sqlite3": "engines/sqlite",
  pg: "engines/postgres",
  "@clickhouse/client": "engines/clickhouse",
  fastify: "surfaces/http",
  commander: "surfaces/cli",
  "@modelcontextprotocol/server": "surfaces/mcp",
};

const otherUsersOfSqlite = ["src/import/tables.ts", "src/import/watch/bookmarks.ts"];

/** @typedef {{ specifier: string | undefined, typeOnly: boolean, line: number }} Import */

/**
 * @param {string} root
 * @returns {string[]} One line for each import that is not allowed.
 */
export function checkImports(root) {
  const files = ["src", "client", "ui"].flatMap((folder) => listFiles(root, folder));
  return files
    .filter((file) => /\.[cm]?tsx?$/.test(file))
    .flatMap((file) => {
      const from = areaOf(file);
      if (file.startsWith("src/") && rowOf(from) === undefined) {
        return [`${file}: ${from} has no row in scripts/check-imports.mjs; decide what it may import`];
      }
      return importsOf(file, readFileSync(join(root, file), "utf8")).flatMap((found) => {
        const problem = problemOf({ file, from, found });
        return problem === undefined ? [] : [`${file}:${found.line}: ${problem}`];
      });
    });
}

/**
 * @param {{ file: string, from: string, found: Import }} where
 * @returns {string | undefined}
 */
function problemOf({ file, from, found: { specifier, typeOnly } }) {
  if (specifier === undefined) return "import() needs a plain string, so that its direction can be checked";
  const isTest = /\.test(-d)?\.tsx?$/.test(file);
  if (!specifier.startsWith(".")) return isTest ? undefined : packageProblem({ file, from, specifier });
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
  const to = areaOf(target);
  if (to === from) return undefined;
  if (isTest && testsMayImport.includes(to)) return undefined;
  if (from === "ui" && target === contractOfThePage) {
    return typeOnly ? undefined : `the page may import only types from ${contractOfThePage}`;
  }
  if (from === "ui" && sharedWithThePage.includes(target)) return undefined;
  if (rowOf(from)?.some((area) => covers(area, to) || `src/${area}` === target)) return undefined;
  return `${from} may not import ${to} (${specifier})`;
}

/** @param {{ file: string, from: string, specifier: string }} where */
function packageProblem({ file, from, specifier }) {
  if (specifier.startsWith("node:")) return undefined;
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  if (name === "hansard") return "inside the package, imports are relative";
  if (from === "client") return `client has no dependencies, and ${name} is one`;
  const home = homeOfPackage[name];
  if (name === "better-sqlite3" && otherUsersOfSqlite.includes(file)) return undefined;
  return home === undefined || home === from ? undefined : `${name} is imported only in ${home}`;
}

/**
 * @param {string} file Of this repository, with forward slashes.
 * @returns {string} `read`, `engines/sqlite`, `recorder.ts`; outside src `client`, `test/support` and so on.
 */
export function areaOf(file) {
  const [top = "", first = "", second] = file.split("/");
  if (top === "test") return second === undefined ? top : `${top}/${first}`;
  if (top !== "src") return top;
  // A test that lies directly in src belongs to the file it tests.
  if (second === undefined) return first.replace(/\.test(-d)?\.ts$/, ".ts");
  return first === "engines" || first === "surfaces" ? `${first}/${second}` : first;
}

/**
 * @param {string} area
 * @returns {readonly string[] | undefined} What it may import besides itself; undefined where nobody has decided it.
 */
export function rowOf(area) {
  const key = Object.keys(mayImport).find((row) => covers(row, area));
  return key === undefined ? undefined : mayImport[key];
}

/**
 * @param {string} row
 * @param {string} area
 */
function covers(row, area) {
  return row === area || (row === "engines/*" && area.startsWith("engines/"));
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {Import[]}
 */
function importsOf(file, text) {
  return nodesOf(file, text).flatMap((node) => {
    const imports = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration|ImportExpression|TSImportType)$/;
    if (!imports.test(node.type) || node.source === null) return [];
    const typeOnly = node.type === "TSImportType" || node.importKind === "type" || node.exportKind === "type";
    const specifier = typeof node.source?.value === "string" ? node.source.value : undefined;
    return [{ specifier, typeOnly, line: lineAt(text, node.start) }];
  });
}
