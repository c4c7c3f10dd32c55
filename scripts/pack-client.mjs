// What `npm pack` in client/, and `npm install` of that folder, run first: the client as one small file, since agents load it in
// browsers too, and its types with their comments, since editors show them.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { rollUpTypes } from "./build-types.mjs";
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";

/** Goes to stderr: `npm pack` prints the name of its file on stdout. @param {string} line */
const say = (line) => void process.stderr.write(`${line}\n`);

await ensureDependencies(repositoryRoot, say);
await ensureBuild(repositoryRoot, say);
const outDir = join(repositoryRoot, "client", "dist");
rmSync(outDir, { recursive: true, force: true });
// A package, and this script may be what installs it.
const { rolldown } = await import("rolldown");
const bundle = await rolldown({ input: join(repositoryRoot, "client", "index.ts"), platform: "neutral" });
await bundle.write({ dir: outDir, format: "esm", minify: true });
await rollUpTypes(repositoryRoot, { input: { index: "dist/client/index.d.ts" }, dir: outDir });
