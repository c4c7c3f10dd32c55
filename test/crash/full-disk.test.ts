// A disk that fills up while entries are recorded: refused with one clear fault, nothing half stored, and on it goes.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import type { FullDiskReport } from "./fill-disk.js";
import type { ForgettingReport } from "./forget-on-full-disk.js";
import type { OpeningReport } from "./open-on-full-disk.js";
import type { ServingReport } from "./serve-on-full-disk.js";
import { runOnSmallDisk } from "./small-disk.js";

test.each([
  ["one caller", 1],
  ["eight callers at once", 8],
])(
  "a full disk refuses entries of %s as a whole, and the same recorder continues once there is space",
  (_, callers) => {
    const report = run<FullDiskReport>("fill-disk", String(callers));
    expect(report).toEqual({
      refusal_codes: ["disk_full"],
      refusals: expect.any(Number),
      acknowledged_before: expect.any(Number),
      // Twenty calls, six of them batches of three.
      acknowledged_after: 20 + 6 * 2,
      lost: [],
      half_stored: [],
      read_while_full: expect.stringContaining("full."),
      verified_while_full: "true",
      verified_after: "true",
      verified_reopened: "true",
      listed_reopened: report.acknowledged_before + report.acknowledged_after,
    });
    expect(report.refusals).toBeGreaterThanOrEqual(40);
    expect(report.acknowledged_before).toBeGreaterThan(20);
  },
);

test("opening a store on a full disk fails with the same fault", () => {
  const report = run<OpeningReport>("open-on-full-disk");
  const others = Object.entries(report.met).filter(([, codes]) =>
    codes.some((code) => code !== "ok" && code !== "disk_full"),
  );
  expect(Object.fromEntries(others)).toEqual({});
  expect(Object.values(report.met).flat()).toContain("disk_full");
  expect(report).toMatchObject({ verified: true });
  expect(report.entries).toBeGreaterThanOrEqual(20);
});

test.each(["sqlite", "postgres"])(
  "over HTTP a full disk is a 507, health says what is the matter, and capture goes on without a restart: %s",
  (engine) => {
    expect(run<ServingReport>("serve-on-full-disk", engine)).toEqual({
      refusals: ["507 disk_full"],
      health_while_full: { status: 503, body: expect.objectContaining({ status: "degraded", trouble: "disk_full" }) },
      read_while_full: 200,
      status_after: 201,
      health_after: { status: 200, body: expect.not.objectContaining({ trouble: expect.anything() }) },
      wrong: [],
    });
  },
);

test.each(["sqlite", "postgres"])(
  "forgetting on a disk without room for cleaning up is done, and says what is left: %s",
  (engine) => {
    const report = run<ForgettingReport>("forget-on-full-disk", engine);
    expect(report).toEqual({
      status: 200,
      positions: [1, 2, 3, 4, 5],
      redaction: 61,
      left: expect.arrayContaining([expect.stringMatching(/full/)]),
      is_read: false,
      verified: true,
      left_after: [],
    });
    // The index may find enough room in what the log's cleaning gave back.
    expect(report.left.slice(1).every((left) => /index.*full/.test(left))).toBe(true);
  },
);

function run<T>(program: string, ...args: readonly string[]): T {
  const file = fileURLToPath(new URL(`./${program}.js`, import.meta.url));
  const { status, stdout, stderr } = runOnSmallDisk(file, folderOfTest(), ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}
