// Compiles all parts into dist/ with one run of `tsc -b`, and builds the program and the page, each only when a source differs
// from the last build.
import { existsSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensurePage, ensurePageTypes } from "./build-page.mjs";
import { ensureProgram } from "./build-program.mjs";
import { runCommand } from "./run-command.mjs";
import { compiledSources, compilerSettings, listFiles } from "./source-files.mjs";
import { makeOnce } from "./stamps.mjs";

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureBuild(root, say) {
  await ensureCompiled(root, say);
  await ensureProgram(root, say);
  await ensurePageTypes(root);
  await ensurePage(root, say);
}

/**
 * @param {string} root
 * @param {(line: string) => void} say
 */
async function ensureCompiled(root, say) {
  const from = ["package.json", "package-lock.json", ...compilerSettings(root), ...compiledSources(root)];
  await makeOnce(root, { name: "build", from, outputs: [] }, async () => {
    say("Building (compiling TypeScript).");
    await compile(root);
    // tsc trusts its notes and does not see that an output was deleted.
    if (withoutOutput(root).length > 0) await compile(root, "--force");
    const [forgotten] = withoutOutput(root);
    if (forgotten !== undefined) throw new Error(`No project that tsconfig.json leads to includes ${forgotten}.`);
    removeStale(root);
  });
}

/**
 * @param {string} root
 * @param {readonly string[]} options
 */
async function compile(root, ...options) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  // Parts are small: several at once take less time than several threads for each.
  const args = [tsc, "-b", "--pretty", "false", "--checkers", "1", ...options];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, { cwd: root });
  if (status !== 0) throw new Error(`tsc found errors.\n${stdout}${stderr}`);
}

/** @param {string} root */
function withoutOutput(root) {
  return compiledSources(root).filter((file) => outputsOf(file).some((output) => !existsSync(join(root, output))));
}

/** @param {string} source */
function outputsOf(source) {
  if (source.endsWith(".d.ts")) return [];
  const stem = join("dist", source).replace(/\.(ts|mjs)$/, "");
  return source.endsWith(".ts")
    ? [`${stem}.js`, `${stem}.js.map`, `${stem}.d.ts`]
    : [`${stem}.mjs`, `${stem}.mjs.map`, `${stem}.d.mts`];
}

/**
 * A deleted test would run for ever if its compiled file stayed, and a deleted module would be packed.
 *
 * @param {string} root
 */
function removeStale(root) {
  const notes = compilerSettings(root).map((file) => join("dist", file.replace(/\.json$/, ".tsbuildinfo")));
  const outputs = new Set([...compiledSources(root).flatMap(outputsOf), ...notes]);
  for (const folder of ["src", "client", "test", "bench", "scripts"]) {
    for (const file of listFiles(join(root, "dist"), folder)) {
      if (outputs.has(join("dist", file))) continue;
      rmSync(join(root, "dist", file));
      removeEmptyFolders(join(root, "dist"), dirname(file));
    }
  }
}

/**
 * @param {string} root
 * @param {string} folder
 */
function removeEmptyFolders(root, folder) {
  if (folder === ".") return;
  try {
    rmdirSync(join(root, folder));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOTEMPTY") return;
    throw error;
  }
  removeEmptyFolders(root, dirname(folder));
}
