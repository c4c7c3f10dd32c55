// The small rules of the house that no linter knows: sizes, names, first lines, and what may not be left behind.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { listFiles } from "./source-files.mjs";
import { lineAt, nodesOf } from "./syntax.mjs";

/**
 * @typedef {import('./syntax.mjs').SyntaxNode} SyntaxNode
 * @typedef {{ file: string, text: string, nodes: readonly SyntaxNode[] }} Source
 * @typedef {{ line: number, problem: string }} Finding
 */

const linesMax = 600;
const sourceFolders = ["src", "test", "bench", "scripts", "client", "ui"];

/** Words that say nothing about what a thing is. */
const emptyNouns = new Set(["manager", "helper", "helpers", "util", "utils", "service", "services"]);
const emptyVerbs = new Set(["handle", "process", "manage"]);

/**
 * What a line of any source may not contain. The patterns are spelt so that they do not find themselves.
 *
 * @type {readonly { pattern: RegExp, problem: string }[]}
 */
const sourceLineRules = [
  { pattern: /\b(?:TOD[O]|FIXM[E]|XX[X])\b/, problem: "finish it, or open an issue" },
  { pattern: /@ts-(?:ignor[e]|nochec[k])/, problem: "use @ts-expect-error with a reason" },
  { pattern: /biome-ignor[e](?!(?:-\w+)? [^\s:]+: \S)/, problem: "a suppression names its rule and its reason" },
];

/** A path of somebody's machine works for nobody else, in documents as little as in code. */
const machinePath = /(?<![\w.~-])\/(?:work|root|(?:home|Users)\/[\w.-]+)\//;

/** @type {readonly ((source: Source) => Finding[])[]} */
const sourceRules = [
  longFile,
  missingIntroduction,
  forbiddenLines,
  anyCasts,
  defaultExports,
  exportedNames,
  unrunTests,
];

/**
 * @param {string} root
 * @returns {string[]} One line for each problem.
 */
export function checkTidy(root) {
  const sources = sourceFolders
    .flatMap((folder) => listFiles(root, folder))
    .filter((file) => /\.(ts|tsx|mts|mjs|js)$/.test(file));
  return [
    ...sources.flatMap((file) => fileNameProblems(file).map((problem) => `${file}: ${problem}`)),
    ...sources.flatMap((file) => sourceProblems(root, file)),
    ...listFiles(root).flatMap((file) => machinePathProblems(root, file)),
    ...listFiles(root)
      .filter((file) => basename(file) === "package-lock.json")
      .flatMap((file) => lockProblems(root, file)),
  ];
}

/**
 * @param {string} root
 * @param {string} file
 */
function sourceProblems(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const source = { file, text, nodes: nodesOf(file, text) };
  return sourceRules.flatMap((rule) => rule(source)).map(({ line, problem }) => `${file}:${line}: ${problem}`);
}

/** @param {string} file */
function fileNameProblems(file) {
  const problems = [];
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z-]+)*$/.test(basename(file))) problems.push("file names are kebab-case");
  const words = file.split("/").flatMap((part) => emptyWords(part.replace(/\..*$/, "")));
  if (words.length > 0) problems.push(`a name says what a thing is, and "${words.join('", "')}" does not`);
  return problems;
}

/** @type {(source: Source) => Finding[]} */
function longFile({ text }) {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > linesMax ? [{ line: lines, problem: `${lines} lines; at most ${linesMax}, and 200 is usual` }] : [];
}

