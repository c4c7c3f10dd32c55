// Entries stored one level deeper than an entry may be given, exported and imported again.
import { describe, expect, test } from "vitest";
import { deepLog, deepPart } from "../../test/support/deep-entries.js";
import { counts, type ImportBench, importBench } from "../../test/support/import-target.js";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import { repeatableContext } from "../../test/support/write-context.js";

async function deepBench(): Promise<ImportBench> {
  return importBench(await deepLog());
}

function freshBench(): ImportBench {
  return importBench(memoryRecorder(repeatableContext(7)).recorder);
}

describe("an export with an entry of 201 levels", () => {
  test("imported into an empty store keeps positions and hashes, and adds nothing if repeated", async () => {
    const bench = await deepBench();
    const [entries, verified] = [await bench.entries(), await bench.recorder.verify()];
    const out = await bench.export({});
    const copy = freshBench();
    const path = copy.write("all.ndjson", out);
    expect(counts(await copy.import(path))).toMatchObject({ added: 3, existing: 0, rejected: 0 });
    expect(await copy.entries()).toEqual(entries);
    expect(await copy.recorder.verify()).toEqual(verified);
    expect(await copy.export({})).toBe(out);
    expect(counts(await copy.import(path))).toMatchObject({ added: 0, existing: 3, rejected: 0 });
  });

  test("imported at new positions keeps as text what is too deep, and is recognised in both stores", async () => {
    const bench = await deepBench();
    const other = freshBench();
    await other.recorder.append({ kind: "error", error: "mine" });
    const path = other.write("all.ndjson", await bench.export({}));
    expect(counts(await other.import(path))).toMatchObject({ added: 3, rejected: 0 });
    expect(counts(await other.import(path))).toMatchObject({ added: 0, existing: 3, rejected: 0 });
    expect(await other.recorder.getEntry("deep")).toMatchObject({
      position: 3,
      kind: "interaction",
      prompt: "How deep?",
      extra: { deep: JSON.stringify(deepPart), mood: "calm" },
    });
    const back = bench.write("back.ndjson", await other.export({ kind: "interaction" }));
    expect(counts(await bench.import(back))).toMatchObject({ added: 0, existing: 3, rejected: 0 });
  });

  test("a part of it is recognised in its own store, also without its first line", async () => {
    const bench = await deepBench();
    const part = await bench.export({ kind: "interaction" });
    expect(counts(await bench.import(bench.write("part.ndjson", part)))).toMatchObject({ existing: 3, rejected: 0 });
    const line = part.split("\n").find((text) => text.includes('"deep"')) as string;
    expect(counts(await bench.import(bench.write("line.ndjson", line)))).toMatchObject({ existing: 1, rejected: 0 });
  });
});

test("other formats keep the limit of an entry", async () => {
  const bench = importBench();
  const timestamp = "2026-03-14T09:00:00";
  const path = bench.write("s.jsonl", [
    { type: "error", error: "e", context: null, timestamp },
    { type: "error", error: "f", context: null, timestamp, deep: [deepPart] },
  ]);
  expect(await bench.import(path)).toMatchObject({
    added: 1,
    rejected: [{ line: 2, reason: "the line is nested more than 200 levels deep" }],
  });
});

test("a first line that is too deep or torn costs no other line, however long it is", async () => {
  const said = (nth: number) => ({
    type: "user",
    sessionId: "s",
    uuid: `u${nth}`,
    timestamp: "2026-01-01T00:00:00Z",
    message: { role: "user", content: `line ${nth}` },
  });
  const rest = [1, 2, 3].map((nth) => JSON.stringify(said(nth))).join("\n");
  const deep = `{"type":"user","message":${"[".repeat(60_000)}${"]".repeat(60_000)}}`;
  const torn = `{"type":"user","message":{"content":"${"x".repeat(100_000)}`;
  for (const first of [deep, torn]) {
    const bench = freshBench();
    const report = await bench.import(bench.write("lines.jsonl", `${first}\n${rest}\n`));
    expect(report.rejected).toMatchObject([{ line: 1 }]);
    expect((await bench.recorder.session("s").history()).map(({ content }) => content)).toEqual(
      [1, 2, 3].map((nth) => `line ${nth}`),
    );
  }
});
