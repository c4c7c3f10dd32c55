// What was made from which files is noted in dist/, for making it again only when one of them changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * @typedef {object} Made
 * @property {string} name
 * @property {readonly string[]} from Files relative to root; those that are not there count too.
 * @property {readonly string[]} outputs Files relative to root without which it is not made.
 */

/**
 * @param {string} root
 * @param {Made} made
 * @param {() => Promise<void>} make Until it has succeeded nothing counts as made, even if the sources change back meanwhile.
 */
export async function makeOnce(root, { name, from, outputs }, make) {
  const stampFile = join(root, "dist", `.${name}-stamp`);
  const stamp = hashOf(root, from);
  const isThere = outputs.every((file) => existsSync(join(root, file)));
  if (isThere && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  rmSync(stampFile, { force: true });
  await make();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

/**
 * Contents and not times are compared: a checkout or a restored cache touches times without changing anything.
 *
 * @param {string} root
 * @param {readonly string[]} files
 */
function hashOf(root, files) {
  const hash = createHash("sha256");
  for (const file of new Set(files)) {
    if (!existsSync(join(root, file))) continue;
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}
