// Files that change while they are read: what was there is taken, nothing is fatal, and the next import brings the rest.
import { appendFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";

const LINES = 4_000;
const line = (number: number, words = "said"): string =>
  `${JSON.stringify({
    ...{ type: "user", uuid: `u${words}${number}`, sessionId: "changing", timestamp: "2026-05-04T08:00:01.000Z" },
    message: { role: "user", content: `${words} ${number} ${"x".repeat(400)}` },
  })}\n`;
const whole = Array.from({ length: LINES }, (_, number) => line(number)).join("");

/** What happens to the file once its first piece was read. */
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
