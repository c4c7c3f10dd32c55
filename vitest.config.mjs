// Vitest runs the compiled output, so that worker threads and child processes load the very files that are shipped.
import { defineConfig } from "vitest/config";
import { CountReporter } from "./scripts/count-reporter.mjs";

export default defineConfig({
  test: {
    include: ["dist/**/*.test.js"],
    exclude: ["**/node_modules/**"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", new CountReporter({ file: process.env.HANSARD_TEST_COUNTS })],
  },
});
