// Proves that dependencies are installed when they do not match the lockfile, and only then.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureDependencies } from "../../scripts/dependencies.mjs";
import { folderWithFiles } from "./folder-with-files.js";

const installing = "Installing dependencies (the first time takes a minute or two).";
const installed = expect.stringMatching(/^Installed in \d+ s\.$/);

/** A project without dependencies, so npm installs it without a network. */
const project = {
  "package.json": '{"name":"small","version":"1.0.0","engines":{"node":">=20.19"}}',
  "package-lock.json": '{"name":"small","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"small"}}}',
};

async function linesOf(root: string): Promise<string[]> {
  const lines: string[] = [];
  await ensureDependencies(root, (line) => lines.push(line));
  return lines;
}

test("a fresh clone is installed once", async () => {
  const root = folderWithFiles(project);
  expect(await linesOf(root)).toEqual([installing, installed]);
  expect(await linesOf(root)).toEqual([]);
});

test("slow steps are announced as they happen", async () => {
  const install =
    "echo prebuild-install warn install No prebuilt binaries found >&2; echo prebuild-install warn again >&2";
  const root = folderWithFiles({
    "package.json": '{"name":"small","engines":{"node":">=20.19"},"dependencies":{"better-sqlite3":"file:native"}}',
    "package-lock.json": JSON.stringify({
      name: "small",
      lockfileVersion: 3,
      packages: {
        "": { name: "small", dependencies: { "better-sqlite3": "file:native" } },
        native: { name: "better-sqlite3", version: "12.0.0", hasInstallScript: true },
        "node_modules/better-sqlite3": { resolved: "native", link: true },
      },
    }),
    "native/package.json": JSON.stringify({ name: "better-sqlite3", version: "12.0.0", scripts: { install } }),
  });
  expect(await linesOf(root)).toEqual([
    installing,
    "Fetching the prebuilt binary of better-sqlite3.",
    "No prebuilt binary can be had here: compiling better-sqlite3, which takes about a minute.",
    installed,
  ]);
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

test("after a change of version or of Node's binary interface it is installed again", async () => {
  const root = folderWithFiles({
    ...project,
    "node_modules/.package-lock.json": JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }),
  });
  expect(await linesOf(root)).toEqual([installing, installed]);
  const stamp = join(root, "node_modules", ".hansard-stamp");
  writeFileSync(stamp, readFileSync(stamp, "utf8").replace(/\d+$/, "1"));
  expect(await linesOf(root)).toEqual([installing, installed]);
});

test("a Node that is too old gets a clear error", async () => {
  const root = folderWithFiles({ ...project, "package.json": '{"engines":{"node":">=99.1"}}' });
  await expect(linesOf(root)).rejects.toThrow(`Node >=99.1 is needed, and this is ${process.versions.node}.`);
});
