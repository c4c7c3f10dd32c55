// The browser for the tests of the page: where it is, and how it comes to be there. Tests import from here.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { runCommand } from "./run-command.mjs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const macPath = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

const flags = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** A browser that asks nobody but whom it is sent to. */
export function launchChromium() {
  return chromium.launch({ executablePath: findChromium(), args: flags });
}

/** The same for several processes, which connect to it. */
export function serveChromium() {
  return chromium.launchServer({ executablePath: findChromium(), args: flags });
}

/**
 * @returns {string} The program to start; HANSARD_CHROMIUM, where set, names it.
 * @throws When there is none: a test without its browser is red, never skipped.
 */
export function findChromium() {
  const found = searchChromium();
  if (found === undefined) throw new Error("No Chromium was found. Install one, or set HANSARD_CHROMIUM to its path.");
  return found;
}

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureChromium(root, say) {
  if (searchChromium() !== undefined) return;
  const problems = [];
  for (const { name, commands } of waysToInstall(root)) {
    say(`Installing Chromium with ${name}.`);
    problems.push(await firstProblem(commands));
    if (searchChromium() !== undefined) return;
  }
  throw new Error(`Chromium could not be installed. Set HANSARD_CHROMIUM to one.\n${problems.join("")}`);
}

function searchChromium() {
  const named = process.env.HANSARD_CHROMIUM;
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`HANSARD_CHROMIUM names ${named}, which is not there.`);
  }
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidates, macPath, chromium.executablePath()].find((path) => existsSync(path));
}

/** @param {string} root */
function waysToInstall(root) {
  const playwright = join(root, "node_modules", "playwright-core", "cli.js");
  const fromPlaywright = {
    name: "Playwright",
    commands: [{ command: process.execPath, args: [playwright, "install", "chromium"] }],
  };
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return [fromPlaywright];
  // The package of the system brings its libraries along, which Playwright's download does not.
  const fromSystem = {
    name: "apt-get",
    commands: [
      { command: "apt-get", args: ["update"] },
      { command: "apt-get", args: ["install", "-y", "--no-install-recommends", "chromium"] },
    ],
  };
  return [fromSystem, fromPlaywright];
}

/** @param {readonly { command: string, args: readonly string[] }[]} commands */
async function firstProblem(commands) {
  for (const { command, args } of commands) {
    const { status, stdout, stderr } = await runCommand(command, args, { env: { DEBIAN_FRONTEND: "noninteractive" } });
    if (status !== 0) return `${command} ${args.join(" ")}: status ${status}\n${stdout}${stderr}`;
  }
  return "";
}
