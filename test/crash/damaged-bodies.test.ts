// One damaged body: it is reported where it is asked for, and every other entry is read and listed as before.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleEntries } from "../support/sample-entries.js";
import { dropTriggers, editLog, sampleStore, withRecorder } from "./sample-store.js";

const store = sampleStore();
const DAMAGED = 5;

const bodies: { readonly [name: string]: string } = {
  "no JSON": "{",
  "no object": "[]",
  "no id": '{"tool":"read"}',
  "a time that is none": '{"id":"ran","tool":"read","created_at":"yesterday"}',
  "a time that is no text": '{"id":"ran","tool":"read","created_at":5}',
  "a label that is no text": '{"id":"ran","tool":"read","project":{"a":1}}',
  "a label that is true": '{"id":"ran","tool":"read","client":true}',
};

describe.each(Object.entries(bodies))("a body with %s", (_, text) => {
  test("is found by verify, and lists still contain all other entries", async () => {
    const data = await storeWith("UPDATE bodies SET body = CAST(? AS BLOB) WHERE position = 5", text);
    await expectOthersListed(data);
  });
});

test("references that are not a list do not hide other entries from lists", async () => {
  const text = '{"id":"asked","prompt":"p","memories_used":5}';
  const data = await storeWith("UPDATE bodies SET body = CAST(? AS BLOB) WHERE position = 2", text);
  await expectOthersListed(data, 2);
});

test("a body in an unknown encoding does not hide other entries from lists", async () => {
  const data = await storeWith("UPDATE bodies SET encoding = ? WHERE position = 5", 7);
  await expectOthersListed(data);
});

test("a body that is not JSON fails only requests for that entry", async () => {
  const data = await storeWith("UPDATE bodies SET body = CAST(? AS BLOB) WHERE position = 5", "{");
  await withRecorder(data, async (recorder) => {
    await expect(recorder.getEntry(DAMAGED)).rejects.toMatchObject({
      name: "Fault",
      code: "entry_corrupt",
      message: expect.stringContaining("entry 5"),
      hint: expect.stringContaining("hansard verify"),
    });
    expect(await recorder.getEntry(DAMAGED + 1)).toMatchObject({ id: "answered" });
    expect(await recorder.append({ kind: "error", error: "recording goes on" })).toMatchObject({ status: "recorded" });
  });
});

async function storeWith(statement: string, value: string | number): Promise<string> {
  const data = await store.copy();
  editLog(data, (db) => {
    dropTriggers(db);
    db.prepare(statement).run(value);
  });
  // The index is built from what is there now, as a rebuild would.
  rmSync(join(data, "index.db"));
  return data;
}

async function expectOthersListed(data: string, damaged = DAMAGED): Promise<void> {
  const others = sampleEntries.flatMap(({ id }, index) => (index + 1 === damaged ? [] : [id]));
  await withRecorder(data, async (recorder) => {
    const { interactions } = await recorder.listInteractions();
    expect(interactions.length).toBeGreaterThan(0);
    const { entries } = await recorder.listEntries({ kind: "message" });
    expect(entries.map(({ id }) => id).toSorted()).toEqual(["called", "said"]);
    const { entries: counted } = await recorder.count();
    expect(counted).toBeGreaterThanOrEqual(others.length);
    expect(await recorder.verify()).toMatchObject({ ok: false, position: damaged });
  });
}
