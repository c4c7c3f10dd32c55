// `npm start` and `npm run demo`: install and build what is missing, then run the command; arguments go on to it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensurePage } from "./build-page.mjs";
import { ensureProgram } from "./build-program.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";
import { exitStatus } from "./run-command.mjs";

try {
  await ensureDependencies(repositoryRoot, say, "start");
  await Promise.all([ensureProgram(repositoryRoot, say), ensurePage(repositoryRoot, say)]);
  run(process.argv.slice(2));
} catch (error) {
  say(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}

/** @param {readonly string[]} args */
function run(args) {
  const main = join(repositoryRoot, "dist", "bundle", "main.js");
  const server = spawn(process.execPath, [main, ...args], { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the server too; twice could mean "at once", and nothing may be lost by that.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      server.kill(signal);
    });
  }
  server.on("exit", (code, signal) => process.exit(exitStatus(code, signal)));
  if (process.env.npm_lifecycle_event !== undefined) stopWithParent(server);
}

/**
 * An npm that is killed cannot pass anything on, and a server nobody knows of would keep the port.
 *
 * @param {import("node:child_process").ChildProcess} server
 */
function stopWithParent(server) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    server.kill("SIGTERM");
  }, 1000).unref();
}

/**
 * Goes to stderr: stdout belongs to the server.
 *
 * @param {string} line
 */
function say(line) {
  process.stderr.write(`${line}\n`);
}
