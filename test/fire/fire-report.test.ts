// The table that a run of fault injection writes.
import { expect, test } from "vitest";
import { renderFire } from "./fire-report.js";

const held = {
  fault: "full disk",
  nth: 4,
  engine: "sqlite",
  acknowledged: 1_200,
  lost: 0,
  doubled: 0,
  reordered: 0,
  changed: 0,
} as const;

test("runs are summed by fault and engine; failed runs and faults that were not injected show", () => {
  const text = renderFire(
    [
      { ...held, run: 1 },
      { ...held, run: 2, acknowledged: 300 },
      { ...held, engine: "postgres", run: 1, lost: 2, failure: "AssertionError" },
      { ...held, fault: "clock that jumps", nth: 9, acknowledged: 0, not_run: "needs the package faketime" },
    ],
    { seed: "7", runs: 3 },
  );
  expect(text).toContain("3 runs from seed 7");
  expect(text).toContain("2,700 entries acknowledged, 2 lost, 0 doubled");
  expect(text).toContain("1 of the runs failed");
  expect(text).toContain("| full disk | SQLite | 2 | 1,500 | 0 | 0 | 0 | 0 | held |");
  expect(text).toContain("| full disk | PostgreSQL | 1 | 1,200 | 2 | 0 | 0 | 0 | 1 FAILED |");
  expect(text).toContain("| clock that jumps | SQLite | not run: needs the package faketime |");
});
