// Builds the page into dist/page with Vite, and checks its types, each only when something it is made of changed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { listFiles, programSources } from "./source-files.mjs";
import { makeOnce } from "./stamps.mjs";

/**
 * @param {string} root A project without a page has nothing to build.
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensurePage(root, say) {
  if (!existsSync(join(root, "ui"))) return;
  await makeOnce(root, { name: "page", from: sourcesOf(root), outputs: ["dist/page/index.html"] }, async () => {
    say("Building (the page).");
    await run(root, ["node_modules/vite/bin/vite.js", "build", "ui", "--logLevel", "warn"]);
  });
}

/** @param {string} root */
export async function ensurePageTypes(root) {
  if (!existsSync(join(root, "ui"))) return;
  await makeOnce(root, { name: "page-types", from: sourcesOf(root), outputs: [] }, () =>
    run(root, ["node_modules/typescript/bin/tsc", "--pretty", "false", "-p", "ui"]),
  );
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 */
async function run(root, args) {
  const { status, stdout, stderr } = await runCommand(process.execPath, [...args], { cwd: root });
  if (status !== 0) throw new Error(`The page cannot be built.\n${stdout}${stderr}`);
}

/**
 * The types of the answers come from all over src, so a change there triggers a build too.
 *
 * @param {string} root
 */
function sourcesOf(root) {
  return [
    ...["package.json", "package-lock.json", "tsconfig.base.json"],
    ...listFiles(root, "ui"),
    ...programSources(root),
  ];
}
