// The steps of a run: each with its name and time on a line, and with its error when it failed.

export class Steps {
  /** @type {string[]} */
  failed = [];

  /**
   * Later steps may run although this one failed: a person wants to see all that is wrong at once.
   *
   * @param {string} name
   * @param {() => unknown} work Fails by throwing.
   * @returns {Promise<boolean>} Whether it went well.
   */
  async run(name, work) {
    const start = performance.now();
    /** @type {unknown} */
    let fault;
    try {
      await work();
    } catch (error) {
      fault = error;
      this.failed.push(name);
      console.log(error instanceof Error ? error.message : String(error));
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${fault === undefined ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
    return fault === undefined;
  }

  /** @param {string} line */
  say(line) {
    console.log(line);
  }
}
