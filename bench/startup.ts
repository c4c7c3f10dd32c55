// How long the command line takes to start, against Node doing nothing.
import { spawnSync } from "node:child_process";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

export const startup: Suite = {
  name: "startup",
  about: "`hansard --version` against `node -e 0`",
  async run({ rounds }: SuiteOptions): Promise<readonly Measured[]> {
    const main = new URL("../bundle/main.js", import.meta.url).pathname;
    const bare: number[] = [];
    const ours: number[] = [];
    for (let i = 0; i < rounds * 4; i += 1) {
      bare.push(milliseconds(["-e", "0"]));
      ours.push(milliseconds([main, "--version"]));
    }
    return [
      { name: "node -e 0", value: median(bare), unit: "ms" },
      { name: "hansard --version", value: median(ours), unit: "ms" },
      { name: "hansard --version ÷ node", of: ["hansard --version", "node -e 0"], target: { at_most: 3 } },
    ];
  },
};

function milliseconds(args: readonly string[]): number {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with status ${status}`);
  return performance.now() - start;
}
