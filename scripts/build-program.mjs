// Bundles the program into dist/bundle, and only when a source differs from the last time. Types are not checked here:
// nobody waits for that who only wants to start it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dataFiles, listFiles, programSources } from "./source-files.mjs";
import { makeOnce } from "./stamps.mjs";

/**
 * @param {string} root A project without a command has nothing to bundle.
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureProgram(root, say) {
  if (!existsSync(join(root, "src", "surfaces", "cli", "main.ts"))) return;
  const from = [
    ...["package.json", "package-lock.json", "scripts/bundle.mjs"],
    ...programSources(root),
    ...listFiles(root, "test/conformance"),
    ...dataFiles,
  ];
  await makeOnce(root, { name: "bundle", from, outputs: ["dist/bundle/main.js"] }, async () => {
    say("Building (the program).");
    // The bundler is a package, and this module is loaded before any is installed.
    const { bundle } = await import("./bundle.mjs");
    await bundle(root);
  });
}
