// The static checks in their order: each throws with every problem it found.
import { join } from "node:path";
import { checkCommits } from "./check-commits.mjs";
import { checkTidy } from "./check-tidy.mjs";
import { checkUnused } from "./check-unused.mjs";
import { runCommand } from "./run-command.mjs";

/** @type {readonly { readonly name: string, readonly check: (root: string) => void | Promise<void> }[]} */
export const checks = [
  { name: "lint and format", check: lint },
  { name: "tidiness", check: (root) => refuse(checkTidy(root)) },
  { name: "nothing unused", check: async (root) => refuse(await checkUnused(root)) },
  { name: "commit subjects", check: async (root) => refuse(await checkCommits(root)) },
];

/** @param {string} root */
async function lint(root) {
  const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
  const args = [biome, "check", "--error-on-warnings", "--max-diagnostics=50", "."];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, { cwd: root });
  if (status !== 0) throw new Error(`${stdout}${stderr}\nMost of this is mended by: npm run format`);
}

/** @param {readonly string[]} problems */
function refuse(problems) {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}
