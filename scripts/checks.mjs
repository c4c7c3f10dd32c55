// The static checks in their order: each throws with every problem it found.
import { join } from "node:path";
import { checkCommits } from "./check-commits.mjs";
import { runCommand } from "./run-command.mjs";

/** @type {readonly { readonly name: string, readonly check: (root: string) => void | Promise<void> }[]} */
export const checks = [
  { name: "lint and format", check: lint },
  { name: "nothing unused", check: unused },
  { name: "commit subjects", check: commits },
];

/** @param {string} root */
async function lint(root) {
  const args = ["check", "--error-on-warnings", "--max-diagnostics=50", "."];
  await runTool(root, "@biomejs/biome/bin/biome", args, "Most of this is fixed by: npm run format");
}

/**
 * Exports, files and packages that nothing but tests uses: tests do not make something part of the product.
 *
 * @param {string} root With a knip.jsonc, which names the entry points.
 */
async function unused(root) {
  const kinds = "files,exports,types,dependencies,unlisted,unresolved";
  await runTool(root, "knip/bin/knip.js", ["--production", "--no-progress", "--include", kinds]);
}

/** @param {string} root */
async function commits(root) {
  const problems = await checkCommits(root);
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/**
 * @param {string} root
 * @param {string} tool Its path in node_modules.
 * @param {readonly string[]} args
 * @param {string} advice
 */
async function runTool(root, tool, args, advice = "") {
  const command = [join(root, "node_modules", tool), ...args];
  const { status, stdout, stderr } = await runCommand(process.execPath, command, { cwd: root });
  if (status !== 0) throw new Error(`${stdout}${stderr}\n${advice}`.trim());
}
