// `npm run build`, and what `npm pack` runs first: installs what is missing and compiles what changed.
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";

try {
  await ensureDependencies(repositoryRoot, say);
  await ensureBuild(repositoryRoot, say);
} catch (error) {
  say(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}

/**
 * Goes to stderr: `npm pack` prints the name of its file on stdout.
 *
 * @param {string} line
 */
function say(line) {
  process.stderr.write(`${line}\n`);
}
