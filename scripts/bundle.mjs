// Bundles the program with the packages it uses into few files in dist/bundle: nothing has to be installed with it, and loading
// hundreds of modules would take most of the time that a short command runs. What few commands need is a file of its own,
// loaded when it is used. Only the SQLite driver for Node 20 stays outside, because it has compiled files.
import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { writeLicenses } from "./licenses.mjs";
import { dataFiles } from "./source-files.mjs";

const groups = [
  // All that `hansard --version` loads.
  { name: "version", test: /\/(?:cli\/version|model\/files)\.ts$/, priority: 3 },
  // Reached by several ways in; a file for each combination of them would be hundreds.
  {
    name: "shared",
    test: /\/src\/(?!surfaces\/|import\/|engines\/postgres\/).*\.ts$/,
    minShareCount: 2,
    priority: 2,
  },
  // The formats of other programs are loaded by an import; what all the others need of its folder is not.
  { name: "shared", test: /\/src\/import\//, minShareCount: 4, priority: 2 },
  // What commands need of these without a server; the server itself is loaded when one is started.
  { name: "http-checks", test: /\/src\/surfaces\/http\/(?:checks\/(?:bodies|hosts|limits)|describe\/)/, priority: 1 },
  { name: "words", test: /\/node_modules\/(?:stopword|@orama)\// },
];

/** @type {import("rolldown").InputOptions} */
const options = {
  platform: "node",
  external: [/^node:/, "@photostructure/sqlite", "vitest", "pg-native"],
  // Its other form requires its parts by names that no bundler sees.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  transform: { target: "node20" },
  onLog(level, log, handle) {
    // What is loaded when it is used may still be part of a file that is loaded anyway.
    if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
  },
};

/** @param {string} root */
export async function bundle(root) {
  const output = { dir: join(root, "dist", "bundle"), sourcemap: true };
  const threads = ["checkpoint", "log", "purge", "read", "tail"].map((name) => [`${name}-thread`, threadSource(name)]);
  const input = {
    index: "src/index.ts",
    conformance: "test/conformance/index.ts",
    main: "src/surfaces/cli/main.ts",
    ...Object.fromEntries(threads),
  };
  const together = await rolldown({ ...options, cwd: root, input });
  const written = await together.write({
    ...output,
    cleanDir: true,
    chunkFileNames: ({ name, facadeModuleId }) => `${facadeModuleId ? chunkName(facadeModuleId) : name}.js`,
    codeSplitting: { groups },
  });
  writeLicenses(root, output.dir, written);
  for (const file of dataFiles) copyFileSync(join(root, file), join(output.dir, basename(file)));
  // Threads that write run with every capture and every erasure, and need a tenth of the shared code: bundled alone they start sooner
  // and take less memory.
  // They are built with the others anyway, so shared code stays in one file.
  const alone = [...["checkpoint", "log", "purge"].map(threadSource), "src/import/foreign-database-process.ts"];
  await Promise.all([
    ...alone.map((file) => bundleAlone(root, output, { input: file })),
    // Agents load the client in browsers too.
    bundleAlone(root, output, { input: { client: "client/index.ts" }, platform: "neutral" }),
  ]);
}

/**
 * @param {string} root
 * @param {import("rolldown").OutputOptions} output
 * @param {import("rolldown").InputOptions} given
 */
async function bundleAlone(root, output, given) {
  const alone = await rolldown({ ...options, cwd: root, ...given });
  await alone.write({ ...output, codeSplitting: false });
}

/**
 * Of a package the package's name, of an engine the engine's.
 *
 * @param {string} module The path of the module that is loaded when it is used.
 */
function chunkName(module) {
  const path = module.replaceAll("\\", "/");
  const [, inPackage, inEngine] =
    /\/node_modules\/(?:@[^/]+\/)?([^/]+)\/|\/engines\/([^/]+)\/store\.ts$/.exec(path) ?? [];
  return inPackage ?? inEngine ?? basename(path, ".ts");
}

/** @param {string} name */
function threadSource(name) {
  return `src/threads/${name}-thread.ts`;
}
