// Vitest runs the compiled output, so that worker threads and child processes load the very files that are shipped.
import { defineConfig } from "vitest/config";
import { CountReporter } from "./scripts/count-reporter.mjs";

/** What is asked through HTTP must not depend on the engine, so these run once more on PostgreSQL. */
const onPostgres = [
  "context.test",
  "feedback.test",
  "filters.test",
  "http.test",
  "http-bad-*.test",
  "http-close.test",
  "http-forget.test",
  "http-metrics.test",
  "http-openapi.test",
  "http-se*.test",
  "http-scopes.test",
  "reflection.test",
  "tail.test",
  "import-export.test",
  "memories*.test",
  "memory-passes.test",
];

const everywhere = ["**/node_modules/**"];
const crashes = "dist/test/crash/**";

export default defineConfig({
  test: {
    exclude: everywhere,
    globalSetup: ["dist/test/support/postgres-setup.js"],
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
      { extends: true, test: { name: "all", include: ["dist/**/*.test.js"], exclude: [...everywhere, crashes] } },
      // What survives a crash or a full disk is asked of a real disk.
      { extends: true, test: { name: "crash", include: [`${crashes}/*.test.js`], env: { HANSARD_TEST_DISK: "1" } } },
      {
        extends: true,
        test: {
          name: "postgres",
          include: [...onPostgres.map((name) => `dist/test/e2e/${name}.js`), "dist/test/differential/search.test.js"],
          env: { HANSARD_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});
