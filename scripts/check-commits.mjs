// The first lines of the commits that have not landed yet: short enough to be read in a list. What landed stays as it is.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";

const charsMax = 72;
const landed = "refs/remotes/origin/main";

/**
 * A fresh or a shallow clone has nothing of its own yet, and an unpacked archive or a repository without a remote knows
 * of no landed state: there is nothing to say about either.
 *
 * @param {string} root
 * @returns {Promise<string[]>} One line for each commit whose first line is too long.
 */
export async function checkCommits(root) {
  if (!existsSync(join(root, ".git"))) return [];
  const args = ["log", "--no-merges", "--format=%h %s", `${landed}..HEAD`];
  const { status, stdout } = await runCommand("git", args, { cwd: root });
  if (status !== 0) return [];
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const subject = line.slice(line.indexOf(" ") + 1);
      const chars = [...subject].length;
      return chars <= charsMax ? [] : [`${line}: ${chars} characters, and ${charsMax} are the most`];
    });
}
