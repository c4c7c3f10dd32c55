// Installs what package-lock.json names, when it is not installed already: what building and serving need, or also what
// only tests and checks need, the workspace in test/.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNpm } from "./run-command.mjs";

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} LockedPackage */
/** @typedef {"start" | "everything"} Extent */

const platform = `${process.platform}-${process.arch}`;

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 * @param {Extent} [extent] `start` is a third of everything.
 */
export async function ensureDependencies(root, say, extent = "everything") {
  requireNode(root);
  if (installed(root, extent)) return;
  say("Installing dependencies.");
  const start = performance.now();
  const wanted = extent === "start" && hadWorkspaces(root) ? "everything" : extent;
  // Development dependencies are named because NODE_ENV=production would leave them out, and the bundler is one.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--ignore-scripts"];
  if (wanted === "start") args.push("--workspaces=false");
  const { status, stdout, stderr } = await runNpm(args, { cwd: root });
  if (status !== 0) throw new Error(`npm ci failed.\n${stdout}${stderr}`);
  say(`Installed in ${Math.round((performance.now() - start) / 1000)} s.`);
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stampFile(root), stampOf(root, wanted));
}

/**
 * Who once had everything runs tests here, and keeps what they need.
 *
 * @param {string} root
 */
function hadWorkspaces(root) {
  const note = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(note)) return false;
  const { workspaces = [] } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const present = lockedPackages(note);
  return workspaces.some((/** @type {string} */ path) => path in present);
}

/**
 * @param {string} root
 * @param {Extent} extent
 */
function installed(root, extent) {
  const file = stampFile(root);
  const stamp = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  if (stamp === stampOf(root, "everything") || stamp === stampOf(root, extent)) return true;
  if (stamp === stampOf(root, "start")) return false;
  // Native modules are built for one platform.
  if (stamp !== undefined && !stamp.endsWith(platform)) return false;
  // Someone ran `npm install` by hand: what npm noted about node_modules says whether that will do.
  if (!matchesLock(root)) return false;
  writeFileSync(file, stampOf(root, "everything"));
  return true;
}

/** @param {string} root */
function stampFile(root) {
  return join(root, "node_modules", ".hansard-stamp");
}

/**
 * @param {string} root
 * @param {Extent} extent
 */
function stampOf(root, extent) {
  const lock = readFileSync(join(root, "package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${extent} ${platform}`;
}

/** @param {string} root */
function matchesLock(root) {
  const note = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(note)) return false;
  const wanted = lockedPackages(join(root, "package-lock.json"));
  const present = lockedPackages(note);
  // An optional package may be missing: it is for another platform. A workspace is in the repository.
  const complete = Object.entries(wanted).every(
    ([path, { version, optional, link }]) =>
      path === "" ||
      link === true ||
      !path.includes("node_modules") ||
      (present[path]?.version ?? (optional ? version : "")) === version,
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
