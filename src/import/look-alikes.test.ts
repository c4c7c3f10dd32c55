// Sessions that resemble those of a known tool and are not: refused by name, and nothing of them is imported.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";

const timestamp = "2026-05-04T08:00:00.000Z";

test.each([
  [
    "VS Code Copilot Chat",
    [
      {
        type: "session.start",
        data: { sessionId: "s", copilotVersion: "0.51.1", vscodeVersion: "1.123.1" },
        timestamp,
      },
    ],
  ],
])("a session of %s is refused by name", async (name, lines) => {
  const bench = importBench();
  const { added, rejected } = await bench.import(bench.write("a.jsonl", lines));
  expect({ added, rejected }).toMatchObject({
    added: 0,
    rejected: [{ line: 0, reason: expect.stringContaining(name) }],
  });
});
