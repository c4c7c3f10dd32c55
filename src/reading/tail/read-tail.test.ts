// What a tail asks for, and what is read for it: bounded amounts, in order, without what lists leave out too.

import { describe, expect, test } from "vitest";
import { filterValues } from "../../../test/support/filter-values.js";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";
import { sampleEntries } from "../../../test/support/sample-entries.js";
import type { StoredBody } from "../../log/port.js";
import type { EntryInput } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { noMask } from "../../model/mask.js";
import { Rejection } from "../../model/rejection.js";
import { matches, readTail, rowEntry } from "./read-tail.js";
import { parseTailQuery, type TailOptions, type TailQuery } from "./tail-query.js";

describe("what a tail asks for", () => {
  test.each<[TailOptions, TailQuery]>([
    [{}, { after: undefined, filter: undefined }],
    [
      { after: "", project: "", kind: "" },
      { after: undefined, filter: undefined },
    ],
    [{ after: 0 }, { after: 0, filter: undefined }],
    [{ after: "9007199254740991" }, { after: Number.MAX_SAFE_INTEGER, filter: undefined }],
    [
      { project: "-", client: "c" },
      { after: undefined, filter: { project: "", client: "c" } },
    ],
    [
      { kind: "error", session_id: "a/b" },
      { after: undefined, filter: { kinds: ["error"], session_id: "a/b" } },
    ],
    [{ role: "timmy" }, { after: undefined, filter: { role: "assistant" } }],
    [{ kind: "audit" }, { after: undefined, filter: { kinds: ["audit"] } }],
  ])("%j", (options, query) => {
    expect(parseTailQuery(options)).toEqual(query);
  });

  test.each<[TailOptions, string, string]>([
    [{ after: -1 }, "field_invalid", "after"],
    [{ after: 1.5 }, "field_invalid", "after"],
    [{ after: "1e3" }, "field_invalid", "after"],
    [{ after: " 1" }, "field_invalid", "after"],
    [{ after: "9007199254740992" }, "field_invalid", "after"],
    [{ after: Number.NaN }, "field_invalid", "after"],
    [{ kind: "gossip" }, "kind_unknown", "kind"],
    [{ role: "king" }, "role_unknown", "role"],
    [{ session_id: ".." }, "session_id_invalid", "session_id"],
    [{ project: "a\nb" }, "label_invalid", "project"],
  ])("refused: %j", (options, code, field) => {
    const refused = parseTailQuery(options);
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({ code, field });
  });
});

test("a filter holds on every part it names", () => {
  const labels = { project: "p", session_id: "s", client: "" };
  const row = {
    position: 1,
    kind: "message",
    ...labels,
    role: "user",
    references: [{ what: "is", reference: "unsure" } as const],
  };
  expect(matches(row, undefined)).toBe(true);
  expect(matches(row, { project: "p", session_id: "s", client: "", kinds: ["message"], role: "user" })).toBe(true);
  for (const other of [
    { project: "q" },
    { session_id: "S" },
    { client: "c" },
    { kinds: ["error"] },
    { role: "tool" },
    { references: [{ what: "is", reference: "failed" } as const] },
  ]) {
    expect(matches(row, { project: "p", ...other })).toBe(false);
  }
});

test("a row carries what every filter looks at, so it can be filtered again without its entry", async () => {
  const { recorder, log } = memoryRecorder();
  await recorder.append(sampleEntries);
  const whole = await readTail({ log, mask: noMask }, { after: 0 });
  for (const [name, { good, other }] of Object.entries(filterValues)) {
    for (const value of [good, other, "-"]) {
      const query = parseTailQuery({ [name]: value });
      if (query instanceof Rejection) continue;
      const { rows } = await readTail({ log, mask: noMask }, { after: 0, filter: query.filter });
      expect(whole.rows.filter((row) => matches(row, query.filter))).toEqual(rows);
    }
  }
});

describe("what is read", () => {
  test("entries come as they were appended: an interaction without its later response, which is a row of its own", async () => {
    const { recorder, log } = memoryRecorder();
    await recorder.append(sampleEntries);
    const { rows, through, isFull } = await readTail({ log, mask: noMask }, { after: 0 });
    expect({ through, isFull }).toEqual({ through: sampleEntries.length, isFull: false });
    expect(rows.map(({ position }) => position)).toEqual(sampleEntries.map((_, index) => index + 1));
    const entries = rows.map(rowEntry) as readonly unknown[];
    expect(entries[1]).toMatchObject({ id: "asked", response: "", model: "" });
    expect(entries[5]).toMatchObject({ id: "answered", session_id: "s:1", project: "atlas" });
    expect(entries[2]).toEqual(await recorder.getEntry("said"));
    for (const { json } of rows) expect(Buffer.from(json).toString()).not.toContain("\n");
  });

  test("a filter that matches nothing says how far it has looked, and stops after a long range", async () => {
    const { recorder, log } = memoryRecorder();
    for (let batch = 0; batch < 10; batch += 1) await recorder.append(errors(1_000));
    const filter = { kinds: ["decision"] };
    const first = await readTail({ log, mask: noMask }, { after: 0, filter });
    expect(first).toEqual({ rows: [], through: 4_000, isFull: true });
    expect(await readTail({ log, mask: noMask }, { after: 8_000, filter })).toEqual({
      rows: [],
      through: 10_000,
      isFull: false,
    });
  });

  test("large entries come one at a time", async () => {
    const { recorder, log } = memoryRecorder();
    const error = "x".repeat(300_000);
    await recorder.append([1, 2, 3].map(() => ({ kind: "error", error })));
    expect(await readTail({ log, mask: noMask }, { after: 1 })).toMatchObject({
      rows: [{ position: 2 }],
      through: 2,
      isFull: true,
    });
  });

  test("erased entries are left out, altered ones come without their text, and later entries follow", async () => {
    const { recorder, log } = memoryRecorder();
    await recorder.append(errors(4));
    const [first, second, third, fourth] = (await log.readBodies({ after: 0, limit: 4 })) as StoredBody[];
    const { body: _, ...erased } = first as StoredBody;
    const { body: __, ...altered } = { ...third, flaw: "the body is not the one that was recorded" } as StoredBody;
    const stored = [erased, second, altered, fourth] as StoredBody[];
    const read = (filter: object) =>
      readTail({ log: { readBodies: async () => stored }, mask: noMask }, { after: 0, filter });
    const { rows, through } = await read({});
    expect(rows.map(({ position }) => position)).toEqual([2, 3, 4]);
    expect(rowEntry(itemAt(rows, 1))).toMatchObject({ position: 3, kind: "error", id: "", altered: true });
    expect(rowEntry(itemAt(rows, 1))).not.toHaveProperty("error");
    expect(through).toBe(4);
    // Its project is lost, its kind is known.
    expect((await read({ project: "p" })).rows.map(({ position }) => position)).toEqual([3]);
    expect((await read({ kinds: ["message"] })).rows).toEqual([]);
    expect(rows.map((row) => matches(row, { project: "p" }))).toEqual([false, true, false]);
  });
});

function errors(count: number): readonly EntryInput[] {
  return Array.from({ length: count }, (_, index) => ({ kind: "error", error: `e${index}` }));
}
