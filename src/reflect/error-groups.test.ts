// Fingerprints of errors: variable parts are left out, and what distinguishes errors stays.
import { expect, test } from "vitest";
import { fingerprintOf } from "./error-groups.js";

test.each([
  ["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.0.0.7:6543"],
  ["ENOENT: no such file or directory, open '/etc/app/x.json'", "ENOENT: no such file or directory, open '/srv/y.txt'"],
  ["cannot read src/read/list.ts:12:5", "cannot read lib/other.ts:7:1"],
  ["cannot open C:\\Users\\a\\x.txt", "cannot open D:\\y.txt"],
  ["GET https://a.example/x?id=1 failed with 500", "GET https://b.example/ failed with 502"],
  ["job 0b6f2c1e-8d0a-4c5e-9f1a-2b3c4d5e6f70 lost", "job 1c7f2c1e-8d0a-4c5e-9f1a-2b3c4d5e6f71 lost"],
  ["request req_8f3a9c timed out", "request req_77b1aa timed out"],
  ["at 2026-11-15T06:39:37.123Z the lease ended", "at 2025-01-02 03:04:05 the lease ended"],
  ["Timeout   after 30s", "timeout after 1500ms"],
  ["bad pointer 0xdeadbeef", "bad pointer 0x00ff"],
  ["boom\n    at a (x.js:1:2)", "boom\n    at b (y.js:3:4)"],
  [
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad',
    'Traceback (most recent call last):\n  File "b.py", line 2\n  File "c.py", line 9\nValueError: bad',
  ],
])("%j and %j are the same error", (left, right) => {
  expect(fingerprintOf(left)).toBe(fingerprintOf(right));
});

test.each([
  ["connection refused", "connection reset"],
  ["TypeError: x is not a function", "ReferenceError: x is not defined"],
  ["can't read it", "can't write it"],
  ["连接被拒绝", "文件不存在"],
])("%j and %j are different errors", (left, right) => {
  expect(fingerprintOf(left)).not.toBe(fingerprintOf(right));
});

test("replaced parts are named", () => {
  expect(fingerprintOf('Cannot open "a b" at /var/log/x after 3 tries')).toBe(
    "cannot open <text> at <path> after <number> tries",
  );
});

test("hostile texts take linear time", () => {
  const before = process.cpuUsage();
  for (const text of ["a-".repeat(100_000), "/".repeat(200_000), "'".repeat(200_001), "1:".repeat(100_000)]) {
    fingerprintOf(text);
  }
  // In quadratic time they would take many minutes.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(15_000);
});
