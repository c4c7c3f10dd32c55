// Bundles what the package is entered by into few files in dist/bundle: loading hundreds of modules would take most of the
// time that a short command runs, and every thread loads its own again. Packages stay outside.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const CODE = /\/src\/.*\.ts$/;

/** @param {string} root A project without a command has nothing to bundle. */
export async function bundle(root) {
  if (!existsSync(join(root, "src", "cli", "main.ts"))) return;
  const threads = ["checkpoint", "log", "purge", "read", "tail"].map((name) => `src/threads/${name}-thread.ts`);
  const input = ["src/index.ts", "src/conformance.ts", "src/cli/main.ts", ...threads];
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: /^[^./]/,
    transform: { target: "node20" },
  });
  await build.write({
    dir: join(root, "dist", "bundle"),
    cleanDir: true,
    chunkFileNames: "[name].js",
    sourcemap: true,
    codeSplitting: {
      groups: [
        // All that `hansard --version` loads.
        { name: "version", test: /\/(?:cli\/version|model\/package-file)\.ts$/, priority: 1 },
        { name: "shared", test: CODE, minShareCount: 4 },
      ],
    },
  });
}
