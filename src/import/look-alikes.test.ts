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

test("a thread of Amp's is refused by name, and messages of Anthropic's are read", async () => {
  const bench = importBench();
  const messages = [
    { role: "user", content: [{ type: "text", text: "hi" }] },
    { role: "user", content: [{ type: "tool_result", toolUseID: "t1", run: { status: "done", result: "lost" } }] },
  ];
  const thread = bench.write("T-1.json", JSON.stringify({ id: "T-1", created: 1_777_000_000_000, messages }));
  expect(await bench.import(thread)).toMatchObject({
    added: 0,
    rejected: [{ reason: expect.stringContaining("Amp") }],
  });
  const plain = bench.write("b.json", JSON.stringify({ system: "x", messages: messages.slice(0, 1) }));
  expect(await bench.import(plain)).toMatchObject({ rejected: [] });
});
