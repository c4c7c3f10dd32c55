// Packs the project, installs the package into an empty folder, and uses it there as a stranger would.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand, runNpm } from "../../scripts/run-command.mjs";
import { listFiles } from "../../scripts/source-files.mjs";
import { folderOfFile } from "../support/temporary-folder.js";

const folder = folderOfFile();
const installed = join(folder, "node_modules", "hansard");

beforeAll(async () => {
  const packed = await runNpm(["pack", "--pack-destination", folder], { cwd: repositoryRoot });
  expect(packed, packed.stderr).toMatchObject({ status: 0 });
  const [tarball = ""] = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const install = await runNpm(["install", ...flags, `./${tarball}`], { cwd: folder });
  expect(install, install.stderr).toMatchObject({ status: 0 });
}, 300_000);

test("the package contains what a user needs, and no tests or compiler state", () => {
  const files = listFiles(join(installed, "dist"))
    .map((file) => `dist/${file}`)
    .concat(listFiles(installed));
  expect(files).toEqual(
    expect.arrayContaining([
      ...["package.json", "README.md", "LICENSE", "CHANGELOG.md", "docs/ARCHITECTURE.md"],
      ...["dist/bundle/index.js", "dist/src/index.d.ts", "dist/bundle/main.js", "dist/page/index.html"],
    ]),
  );
  const unwanted =
    /\.test\b|\.test-d\.|tsbuildinfo|-stamp|^dist\/(?!(?:bundle|src|client|page|test\/conformance)\/)|^(?:src|ui|test|bench|scripts)\//;
  expect(files.filter((file) => unwanted.test(file))).toEqual([]);
});

test("the client is a package of its own too: below 60 KB, without dependencies, the same as hansard/client", async () => {
  const packed = await runNpm(["pack", "--json", "--pack-destination", folder], {
    cwd: join(repositoryRoot, "client"),
  });
  expect(packed, packed.stderr).toMatchObject({ status: 0 });
  const [{ filename, files }] = JSON.parse(packed.stdout) as [
    { filename: string; files: { path: string; size: number }[] },
  ];
  // What agents load; the types, which editors read, come on top.
  expect(files.find(({ path }) => path === "dist/index.js")?.size).toBeLessThan(60_000);
  expect(
    files.filter(
      ({ path }) => !/^(?:dist\/(?:providers\/|adapters\/)?[a-z-]+\.(?:js|d\.ts)|package\.json|README\.md)$/.test(path),
    ),
  ).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, "client", "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
  const install = await runNpm(["install", "--no-save", "--offline", join(folder, filename)], { cwd: folder });
  expect(install, install.stderr).toMatchObject({ status: 0 });
  const script =
    "const names = async (name) => Object.keys(await import(name)).join(); " +
    "console.log(await names('hansard-client') === await names('hansard/client'))";
  const run = await runCommand(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
  expect(run).toEqual({ status: 0, stdout: "true\n", stderr: "" });
});

test("whatever the package exports is in it", () => {
  const { exports, bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const targets = JSON.stringify([exports, bin]).match(/(?<=")[^"]+\.(?:js|d\.ts)(?=")/g) ?? [];
  expect(targets.length).toBeGreaterThanOrEqual(3);
  expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
});

test("the command runs and prints its version", async () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  const result = await runNpm(["exec", "--no", "--", "hansard", "--version"], { cwd: folder });
  expect(result, result.stderr).toMatchObject({ status: 0, stdout: expect.stringContaining(version) });
});

test("its types compile strictly, declarations included, and refuse a record without a prompt", async () => {
  writeFileSync(
    join(folder, "consumer.ts"),
    `import { openRecorder } from 'hansard'

const recorder = await openRecorder({ data: 'record' })
const interaction = await recorder.recordInteraction({ prompt: 'What is a Hansard?' })
const again = await recorder.getInteraction(interaction.id)
export const prompt: string | undefined = again?.prompt
// @ts-expect-error A prompt is what makes an interaction.
await recorder.recordInteraction({ response: 'The record of a parliament.' })
await recorder.close()
`,
  );
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--noEmit"];
  const shape = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023", "--ignoreConfig"];
  const tsc = join(repositoryRoot, "node_modules", "typescript", "bin", "tsc");
  const result = await runCommand(process.execPath, [tsc, ...strict, ...shape, "consumer.ts"], { cwd: folder });
  expect(result).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("what the library records is read back", async () => {
  writeFileSync(
    join(folder, "round-trip.mjs"),
    `import { openRecorder } from 'hansard'

const recorder = await openRecorder({ data: 'record' })
const interaction = await recorder.recordInteraction({ prompt: 'What is a Hansard?' })
console.log((await recorder.getInteraction(interaction.id)).prompt)
await recorder.close()
`,
  );
  const result = await runCommand(process.execPath, ["round-trip.mjs"], { cwd: folder });
  expect(result).toEqual({ status: 0, stdout: "What is a Hansard?\n", stderr: "" });
});
