// The real coding agents that the record is tried with: installed once, outside of the repository. Tests import from here.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { runNpm } from "./run-command.mjs";

const FILES = ["package.json", "package-lock.json"];

/**
 * @param {string} root
 * @returns {string} The folder with the agents' commands; another one for each set of versions.
 */
export function agentCommands(root) {
  return join(agentFolder(root), "node_modules", ".bin");
}

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 * @throws Where the registry does not have them: it is a fault for who asked for these tests.
 */
export async function ensureAgents(root, say) {
  const folder = agentFolder(root);
  const stamp = join(folder, ".installed");
  if (existsSync(stamp)) return;
  say(`Installing the coding agents in ${folder} (1.4 GB, about a minute).`);
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(packagesOf(root), file), join(folder, file));
  copyFileSync(join(root, ".npmrc"), join(folder, ".npmrc"));
  const { status, stdout, stderr } = await runNpm(["ci", "--no-audit", "--no-fund"], { cwd: folder });
  if (status !== 0) throw new Error(`The coding agents could not be installed.\n${stdout}${stderr}`);
  writeFileSync(stamp, "");
}

/** @param {string} root */
function agentFolder(root) {
  const hash = createHash("sha256");
  for (const file of FILES) hash.update(readFileSync(join(packagesOf(root), file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(cache, "hansard-agents", `${process.platform}-${process.arch}-${hash.digest("hex").slice(0, 16)}`);
}

/** @param {string} root */
function packagesOf(root) {
  return join(root, "test", "agents", "packages");
}
