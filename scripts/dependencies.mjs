// Installs what package-lock.json names, when it is not installed already.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNpm } from "./run-command.mjs";

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage */

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureDependencies(root, say) {
  requireNode(root);
  if (installed(root)) return;
  say("Installing dependencies (the first time takes a minute or two).");
  // Development dependencies are named because NODE_ENV=production would leave them out, and the compiler is one.
  const { status, stdout, stderr } = await runNpm(["ci", "--include=dev", "--no-audit", "--no-fund"], { cwd: root });
  if (status !== 0) throw new Error(`npm ci failed.\n${stdout}${stderr}`);
  writeFileSync(stampFile(root), stampOf(root));
}

/** @param {string} root */
function installed(root) {
  if (existsSync(stampFile(root))) return readFileSync(stampFile(root), "utf8") === stampOf(root);
  // Someone ran `npm install` by hand: what npm noted about node_modules says whether that will do.
  if (!matchesLock(root)) return false;
  writeFileSync(stampFile(root), stampOf(root));
  return true;
}

/** @param {string} root */
function stampFile(root) {
  return join(root, "node_modules", ".hansard-stamp");
}

/**
 * Native modules are built for one platform and one binary interface of Node, so these count as well.
 *
 * @param {string} root
 */
function stampOf(root) {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${lock} ${process.platform}-${process.arch} ${process.versions.modules}\n`;
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
