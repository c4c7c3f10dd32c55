// Installs what package-lock.json names, when it is not installed already.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNpm } from "./run-command.mjs";

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage */

const platform = `${process.platform}-${process.arch}`;

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureDependencies(root, say) {
  requireNode(root);
  if (installed(root)) return;
  say("Installing dependencies.");
  const start = performance.now();
  // Development dependencies are named because NODE_ENV=production would leave them out, and the compiler is one.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--ignore-scripts"];
  const { status, stdout, stderr } = await runNpm(args, { cwd: root });
  if (status !== 0) throw new Error(`npm ci failed.\n${stdout}${stderr}`);
  say(`Installed in ${Math.round((performance.now() - start) / 1000)} s.`);
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stampFile(root), stampOf(root));
}

/** @param {string} root */
function installed(root) {
  const file = stampFile(root);
  const stamp = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  if (stamp === stampOf(root)) return true;
  // Native modules are built for one platform.
  if (stamp !== undefined && !stamp.endsWith(platform)) return false;
  // Someone ran `npm install` by hand: what npm noted about node_modules says whether that will do.
  if (!matchesLock(root)) return false;
  writeFileSync(file, stampOf(root));
  return true;
}

/** @param {string} root */
function stampFile(root) {
  return join(root, "node_modules", ".hansard-stamp");
}

/** @param {string} root */
function stampOf(root) {
  const lock = readFileSync(join(root, "package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${platform}`;
}

/** @param {string} root */
function matchesLock(root) {
  const note = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(note)) return false;
  const wanted = lockedPackages(join(root, "package-lock.json"));
  const present = lockedPackages(note);
  // An optional package may be missing: it is for another platform.
  const complete = Object.entries(wanted).every(
    ([path, { version, optional }]) => path === "" || (present[path]?.version ?? (optional ? version : "")) === version,
  );
  return complete && Object.keys(present).every((path) => path in wanted);
}

/**
 * @param {string} file
 * @returns {{ [path: string]: LockedPackage }}
 */
function lockedPackages(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
}

/** @param {string} root */
function requireNode(root) {
  const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines.node;
  const least = wanted
    .match(/(\d+)\.(\d+)/)
    .slice(1)
    .map(Number);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return;
  throw new Error(`Node ${wanted} is needed, and this is ${process.versions.node}.`);
}
