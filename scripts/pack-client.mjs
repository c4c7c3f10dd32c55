// What `npm pack` in client/ runs first: puts the compiled client where its own package has it.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";

/** Goes to stderr: `npm pack` prints the name of its file on stdout. @param {string} line */
const say = (line) => void process.stderr.write(`${line}\n`);

await ensureDependencies(repositoryRoot, say);
await ensureBuild(repositoryRoot, say);
const target = join(repositoryRoot, "client", "dist");
rmSync(target, { recursive: true, force: true });
cpSync(join(repositoryRoot, "dist", "client"), target, { recursive: true });
