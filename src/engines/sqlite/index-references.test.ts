// References on SQLite: a reference shared by most entries of a batch takes one row, and no name outlives its last
// reference.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fill } from "../../../test/support/fill-index.js";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import type { EntryRow } from "../../index/port.js";
import { Database } from "./driver.js";
import { SqliteIndex } from "./index.js";

test("a reference shared by most entries of a batch is one row, a rare one is a row per entry", async () => {
  const { index, rowsOf } = opened();
  const rows = Array.from({ length: 1_000 }, (_, at) => rowAt(at + 1, ["model", ...(at % 10 === 0 ? ["rare"] : [])]));
  await fill(index, { rows, through: 1_000 });
  expect(rowsOf("use_spans")).toHaveLength(1);
  expect(rowsOf("uses")).toHaveLength(100);
  expect(await positionsWith(index, "model", 3)).toEqual([1_000, 999, 998]);
  expect(await positionsWith(index, "rare", 3)).toEqual([991, 981, 971]);
});

test("entries out of order of time are one row each, since a span is walked by position", async () => {
  const { index, rowsOf } = opened();
  const rows = Array.from({ length: 100 }, (_, at) => ({ ...rowAt(at + 1, ["model"]), created_ms: (at * 37) % 100 }));
  await fill(index, { rows, through: 100 });
  expect(rowsOf("use_spans")).toHaveLength(0);
  expect(rowsOf("uses")).toHaveLength(100);
});

test("a name is deleted with the last entry that refers to it, and not before", async () => {
  const { index, rowsOf } = opened();
  const names = (): readonly unknown[] =>
    rowsOf("reference_names").map((row) => (row as { reference: string }).reference);
  const rows = Array.from({ length: 40 }, (_, at) =>
    rowAt(at + 1, ["secret model", ...(at === 7 ? ["secret id"] : [])]),
  );
  await fill(index, { rows, through: 40 });
  await fill(index, { rows: [{ ...rowAt(41, ["secret word"]), about: 1 }], through: 41 });
  const erase = (erased: readonly number[], through: number) => fill(index, { rows: [], erased, through });
  await erase([8], 42);
  expect(names()).toEqual(["secret model", "secret word"]);
  await erase([1, ...Array.from({ length: 30 }, (_, at) => at + 2)], 43);
  expect(names()).toEqual(["secret model"]);
  await erase(
    Array.from({ length: 40 }, (_, at) => at + 1),
    44,
  );
  expect(names()).toEqual([]);
  expect([...rowsOf("uses"), ...rowsOf("use_spans")]).toEqual([]);
});

function opened() {
  const path = join(folderOfTest(), "index.db");
  const index = SqliteIndex.open({ path });
  const db = new Database(path, { read_only: true });
  onTestFinished(async () => {
    db.close();
    await index.close();
  });
  return { index, rowsOf: (table: string): readonly unknown[] => db.prepare(`SELECT * FROM ${table}`).all() };
}

function rowAt(position: number, references: readonly string[]): EntryRow {
  const labels = { session_id: "", project: "", client: "" };
  const named = references.map((reference) => ({ what: "model", reference }) as const);
  return { position, kind: "interaction", created_ms: position, ...labels, references: named };
}

async function positionsWith(index: SqliteIndex, reference: string, limit: number): Promise<readonly number[]> {
  const keys = await index.list({ filter: { references: [{ what: "model", reference }] }, limit });
  return keys.map(({ position }) => position);
}
