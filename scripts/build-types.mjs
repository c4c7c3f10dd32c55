// Rolls the types of the package up from what the compiler wrote: dist/types has a file for each way in, and one that they share.
// Types of other packages are in it, because none is installed with this one.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "./source-files.mjs";
import { makeOnce } from "./stamps.mjs";

/** The ways into the package. */
const input = {
  index: "dist/src/index.d.ts",
  client: "dist/client/index.d.ts",
  conformance: "dist/test/conformance/index.d.ts",
};

/**
 * @param {string} root
 * @param {(line: string) => void} say Hears one line when something has to be done.
 */
export async function ensureTypes(root, say) {
  const compiled = ["src", "client", "test/conformance"].flatMap((folder) => listFiles(root, `dist/${folder}`));
  const from = [
    ...["package-lock.json", "scripts/build-types.mjs", "scripts/types/typebox.d.ts"],
    ...compiled.filter((file) => file.endsWith(".d.ts") && !file.includes(".test")),
  ];
  await makeOnce(root, { name: "types", from, outputs: ["dist/types/index.d.ts"] }, async () => {
    say("Building (the types).");
    rmSync(join(root, "dist", "types"), { recursive: true, force: true });
    await rollUpTypes(root, { input, dir: join(root, "dist", "types") });
  });
}

/**
 * @param {string} root
 * @param {{ input: Record<string, string>, dir: string }} types Ways in by name, as the compiler wrote them, and where the files go.
 */
export async function rollUpTypes(root, { input, dir }) {
  // Packages, and this module is loaded before any is installed.
  const { rolldown } = await import("rolldown");
  const { dts } = await import("rolldown-plugin-dts");
  const typebox = {
    name: "typebox",
    resolveId: {
      order: /** @type {const} */ ("pre"),
      handler: (/** @type {string} */ id) => (id === "typebox" ? join(root, "scripts/types/typebox.d.ts") : undefined),
    },
  };
  const types = await rolldown({
    ...{ cwd: root, input, platform: "node", external: [/^node:/, "vitest"] },
    plugins: [typebox, dts({ dtsInput: true, tsconfig: false, sourcemap: false })],
  });
  await types.write({
    dir,
    entryFileNames: "[name].ts",
    chunkFileNames: "[name].d.ts",
    codeSplitting: { groups: [{ name: "shared", test: /./, minShareCount: 2 }] },
  });
}
