// What `npm pack` in client/ runs first: the client as one small file, since agents load it in browsers too, and its types with
// their comments, since editors show them.
import { readFileSync, rmSync } from "node:fs";
import { join, posix } from "node:path";
import { rolldown } from "rolldown";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";
import { runCommand } from "./run-command.mjs";
import { listFiles } from "./source-files.mjs";

/** Goes to stderr: `npm pack` prints the name of its file on stdout. @param {string} line */
const say = (line) => void process.stderr.write(`${line}\n`);

await ensureDependencies(repositoryRoot, say);
const outDir = join(repositoryRoot, "client", "dist");
rmSync(outDir, { recursive: true, force: true });
const bundle = await rolldown({ input: join(repositoryRoot, "client", "index.ts"), platform: "neutral" });
await bundle.write({ dir: outDir, format: "esm", minify: true });
const tsc = join(repositoryRoot, "node_modules", "typescript", "bin", "tsc");
const shape = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023", "--types", "node", "--strict"];
const types = ["--declaration", "--emitDeclarationOnly", "--stripInternal", "--rootDir", "client", "--outDir", outDir];
const args = [tsc, "--ignoreConfig", "client/index.ts", ...shape, ...types];
const { status, stdout, stderr } = await runCommand(process.execPath, args, { cwd: repositoryRoot });
if (status !== 0) throw new Error(`tsc found errors.\n${stdout}${stderr}`);
const named = new Set(["index.d.ts"]);
for (const file of named) {
  const imports = readFileSync(join(outDir, file), "utf8").matchAll(/from "(\.[^"]+)\.js"/g);
  for (const [, path] of imports) named.add(posix.join(posix.dirname(file), `${path}.d.ts`));
}
// Types that no other type names are nobody's.
for (const file of listFiles(outDir)) if (file.endsWith(".d.ts") && !named.has(file)) rmSync(join(outDir, file));
