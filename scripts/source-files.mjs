// Which files of the repository are written by people, as paths relative to its root with forward slashes.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const madeByTools = new Set([".git", "node_modules", "dist", "coverage", "bench/results"]);

// Fixtures are evidence: files that other programs or older versions wrote, which no rule of this repository binds.
const recorded = new Set(["test/fixtures"]);

/** Files that the program reads when it runs; they are shipped in its bundle. */
export const dataFiles = ["src/recorder/demo.ndjson", "docs/EXTRACTION_PROMPT.md"];

/**
 * @param {string} root
 * @param {string} [folder] Relative to root; a folder that is not there has no files.
 * @returns {string[]} Sorted, because hashes and messages must be the same everywhere.
 */
export function listFiles(root, folder = "") {
  return readFolder(join(root, folder))
    .flatMap((item) => {
      const path = folder === "" ? item.name : `${folder}/${item.name}`;
      if (item.isFile()) return [path];
      const ours = item.isDirectory() && !madeByTools.has(item.name) && !madeByTools.has(path) && !recorded.has(path);
      return ours ? listFiles(root, path) : [];
    })
    .sort();
}

/**
 * What the program and the page are made of.
 *
 * @param {string} root
 */
export function programSources(root) {
  return listFiles(root, "src").filter((file) => file.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(file));
}

/**
 * The files that `tsc` compiles: each belongs to one tsconfig.json.
 *
 * @param {string} root
 */
export function compiledSources(root) {
  const typescript = ["src", "client", "test", "bench"].flatMap((folder) => listFiles(root, folder));
  return [
    ...typescript.filter((file) => file.endsWith(".ts")),
    ...listFiles(root, "scripts").filter((file) => file.endsWith(".mjs")),
  ];
}

/**
 * How `tsc` compiles them.
 *
 * @param {string} root
 */
export function compilerSettings(root) {
  const files = [
    ...readFolder(root).map(({ name }) => name),
    ...["src", "client"].flatMap((at) => listFiles(root, at)),
  ];
  return files.filter((file) => /(?:^|\/)tsconfig(?:\.base)?\.json$/.test(file));
}

/** @param {string} path */
function readFolder(path) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return [];
    throw error;
  }
}