/** @type {(source: Source) => Finding[]} */
function missingIntroduction({ text }) {
  if (/^(?:#!.*\n)?(?:\/\/|\/\*)\S*\s*\S/.test(text)) return [];
  return [{ line: 1, problem: "a file begins with a comment that says what it is" }];
}

/** @type {(source: Source) => Finding[]} */
function forbiddenLines({ text }) {
  return text
    .split("\n")
    .flatMap((content, index) =>
      sourceLineRules
        .filter(({ pattern }) => pattern.test(content))
        .map(({ pattern, problem }) => ({ line: index + 1, problem: `${content.match(pattern)?.[0]}: ${problem}` })),
    );
}

/** @type {(source: Source) => Finding[]} */
function anyCasts({ text, nodes }) {
  return nodes
    .filter(({ type }) => type === "TSAsExpression" || type === "TSTypeAssertion")
    .filter(({ typeAnnotation }) => typeAnnotation.type === "TSAnyKeyword")
    .map(({ start }) => ({ line: lineAt(text, start), problem: "a cast to any switches the compiler off" }));
}

/** @type {(source: Source) => Finding[]} */
function defaultExports({ file, text, nodes }) {
  // Tools load their configuration by its default export.
  if (/\.config\.[a-z]+$/.test(file)) return [];
  return nodes
    .filter((node) => node.type === "ExportDefaultDeclaration" || exportedName(node) === "default")
    .map(({ start }) => ({ line: lineAt(text, start), problem: "exports have names" }));
}

/** @type {(source: Source) => Finding[]} */
function exportedNames({ text, nodes }) {
  return nodes.flatMap((node) =>
    namesExportedBy(node).flatMap((name) => {
      const line = lineAt(text, node.start);
      if (name === "Record") return [{ line, problem: "Record is the name of a type of the language" }];
      const words = emptyWords(name);
      return words.length > 0 ? [{ line, problem: `${name}: "${words.join('", "')}" says nothing` }] : [];
    }),
  );
}

/** @type {(source: Source) => Finding[]} */
function unrunTests({ file, text, nodes }) {
  if (!/\.test(?:-d)?\.tsx?$/.test(file) && !file.startsWith("test/")) return [];
  const switches = new Set(["only", "skip", "todo", "skipIf", "runIf"]);
  return nodes
    .filter(
      (node) =>
        (node.type === "MemberExpression" && switches.has(node.property.name)) ||
        (node.type === "Property" && switches.has(node.key.name) && node.value.value === true),
    )
    .map(({ start }) => ({ line: lineAt(text, start), problem: "every test runs, always" }));
}

/**
 * @param {SyntaxNode} node
 * @returns {string[]}
 */
function namesExportedBy(node) {
  if (node.type === "ExportSpecifier" || node.type === "ExportAllDeclaration") return [exportedName(node) ?? ""];
  if (node.type !== "ExportNamedDeclaration" || !node.declaration) return [];
  /** @type {SyntaxNode[]} */
  const declared = node.declaration.declarations ?? [node.declaration];
  return declared.map(({ id }) => id.name ?? "");
}

/** @param {SyntaxNode} node */
function exportedName(node) {
  /** @type {string | undefined} */
  const name = node.exported?.name ?? node.exported?.value;
  return name;
}

/**
 * @param {string} name In camelCase, snake_case or kebab-case.
 * @returns {string[]} Its words that say nothing. A verb counts only with an object: `process` alone is Node's.
 */
function emptyWords(name) {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_.-]+/);
  return words.filter(
    (word, index) => emptyNouns.has(word) || (index === 0 && words.length > 1 && emptyVerbs.has(word)),
  );
}

/**
 * @param {string} root
 * @param {string} file
 */
function machinePathProblems(root, file) {
  if (!/\.(?:ts|tsx|mts|mjs|js|json|md|yml|yaml|sh|css|html|sql)$|^\.ci\//.test(file)) return [];
  return readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line, index) => {
      const path = line.match(machinePath)?.[0];
      return path === undefined ? [] : [`${file}:${index + 1}: ${path} exists on one machine only`];
    });
}

/**
 * @param {string} root
 * @param {string} file
 */
function lockProblems(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const hosts = /"resolved": *"[a-z+]+:/.test(text)
    ? [`${file}: it names hosts; run npm install with the .npmrc that lies beside it`]
    : [];
  /** @type {{ [path: string]: { optionalDependencies?: { [name: string]: string } } }} */
  const packages = JSON.parse(text).packages ?? {};
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, "")));
  const optional = Object.values(packages).flatMap((locks) => Object.keys(locks.optionalDependencies ?? {}));
  // It happens when a registry does not have the builds of all platforms, and then nobody can use the lockfile.
  const missing = [...new Set(optional)].filter((name) => !locked.has(name));
  return [...hosts, ...missing.map((name) => `${file}: without ${name}, npm ci refuses it on every platform`)];
}
