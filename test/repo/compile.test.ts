// Proves that a build happens when a source changed, leaves nothing of deleted sources, and otherwise does not happen.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureBuild } from "../../scripts/compile.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderWithFiles } from "./folder-with-files.js";

const options = { rootDir: ".", outDir: "dist", module: "nodenext", types: [], declaration: true, sourceMap: true };

function smallProject(): { root: string; lines: string[]; build: () => Promise<void> } {
  const incremental = { ...options, incremental: true, noEmitOnError: true, tsBuildInfoFile: "dist/.tsbuildinfo" };
  const root = folderWithFiles({
    "package.json": '{"type":"module"}',
    "package-lock.json": "{}",
    "tsconfig.json": JSON.stringify({ compilerOptions: incremental, include: ["src/**/*.ts"] }),
    "src/kept.ts": "export const kept: number = 1\n",
    "src/gone/away.ts": "export const away: number = 1\n",
  });
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"), "junction");
  const lines: string[] = [];
  return { root, lines, build: () => ensureBuild(root, (line) => lines.push(line)) };
}

test("nothing is built twice, and output of a deleted source disappears", async () => {
  const { root, lines, build } = smallProject();
  await build();
  expect(existsSync(join(root, "dist/src/gone/away.js"))).toBe(true);
  await build();
  expect(lines).toEqual(["Building (compiling TypeScript)."]);

  rmSync(join(root, "src/gone"), { recursive: true });
  await build();
  expect(lines).toHaveLength(2);
  expect(existsSync(join(root, "dist/src/gone"))).toBe(false);
  expect(existsSync(join(root, "dist/src/kept.js"))).toBe(true);
});

test("an error of the compiler is shown, and the build is tried again until it is fixed", async () => {
  const { root, lines, build } = smallProject();
  writeFileSync(join(root, "src/kept.ts"), "export const kept: number = 'one'\n");
  await expect(build()).rejects.toThrow("src/kept.ts(1,14): error TS2322: Type 'string' is not assignable");
  await expect(build()).rejects.toThrow("tsc found errors");
  writeFileSync(join(root, "src/kept.ts"), "export const kept: number = 2\n");
  await build();
  await build();
  expect(lines).toHaveLength(3);
});

test("a compiled file that was deleted by hand comes back with the next build", async () => {
  const { root, build } = smallProject();
  await build();
  rmSync(join(root, "dist/src/gone/away.js"));
  writeFileSync(join(root, "src/kept.ts"), "export const kept: number = 3\n");
  await build();
  expect(existsSync(join(root, "dist/src/gone/away.js"))).toBe(true);
});

test("a source that belongs to no project fails the build, and is named", async () => {
  const { root, build } = smallProject();
  mkdirSync(join(root, "client"));
  writeFileSync(join(root, "client/lost.ts"), "export const lost = 1\n");
  await expect(build()).rejects.toThrow("No project that tsconfig.json leads to includes client/lost.ts.");
});
