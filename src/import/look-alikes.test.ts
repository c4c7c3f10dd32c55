// Sessions that resemble those of a known tool and are not: refused by name, and nothing of them is imported.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";

const timestamp = "2026-05-04T08:00:00.000Z";

test.each([
  [
    "Droid",
    [
      { type: "session_start", id: "s", title: "t", cwd: "/srv" },
      { type: "message", id: "m", parentId: null, timestamp, message: { role: "user", content: "hi" } },
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

test("a session of Cline is refused by name, and messages of Anthropic's are read", async () => {
  const bench = importBench();
  const messages = [{ role: "user", ts: 1_777_000_000_000, content: [{ type: "text", text: "hi" }] }];
  const cline = bench.write(
    "a.messages.json",
    JSON.stringify({ version: 1, agent: "act", system_prompt: "x", messages }),
  );
  expect(await bench.import(cline)).toMatchObject({
    added: 0,
    rejected: [{ reason: expect.stringContaining("Cline") }],
  });
  const plain = bench.write(
    "b.json",
    JSON.stringify({ system: "x", messages: messages.map(({ ts: _, ...one }) => one) }),
  );
  expect(await bench.import(plain)).toMatchObject({ rejected: [] });
});
