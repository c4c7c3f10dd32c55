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

/** What npm says where a registry cannot be reached, or does not have a package. */
const OUT_OF_REACH = [
  ...["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT"],
  ...["E401", "E403", "E404", "E429", "E500", "E502", "E503", "E504", "ETARGET", "ENOTCACHED"],
];

const RETRIES = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=10000"];

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 * @returns {Promise<string | undefined>} Why the registry does not give them; undefined where they are installed.
 * @throws Where anything else is wrong with them.
 */
export async function ensureAgents(root, say) {
  const folder = agentFolder(root);
  const stamp = join(folder, ".installed");
  if (existsSync(stamp)) return undefined;
  say(`Installing the coding agents in ${folder} (1.4 GB, about a minute).`);
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(packagesOf(root), file), join(folder, file));
  copyFileSync(join(root, ".npmrc"), join(folder, ".npmrc"));
  // An installation asks for hundreds of packages before it gives up.
  const reached = await runNpm(["view", "opencode-ai", "name", "--fetch-retries=1", ...RETRIES], { cwd: folder });
  // Some registries lack packages for other systems, and so does a lock file that was written with one: `npm ci` refuses that.
  const { status, stdout, stderr } =
    reached.status === 0 ? await runNpm(["install", "--no-audit", "--no-fund", ...RETRIES], { cwd: folder }) : reached;
  if (status === 0) {
    writeFileSync(stamp, "");
    return undefined;
  }
  const [, code = ""] = /^npm (?:error|ERR!) code (\w+)/m.exec(stderr) ?? [];
  if (!OUT_OF_REACH.includes(code)) throw new Error(`The coding agents could not be installed.\n${stdout}${stderr}`);
  return `The registry does not give the coding agents (${code}).`;
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
