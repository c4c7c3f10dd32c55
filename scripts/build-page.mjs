// Builds the page into dist/page with Vite, once its types hold, and only when something it is made of changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { listFiles } from "./source-files.mjs";

/**
 * @param {string} root A project without a page has nothing to build.
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensurePage(root, say) {
  if (!existsSync(join(root, "ui"))) return;
  const stampFile = join(root, "dist", ".page-stamp");
  const stamp = stampOf(root);
  const isBuilt = existsSync(join(root, "dist", "page", "index.html"));
  if (isBuilt && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  say("Building (the page).");
  rmSync(stampFile, { force: true });
  await run(root, ["node_modules/typescript/bin/tsc", "--pretty", "false", "-p", "ui"]);
  await run(root, ["node_modules/vite/bin/vite.js", "build", "ui", "--logLevel", "warn"]);
  writeFileSync(stampFile, stamp);
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 */
async function run(root, args) {
  const { status, stdout, stderr } = await runCommand(process.execPath, [...args], { cwd: root });
  if (status !== 0) throw new Error(`The page cannot be built.\n${stdout}${stderr}`);
}

/**
 * The types of the answers come from all over src, so a change there triggers a build too.
 *
 * @param {string} root
 */
function stampOf(root) {
  const sources = listFiles(root, "src").filter((file) => file.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(file));
  const hash = createHash("sha256");
  for (const file of [
    "package.json",
    "package-lock.json",
    "tsconfig.base.json",
    ...listFiles(root, "ui"),
    ...sources,
  ]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}
