// Compiles all parts into dist/ with one run of `tsc -b` and bundles the program, and only when a source differs from the last
// build; then the page.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensurePage } from "./build-page.mjs";
import { runCommand } from "./run-command.mjs";
import { compiledSources, compilerSettings, dataFiles, listFiles } from "./source-files.mjs";

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureBuild(root, say) {
  await ensureCompiled(root, say);
  await ensurePage(root, say);
}

/**
 * @param {string} root
 * @param {(line: string) => void} say
 */
async function ensureCompiled(root, say) {
  const stampFile = join(root, "dist", ".build-stamp");
  const stamp = stampOf(root);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  say("Building (compiling TypeScript).");
  // Until it has succeeded, a build counts for nothing, even if the sources change back meanwhile.
  rmSync(stampFile, { force: true });
  await compile(root);
  // tsc trusts its notes and does not see that an output was deleted.
  if (withoutOutput(root).length > 0) await compile(root, "--force");
  const [forgotten] = withoutOutput(root);
  if (forgotten !== undefined) throw new Error(`No project that tsconfig.json leads to includes ${forgotten}.`);
  removeStale(root);
  // The bundler is a package, and this module is loaded before any is installed.
  const { bundle } = await import("./bundle.mjs");
  await bundle(root);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
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

/**
 * Contents and not times are compared: a checkout or a restored cache touches times without changing anything.
 *
 * @param {string} root
 */
function stampOf(root) {
  const hash = createHash("sha256");
  const data = dataFiles.filter((file) => existsSync(join(root, file)));
  for (const file of [
    "package.json",
    "package-lock.json",
    ...compilerSettings(root),
    ...compiledSources(root),
    ...data,
  ]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
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
