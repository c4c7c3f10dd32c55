// Giving way lowers a priority and never raises one, and works for users who may not raise any.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const script = `
  import { getPriority } from "node:os";
  import { giveWay } from ${JSON.stringify(new URL("./thread.js", import.meta.url).href)};
  giveWay();
  console.log(getPriority());
`;

function nicenessAfter(before: number): number {
  const args = ["-n", String(before), process.execPath, "--input-type=module", "-e", script];
  return Number(execFileSync("nice", args, { encoding: "utf8" }));
}

test("a program of a low priority keeps it, another one gets a lower one", () => {
  expect(nicenessAfter(15)).toBeGreaterThanOrEqual(15);
  const usual = nicenessAfter(0);
  if (process.platform === "linux") expect(usual).toBeGreaterThanOrEqual(10);
});
