// A Vitest reporter that writes how many tests passed, failed and were skipped into a file, for the closing line.
import { writeFileSync } from "node:fs";

/**
 * @typedef {import('vitest/node').Reporter} Reporter
 * @typedef {import('vitest/node').TestModule} TestModule
 */

/** @implements {Reporter} */
export class CountReporter {
  /** @type {string | undefined} */
  #file;

  /** @param {{ file: string | undefined }} options */
  constructor({ file }) {
    this.#file = file;
  }

  /**
   * @param {readonly TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    if (this.#file === undefined) return;
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "skipped" : state] += 1;
      }
      // A file that does not load, or whose set-up throws, has failed although none of its tests has.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    writeFileSync(this.#file, JSON.stringify(counts));
  }
}
