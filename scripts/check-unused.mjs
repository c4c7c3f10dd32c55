// Finds what nothing uses: exports, files and packages that are there for no other source or only for tests. What only
// tests call is no part of the product, and what only its own file uses need not be exported.
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";

/**
 * What Knip answers, as far as it is looked at.
 *
 * @typedef {{ name: string, line?: number }} Unused
 * @typedef {{ file: string } & { [kind: string]: readonly Unused[] }} Found
 */

/** What is looked for, in Knip's words, and what is wrong with it in ours. */
const problemByKind = {
  files: "nothing imports this file, tests aside",
  exports: "is exported, and nothing but tests imports it",
  types: "is exported, and nothing but tests imports it",
  dependencies: "is a dependency, and nothing but tests needs it",
  unlisted: "is imported, and no dependency",
  unresolved: "is imported, and is not there",
};

/**
 * @param {string} root With a knip.jsonc, which says where the product begins.
 * @returns {Promise<string[]>} One line for each problem.
 */
export async function checkUnused(root) {
  const knip = join(root, "node_modules", "knip", "bin", "knip.js");
  const kinds = Object.keys(problemByKind).join(",");
  const args = [knip, "--production", "--no-progress", "--reporter", "json", "--include", kinds];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, { cwd: root });
  // 1 means that it found something; anything else, that it could not look.
  if (status !== 0 && status !== 1) throw new Error(`knip failed.\n${stdout}${stderr}`);
  /** @type {{ issues: readonly Found[] }} */
  const { issues } = JSON.parse(stdout);
  return issues.flatMap(problemsOf).sort();
}

/**
 * @param {Found} found
 * @returns {string[]}
 */
function problemsOf(found) {
  return Object.entries(problemByKind).flatMap(([kind, problem]) =>
    (found[kind] ?? []).map(({ name, line }) =>
      kind === "files"
        ? `${found.file}: ${problem}`
        : `${found.file}${line === undefined ? "" : `:${line}`}: ${name} ${problem}`,
    ),
  );
}
