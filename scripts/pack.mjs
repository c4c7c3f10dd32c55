// What `npm pack` and `npm publish` run first: the build, and the types of the package.
import { ensureTypes } from "./build-types.mjs";
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";

/** Goes to stderr: `npm pack` prints the name of its file on stdout. @param {string} line */
const say = (line) => void process.stderr.write(`${line}\n`);

try {
  await ensureDependencies(repositoryRoot, say);
  await ensureBuild(repositoryRoot, say);
  await ensureTypes(repositoryRoot, say);
} catch (error) {
  say(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}
