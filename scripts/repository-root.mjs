// The folder of this repository, found from wherever this module runs: scripts/ or its compiled copy in dist/scripts/.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = nearestLock(dirname(fileURLToPath(import.meta.url)));

/**
 * @param {string} folder
 * @returns {string}
 */
function nearestLock(folder) {
  if (existsSync(join(folder, "package-lock.json"))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error("There is no package-lock.json above this script.");
  return nearestLock(parent);
}
