// An index that somebody has edited: the doctor compares it with the log and says so, and a rebuild repairs it.
import { describe, expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import type { Diagnosis } from "../../src/model/verification.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { sampleEntries } from "../support/sample-entries.js";
import { engines, type Intruder } from "./intruder.js";

async function filled(intruder: Intruder): Promise<void> {
  const recorder = await openRecorder({ data: intruder.data });
  await recorder.append(sampleEntries);
  const labels = { session_id: "tampered", project: "atlas" };
  await recorder.append({ ...labels, kind: "session_info", title: "T", metadata: { a: 1 } });
  await recorder.append([1, 2, 3].map((nth) => ({ ...labels, kind: "error", error: `e${nth}` })));
  await recorder.append({ ...labels, kind: "interaction", id: "late", prompt: "p", memories_used: ["m", "n", "m"] });
  await recorder.append({ kind: "response", interaction_id: "late", response: "r", memories_used: ["o"] });
  await recorder.forget({ entry: "said", reason: "r" });
  await recorder.forget({ entry: "late", reason: "r" });
  await recorder.search("anything");
  await recorder.close();
}

function indexFailures({ ok, findings }: Diagnosis): string {
  const failures = findings.filter(({ level, check }) => level === "fail" && check === "index");
  expect(ok).toBe(failures.length === 0);
  for (const { hint } of failures) expect(hint).toContain("--rebuild-index");
  return failures.map(({ message }) => message).join("\n");
}

const LAST = sampleEntries.length;

describe.each(engines)("on $engine", ({ intrude }) => {
  test("an untouched index equals what the log yields", async () => {
    const intruder = await intrude();
    await filled(intruder);
    const { ok, findings } = await inspectStore({ data: intruder.data });
    expect(ok).toBe(true);
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
  });

  test.each([
    ["a row that is gone", (rows: string) => `DELETE FROM ${rows} WHERE position = ${LAST + 2}`, /1 row is not/],
    [
      "another session",
      (rows: string) => `UPDATE ${rows} SET session_id = 'x' WHERE position = ${LAST + 2}`,
      /1 row is not/,
    ],
    [
      "another project",
      (rows: string) => `UPDATE ${rows} SET project = 'x' WHERE position = ${LAST + 2}`,
      /at position \d+/,
    ],
    ["another kind", (rows: string) => `UPDATE ${rows} SET kind = 'x' WHERE position = ${LAST + 2}`, /1 row is not/],
    [
      "another time",
      (rows: string) => `UPDATE ${rows} SET created_ms = 5 WHERE position = ${LAST + 2}`,
      /1 row is not/,
    ],
    [
      "other facts",
      (rows: string) => `UPDATE ${rows} SET facts = '{"title":"U"}' WHERE position = ${LAST + 1}`,
      /1 row/,
    ],
    [
      "a row too many",
      (rows: string) => `INSERT INTO ${rows} (position, created_ms, kind, session_id, project, client, role)
        VALUES (-4, 5, 'error', 's', '', '', '')`,
      /rows of/,
    ],
  ])("%s is reported, and a rebuild repairs it", async (_, sql, told) => {
    const intruder = await intrude();
    await filled(intruder);
    await intruder.editIndex(sql(intruder.index("rows")));
    expect(indexFailures(await inspectStore({ data: intruder.data }))).toMatch(told);
    const recorder = await openRecorder({ data: intruder.data });
    await recorder.rebuildIndex();
    await recorder.close();
    expect(indexFailures(await inspectStore({ data: intruder.data }))).toBe("");
  });

  test("changed counts are reported by kind, and sessions by their number", async () => {
    const intruder = await intrude();
    await filled(intruder);
    const counts = intruder.index("rows") === "rows" ? "kind_counts" : intruder.index("kinds");
    await intruder.editIndex(`UPDATE ${counts} SET entries = entries + 7 WHERE kind = 'error'`);
    const documents = intruder.index("documents");
    await intruder.editIndex(
      `UPDATE ${documents} SET body = replace(body, '"error":3', '"error":4') WHERE key = 'tampered'`,
    );
    const told = indexFailures(await inspectStore({ data: intruder.data }));
    expect(told).toMatch(/entries of kind error/);
    expect(told).toMatch(/its sessions are not what the log makes of them \(1 document\)/);
  });

  test("changed documents are reported: a memory in other words, tokens never spent, a session begun elsewhere", async () => {
    const intruder = await intrude();
    const recorder = await openRecorder({ data: intruder.data });
    await recorder.memories.add({ content: "The key lies in the vault", project: "p" });
    await recorder.recordInteraction({ prompt: "p", response: "r", session_id: "s", usage: { input_tokens: 4711 } });
    await recorder.append({ kind: "message", id: "said", session_id: "s", role: "user", content: "m" });
    await recorder.append({ kind: "clear", session_id: "s" });
    await recorder.feedback({ entry_id: "said", score: -1 });
    await recorder.usage();
    await recorder.close();
    expect(indexFailures(await inspectStore({ data: intruder.data }))).toBe("");
    for (const [collection, was, is] of [
      ["memories", "in the vault", "with Mallory"],
      ["calls", "4711", "4712"],
      ["sessions", '"cleared_through":6', '"cleared_through":0'],
      ["feedback", "[7]", "[9]"],
    ] as const) {
      const [documents, where] = [intruder.index("documents"), `collection = '${collection}'`];
      const swap = (from: string, to: string): Promise<void> =>
        intruder.editIndex(`UPDATE ${documents} SET body = replace(body, '${from}', '${to}') WHERE ${where}`);
      await swap(was, is);
      expect(indexFailures(await inspectStore({ data: intruder.data }))).toContain(`its ${collection} are not what`);
      await swap(is, was);
    }
    await intruder.editIndex(`DELETE FROM ${intruder.index("documents")} WHERE collection = 'memories'`);
    expect(indexFailures(await inspectStore({ data: intruder.data }))).toContain("its memories are not what");
  });
});
