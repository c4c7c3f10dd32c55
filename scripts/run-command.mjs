// Runs another program to its end: quietly, with its output handed back, or with its output shown as it comes.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";

/**
 * @typedef {object} CommandOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] Added to the environment of this program.
 * @property {boolean} [show] Lets the program write straight to this terminal; then nothing is handed back.
 */

/**
 * @typedef {object} CommandResult
 * @property {number} status 0 when all went well; 127 when the program is not there; 128 + n after signal n.
 * @property {string} stdout
 * @property {string} stderr
 */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 */
export function runCommand(command, args, { cwd, env, show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      // Nothing that runs here may wait for an answer: there is often nobody to give one.
      stdio: show ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", (error) => resolve({ status: 127, stdout, stderr: `${stderr}${error.message}\n` }));
    child.on("close", (code, signal) => resolve({ status: exitStatus(code, signal), stdout, stderr }));
  });
}

/**
 * Runs the npm that started this script if there is one, because a version switcher could choose another.
 *
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 */
export function runNpm(args, options) {
  const npm = process.env.npm_execpath;
  if (npm?.endsWith("npm-cli.js")) return runCommand(process.execPath, [npm, ...args], options);
  if (process.platform !== "win32") return runCommand("npm", args, options);
  // There npm is a script of its shell, which cannot be started like a program.
  const own = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  return runCommand(process.execPath, [own, ...args], options);
}

/**
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
export function exitStatus(code, signal) {
  return signal ? 128 + constants.signals[signal] : (code ?? 1);
}
