// A limit on file size is like a full disk: a 507, nothing half stored, nothing acknowledged lost.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";
import type { LimitReport } from "./fill-to-limit.js";

const program = fileURLToPath(new URL("./fill-to-limit.js", import.meta.url));

test.each([1_000, 3_001])("with files of at most %i KiB", async (kibibytes) => {
  const data = folderOfTest();
  const script = `ulimit -f ${kibibytes}; exec "$0" "$@"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script, process.execPath, program, data], {
    encoding: "utf8",
    timeout: 120_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const report = JSON.parse(stdout) as LimitReport;
  expect(report).toMatchObject({ refusals: ["507 disk_full"], verified: true });
  expect(report.acknowledged).toBeGreaterThan(10);
  expect(report.listed).toBe(report.acknowledged);
  const verified = await runCli(["verify", "--json"], { data });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, entries: report.acknowledged });
});
