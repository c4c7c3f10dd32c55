// Any object on a line of an ancestor's file is exported exactly as it was imported.
import fc from "fast-check";
import { expect, test } from "vitest";
import { recordsOf } from "../../test/support/fixtures.js";
import { fuzz, fuzzTimeoutMs } from "../../test/support/fuzz.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { jsonEquals } from "../model/json.js";
import { WallClock } from "../model/time.js";

const names = [
  ...[
    "type",
    "role",
    "content",
    "timestamp",
    "confidence",
    "tool_calls",
    "tool_call_id",
    "name",
    "tool",
    "args",
    "result",
  ],
  ...[
    "error",
    "context",
    "decision",
    "rationale",
    "id",
    "kind",
    "session_id",
    "extra",
    "native_record",
    "__proto__",
    "x",
  ],
];
const telling = fc.oneof(
  fc.constantFrom<unknown>("message", "tool_call", "error", "decision", "user", "timmy", "assistant", "developer"),
  fc.constantFrom<unknown>(null, "", 0, 0.5, [], {}, "2026-03-14T09:00:00.000001", 1_772_359_200, [{ id: "c" }]),
  fc.jsonValue({ maxDepth: 2 }),
);
const records = fc
  .array(fc.dictionary(fc.constantFrom(...names), telling, { minKeys: 1, maxKeys: 8 }), { minLength: 1, maxLength: 8 })
  .map((lines) => JSON.parse(JSON.stringify(lines)) as readonly object[])
  // An object may be empty once it is JSON.
  .map((lines) => lines.filter((line) => Object.keys(line).length > 0));

const clock = new WallClock("UTC");

/** Without copies of lines that have a time: those are one record. */
function distinct(lines: readonly { readonly timestamp?: unknown }[]): readonly object[] {
  return lines.filter((line, index) => {
    return clock.parse(line.timestamp) === undefined || lines.findIndex((other) => jsonEquals(line, other)) === index;
  });
}

test.each(["nanobot", "timmy"])(
  "any objects on the lines of %s's file go out as they came in, and add nothing the second time",
  async (format) => {
    await fc.assert(
      fc.asyncProperty(records, async (lines) => {
        const bench = importBench();
        const path = bench.write("s.jsonl", lines);
        const report = await bench.import(path, { format });
        const stored = distinct(lines);
        const existing = lines.length - stored.length;
        expect(counts(report)).toMatchObject({ added: stored.length, existing, rejected: 0 });
        expect(counts(await bench.import(path, { format }))).toMatchObject({ added: 0, existing: lines.length });
        const out = recordsOf(await bench.export({ format, session_id: "s" }));
        expect(out.slice(format === "nanobot" ? 1 : 0)).toEqual(stored);
      }),
      fuzz(150),
    );
  },
  fuzzTimeoutMs,
);
