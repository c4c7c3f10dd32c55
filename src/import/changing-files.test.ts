// Files that change while they are read: what was there is imported, nothing is fatal, and the next import brings the
// rest.
import { execFileSync } from "node:child_process";
import { appendFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import type { ImportedFile } from "./import-files.js";

const LINES = 4_000;
const line = (number: number, words = "said"): string =>
  `${JSON.stringify({
    type: "user",
    uuid: `u${words}${number}`,
    sessionId: "changing",
    timestamp: "2026-05-04T08:00:01.000Z",
    message: { role: "user", content: `${words} ${number} ${"x".repeat(400)}` },
  })}\n`;
const whole = Array.from({ length: LINES }, (_, number) => line(number)).join("");

/** What happens to the file after its first chunk was read. */
const changes: { readonly [what: string]: (path: string) => void } = {
  grows: (path) => appendFileSync(path, `${line(LINES)}${line(LINES + 1).slice(0, 40)}`),
  shrinks: (path) => truncateSync(path, 1_000),
  "is replaced": (path) => {
    writeFileSync(`${path}.new`, line(0, "replaced"));
    renameSync(`${path}.new`, path);
  },
};

test.each(Object.entries(changes))("a file that %s while it is read", async (_, change) => {
  const bench = importBench();
  const path = bench.write("changing.jsonl", whole);
  let isChanged = false;
  const report = await bench.import(path, {
    onProgress: () => {
      if (!isChanged) change(path);
      isChanged = true;
    },
  });
  expect(isChanged).toBe(true);
  expect(report.added).toBeGreaterThan(1);
  for (const { reason } of report.rejected) expect(reason).toMatch(/torn/);
  const { added } = await bench.import(bench.write("again.jsonl", `${whole}${line(LINES)}`));
  expect(report.added + added).toBeGreaterThanOrEqual(LINES + 2);
  expect(counts(await bench.import(bench.write("again.jsonl", `${whole}${line(LINES)}`)))).toMatchObject({ added: 0 });
});

test("a named pipe is refused with a hint, since it may never have a writer", async () => {
  const bench = importBench();
  const pipe = join(bench.folder, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  expect(await bench.import(pipe)).toMatchObject({
    files: 0,
    rejected: [{ file: pipe, line: 0, reason: expect.stringMatching(/named pipe.*import - </) }],
  });
});

test("a first line of 40 MB identifies the format like any other, and its beginning is kept", async () => {
  const bench = importBench();
  const { length } = line(0);
  const long = line(0).replace("xxx", "x".repeat(40 * 1024 * 1024 - length));
  expect(counts(await bench.import(bench.write("long.jsonl", `${long}${line(1)}`)))).toEqual({
    files: 1,
    sessions: 1,
    added: 3,
    existing: 0,
    rejected: 0,
  });
});

test("small files share commits, and each is reported with its own counts", async () => {
  const bench = importBench();
  const files = Array.from({ length: 20 }, (_, number) => bench.write(`${number}.jsonl`, `${line(number)}torn`));
  // The same line again, in a separate file.
  files.push(bench.write("copy.jsonl", line(3)));
  let commits = 0;
  const told: ImportedFile[] = [];
  bench.recorder.monitoring.watchCommits(() => {
    commits += 1;
  });
  const report = await bench.import(files, { onFile: (file) => told.push(file) });
  expect(counts(report)).toEqual({ files: 21, sessions: 1, added: 21, existing: 21, rejected: 20 });
  expect(report.rejected.map(({ file }) => file)).toEqual(files.slice(0, 20));
  expect(told.map(({ file, added, existing, rejected }) => [file, added, existing, rejected])).toEqual(
    files.map((file, number) => {
      // The first one carries what is known of the session.
      if (number === 0) return [file, 2, 0, 1];
      return number < 20 ? [file, 1, 1, 1] : [file, 0, 2, 0];
    }),
  );
  expect(commits).toBe(1);
});
