// Vitest runs the compiled output: worker threads and child processes of tests load the bundle that is shipped.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { defineConfig } from "vitest/config";
import { CountReporter } from "./scripts/count-reporter.mjs";

/**
 * What may differ by engine: numbers given to what is appended at once, the conditions that filters become, what erasing
 * leaves, how others hear of new entries, and who of several programs learns. All else of an engine the suites of
 * `test/conformance/` and `test/differential/` ask directly, and the rest of `test/e2e/` asks of whatever engine there is.
 */
const onPostgres = ["http.test", "filters.test", "http-forget.test", "tail.test", "memory-passes.test"];

/** What takes long, for `npm run test:slow`: programs that are killed, disks that fill up, servers under floods, large files. */
const slow = [
  "attack/floods",
  "attack/route-limits",
  "crash/exchanged-log",
  "crash/file-size-limit",
  "crash/forget-kill",
  "crash/forgotten-bytes",
  "crash/full-disk",
  "crash/kill",
  "crash/lost-index",
  "crash/pass-kill",
  "crash/postgres-*",
  "crash/rebuild",
  "crash/several-processes",
  "crash/shared-parts",
  "crash/sqlite-parts",
  "crash/stuck-commits",
  "crash/text-merging",
  "differential/search",
  "import/large-files",
].map((name) => `dist/test/${name}.test.js`);

const patterns = [
  ...onPostgres.map((name) => `e2e/${name}`),
  ...slow.map((file) => file.slice("dist/test/".length, -".js".length)),
];
for (const pattern of patterns) {
  const [start = "", end = ""] = basename(pattern).split("*");
  const files = readdirSync(join("test", dirname(pattern)));
  const isFound = files.some((file) => file.startsWith(start) && file.endsWith(`${end}.ts`));
  if (!isFound) throw new Error(`No test file is named ${pattern}: change vitest.config.mjs with the file.`);
}

const packages = "**/node_modules/**";
const crashes = "dist/test/crash/*.test.js";
const agents = "dist/test/agents/*.test.js";
/** What survives a crash or a full disk is asked of a real disk. */
const onDisk = { HANSARD_TEST_DISK: "1" };

export default defineConfig({
  test: {
    exclude: [packages],
    globalSetup: ["dist/test/support/postgres-setup.js", "dist/test/support/browser-setup.js"],
    pool: "forks",
    // Two cores are busy with three: many tests wait, for a server to start or for a time to pass.
    maxWorkers: 3,
    // A process for each file would load the same modules three hundred times; what a test changes of its process it puts back.
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // The default of one second is less than a command takes on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    reporters: ["default", new CountReporter({ file: process.env.HANSARD_TEST_COUNTS })],
    projects: [
      {
        extends: true,
        test: { name: "all", include: ["dist/**/*.test.js"], exclude: [packages, crashes, agents, ...slow] },
      },
      { extends: true, test: { name: "crash", include: [crashes], exclude: [packages, ...slow], env: onDisk } },
      { extends: true, test: { name: "slow", include: slow, env: onDisk } },
      {
        extends: true,
        test: {
          name: "postgres",
          include: onPostgres.map((name) => `dist/test/e2e/${name}.js`),
          env: { HANSARD_TEST_ENGINE: "postgres" },
        },
      },
      // Where the programs are installed: `scripts/test.mjs` says so.
      ...(process.env.HANSARD_TEST_AGENTS === undefined
        ? []
        : [{ extends: true, test: { name: "slow-agents", include: [agents] } }]),
      {
        extends: true,
        test: {
          name: "slow-fire",
          include: ["dist/test/fire/*.test.js"],
          env: { ...onDisk, HANSARD_FIRE_SIZE: "medium" },
        },
      },
      {
        extends: true,
        test: {
          name: "slow-postgres",
          include: ["dist/test/differential/search.test.js"],
          env: { HANSARD_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});
