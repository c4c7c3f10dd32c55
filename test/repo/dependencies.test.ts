// Proves that dependencies are installed when they do not match the lockfile, and only then.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureDependencies } from "../../scripts/dependencies.mjs";
import { folderWithFiles } from "./folder-with-files.js";

const installing = "Installing dependencies.";
const installed = expect.stringMatching(/^Installed in \d+ s\.$/);

/** A project without dependencies, so npm installs it without a network. */
const project = {
  "package.json": '{"name":"small","version":"1.0.0","engines":{"node":">=20.19"}}',
  "package-lock.json": '{"name":"small","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"small"}}}',
};

/** One that has a package in a folder, and a workspace for its tests. */
const tested = {
  "package.json": JSON.stringify({
    ...{ name: "small", version: "1.0.0", engines: { node: ">=20.19" } },
    ...{ workspaces: ["tests"], devDependencies: { tool: "file:tool" } },
  }),
  "package-lock.json": JSON.stringify({
    ...{ name: "small", version: "1.0.0", lockfileVersion: 3 },
    packages: {
      "": { name: "small", version: "1.0.0", workspaces: ["tests"], devDependencies: { tool: "file:tool" } },
      "node_modules/small-tests": { resolved: "tests", link: true },
      "node_modules/tool": { resolved: "tool", link: true },
      tests: { name: "small-tests", version: "1.0.0" },
      tool: { version: "1.0.0", dev: true },
    },
  }),
  "tests/package.json": '{"name":"small-tests","version":"1.0.0"}',
  "tool/package.json": '{"name":"tool","version":"1.0.0"}',
};

async function linesOf(root: string, extent?: "start" | "everything"): Promise<string[]> {
  const lines: string[] = [];
  await ensureDependencies(root, (line) => lines.push(line), extent);
  return lines;
}

test("a fresh clone is installed once", async () => {
  const root = folderWithFiles(project);
  expect(await linesOf(root)).toEqual([installing, installed]);
  expect(await linesOf(root)).toEqual([]);
});

test("what somebody installed by hand is left alone when it matches, optional packages of other platforms apart", async () => {
  const packages = { "": {}, "node_modules/a": { version: "1.0.0" } };
  const elsewhere = { "node_modules/a-for-windows": { version: "1.0.0", optional: true } };
  const root = folderWithFiles({
    "package.json": project["package.json"],
    "package-lock.json": JSON.stringify({ packages: { ...packages, ...elsewhere } }),
    "node_modules/.package-lock.json": JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }),
  });
  expect(await linesOf(root)).toEqual([]);
});

test("a start leaves out what only tests need; they install it, and from then on it stays", async () => {
  const root = folderWithFiles(tested);
  const workspace = join(root, "node_modules", "small-tests");
  expect(await linesOf(root, "start")).toEqual([installing, installed]);
  expect(existsSync(workspace)).toBe(false);
  expect(await linesOf(root, "start")).toEqual([]);
  expect(await linesOf(root)).toEqual([installing, installed]);
  expect(existsSync(workspace)).toBe(true);
  expect(await linesOf(root, "start")).toEqual([]);

  writeFileSync(join(root, "package-lock.json"), `${tested["package-lock.json"]}\n`);
  writeFileSync(join(root, "node_modules", ".hansard-stamp"), "of another lock");
  expect(await linesOf(root, "start")).toEqual([installing, installed]);
  expect(existsSync(workspace)).toBe(true);
});

test("after a change of version or of platform it is installed again", async () => {
  const root = folderWithFiles({
    ...project,
    "node_modules/.package-lock.json": JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }),
  });
  expect(await linesOf(root)).toEqual([installing, installed]);
  const stamp = join(root, "node_modules", ".hansard-stamp");
  writeFileSync(stamp, readFileSync(stamp, "utf8").replace(/ .*$/, " other-cpu"));
  expect(await linesOf(root)).toEqual([installing, installed]);
});

test("a Node that is too old gets a clear error", async () => {
  const root = folderWithFiles({ ...project, "package.json": '{"engines":{"node":">=99.1"}}' });
  await expect(linesOf(root)).rejects.toThrow(`Node >=99.1 is needed, and this is ${process.versions.node}.`);
});
