// Bodies in parts, on every engine: read back byte for byte, each text once, and gone with the last entry that holds it.

import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { copyLog } from "../../src/log/copy.js";
import type { EntryLog, LogEntry } from "../../src/log/port.js";
import { verify } from "../../src/log/verify.js";
import { itemAt } from "../../src/model/item-at.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { digest, digested, loop, range, redaction, turn, words } from "../support/history-loop.js";
import { partEngines } from "../support/part-stores.js";
import { auditStore } from "./audit.js";
import { Writer } from "./programs.js";

const EVERY = { parted_bytes_min: 0 };
const NONE = { parted_bytes_min: Number.POSITIVE_INFINITY };
const ALL = { after: 0, limit: 500 };

async function append(log: EntryLog, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) await log.append([[entry]]);
}

async function bodiesOf(log: EntryLog): Promise<readonly string[]> {
  return (await log.read(ALL)).map(({ body }) => digest(body as Uint8Array));
}

describe.each(partEngines)("parts on $engine", ({ store, legible }) => {
  test("an agent loop that resends its history stores each text once, and reads, copies and verifies as without parts", async () => {
    const [sharedStore, apartStore] = [await store(), await store()];
    const { entries, texts } = loop(120);
    const [shared, apart] = [await sharedStore.open(), await apartStore.open(NONE)];
    await append(shared, entries.slice(0, 80));
    // The rest in one batch, whose entries refer to each other's parts.
    await shared.append(entries.slice(80).map((entry) => [entry]));
    await append(apart, entries);
    expect(digested(await shared.read(ALL))).toEqual(digested(await apart.read(ALL)));
    const positions = [120, 3, 77];
    expect(digested(await shared.get(positions))).toEqual(digested(await apart.get(positions)));
    expect(await shared.getBodies(positions)).toStrictEqual(await apart.getBodies(positions));
    expect(await shared.getBodies(positions)).toStrictEqual(await apart.getBodies(positions));
    // A bound is one of the bytes that come out.
    const bounded = { ...ALL, bytes_max: 1_000_000 };
    expect(await shared.readBodies(bounded)).toHaveLength((await apart.readBodies(bounded)).length);
    const verified = await verify(shared);
    expect(verified).toEqual(await verify(apart));
    expect(verified).toMatchObject({ ok: true, entries: 120 });
    const copyStore = await store();
    const copy = await copyStore.open();
    await copyLog({ from: apart, to: copy });
    expect(await verify(copy)).toEqual(verified);
    expect((await copy.head()).log_id).toBe((await apart.head()).log_id);
    const distinct = texts.reduce((sum, text) => sum + text.length, 0);
    for (const one of [sharedStore, copyStore]) expect((await one.counts()).bytes / distinct).toBeLessThan(1.3);
    expect((await apartStore.counts()).bytes / distinct).toBeGreaterThan(10);
  });

  test("an export has the same bytes with and without parts, with erased entries in between", async () => {
    const stores = [await store(), await store()] as const;
    const [whole, shared] = [await stores[0].open(NONE), await stores[1].open()];
    await append(whole, [...loop(12).entries, redaction("gone", [7, 12])]);
    await copyLog({ from: whole, to: shared });
    expect((await stores[1].counts()).bodies).toBe(10);
    const exported = async ({ data }: { readonly data: string }): Promise<string> => {
      const recorder = await openRecorder({ data });
      let text = "";
      for await (const line of recorder.exportEntries()) text += line;
      await recorder.close();
      return text;
    };
    const text = await exported(stores[0]);
    expect(text.split("\n")).toHaveLength(15);
    expect(digest(Buffer.from(await exported(stores[1])))).toBe(digest(Buffer.from(text)));
  });

  test("any bytes are read back unchanged", async () => {
    const log = await (await store()).open(EVERY);
    const texts = fc.oneof(fc.string(), fc.constantFrom(...[words(80), `"${words(70)}\\`, '\\"'.repeat(150)]));
    const json = fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify({ list: [value, value], value }));
    const lists = fc
      .array(fc.array(texts, { maxLength: 40 }), { maxLength: 4 })
      .map((all) => JSON.stringify({ all, again: all }));
    const bodies = fc.oneof(json, lists, texts).map((text) => Buffer.from(text));
    const unit = fc.array(fc.oneof(bodies, fc.uint8Array({ maxLength: 3_000 })), { maxLength: 5 });
    let made = 0;
    await fc.assert(
      fc.asyncProperty(unit, async (all) => {
        const entries = all.map((body) => newEntry(`entry-${made++}`, { body: Buffer.from(body) }));
        const { position } = await log.head();
        if (entries.length > 0) await log.append([entries]);
        const stored = await log.read({ after: position, limit: 10 });
        expect(stored.map(({ body }) => digest(body as Uint8Array))).toEqual(entries.map(({ body }) => digest(body)));
      }),
      { seed: 20, numRuns: 120 },
    );
    expect(await log.findOrphan()).toBeUndefined();
  });

  test("text that imitates a body in parts is ordinary text, and messages that differ by a byte are distinct", async () => {
    const place = await store();
    const log = await place.open();
    const said = (texts: readonly string[]) => ({ messages: texts.map((text) => ({ role: "user", content: text })) });
    const content = words(600);
    await append(log, [turn("plain", said([content, words(300)]))]);
    const before = await place.counts();
    expect(before.bodies).toBe(1);
    const imitation = (await place.newestBody()).toString("latin1");
    const entry = turn("other", said([imitation, content, `${content.slice(0, -1)}!`, content]));
    await append(log, [entry]);
    expect((await bodiesOf(log))[1]).toBe(digest(entry.body));
    // The existing part is referenced twice. One that differs by a byte is stored too, compressed to half the size.
    const added = (await place.counts()).bytes - before.bytes;
    expect(added).toBeGreaterThan(0.5 * content.length);
    expect(added).toBeLessThan(1.5 * content.length);
    expect(await verify(log)).toMatchObject({ ok: true, entries: 2 });
  });

  test("10 MB in 10,000 messages are stored and read, and stored again for a few KB", async () => {
    const place = await store();
    const log = await place.open();
    const messages = range(1, 10_000).map((at) => ({ role: "user", content: `${at} ${"x".repeat(1_000)}` }));
    const [first, second] = [
      turn("first", { messages }),
      turn("second", { messages: [...messages, ...messages.slice(0, 1)] }),
    ];
    await append(log, [first]);
    const before = await place.counts();
    await append(log, [second]);
    const after = await place.counts();
    expect(after.parts - before.parts).toBeLessThan(3);
    expect(after.bytes - before.bytes).toBeLessThan(32 * 1024);
    expect(await bodiesOf(log)).toEqual([first, second].map(({ body }) => digest(body)));
  });

  test("a part is removed from every byte with the last entry that uses it, and a shared one stays", async () => {
    const place = await legible();
    const [log, second] = [await place.open(), await place.open()];
    const { entries, texts } = loop(40);
    await append(log, entries);
    const [first, early, late, last] = [texts[0], texts[1], texts[60], texts.at(-1)] as [
      string,
      string,
      string,
      string,
    ];
    const isThere = await place.watch([first, early, late, last]);
    const found = async (...all: readonly string[]): Promise<readonly boolean[]> => {
      const answers: boolean[] = [];
      for (const text of all) answers.push(await isThere(text));
      return answers;
    };
    expect(await found(last, late, early)).toEqual([true, true, true]);
    await append(log, [redaction("one", [40])]);
    expect(await log.purge()).toBeUndefined();
    // The last answer was held by its own turn alone, the others by turns before it, too.
    expect(await found(last, late, early)).toEqual([false, true, true]);
    const keeps = turn("keeps", { messages: [words(900), late].map((content) => ({ role: "user", content })) });
    await second.append([[redaction("more", range(30, 39))], [keeps]]);
    await log.purge();
    expect(await found(late, early)).toEqual([true, true]);
    await second.append([[redaction("rest", range(1, 29))]]);
    expect(await second.purge()).toBeUndefined();
    expect(await found(late, early, first)).toEqual([true, false, false]);
    expect(await verify(log)).toMatchObject({ ok: true, erased: 40 });
    const [kept] = await log.getBodies([43]);
    expect(kept?.body).toBe(Buffer.from(keeps.body).toString("utf8"));
  });

  test("a damaged or missing part is reported with every entry that holds it, and whole reads are refused", async () => {
    const place = await store();
    const log = await place.open();
    const { entries, texts } = loop(6);
    await append(log, entries);
    await append(log, [newEntry("other", { body: Buffer.from(JSON.stringify({ id: "other", error: words(900) })) })]);
    const text = texts.at(-5) as string;
    const told = { ok: false, position: 4, holders: [4, 5, 6] };
    await place.damage(text);
    expect(await verify(log)).toMatchObject(told);
    await expect(log.getBodies([6])).resolves.toMatchObject([{ flaw: expect.stringContaining("not the one") }]);
    const recorder = await openRecorder({ data: place.data });
    onTestFinished(() => recorder.close());
    expect(await recorder.verify()).toMatchObject(told);
    await expect(recorder.getEntry("turn-5")).rejects.toMatchObject({ code: "entry_corrupt" });
    await place.lose(text);
    expect(await verify(log)).toMatchObject(told);
    await expect(recorder.getEntry("turn-5")).rejects.toMatchObject({ code: "entry_corrupt" });
  });

  test("a part without an entry is reported, and so is one under another's digest", async () => {
    const place = await store();
    const log = await place.open();
    await append(log, loop(6).entries);
    await place.plant();
    expect(await verify(log)).toMatchObject({
      ok: false,
      position: 0,
      reason: expect.stringContaining("no entry uses"),
    });
    await place.unplant();
    expect(await verify(log)).toMatchObject({ ok: true });
    await place.misfile();
    expect(await verify(log)).toMatchObject({
      ok: false,
      position: 1,
      reason: expect.stringContaining("wrong digest"),
    });
  });

  test("a failed append leaves no orphaned part", async () => {
    const place = await store();
    const log = await place.open();
    const { entries } = loop(6);
    await append(log, entries.slice(0, 3));
    const before = await place.counts();
    await place.refusingBodies(async () => {
      await expect(log.append([[itemAt(entries, 3)]])).rejects.toThrow();
    });
    expect(await place.counts()).toEqual(before);
    expect(await verify(log)).toMatchObject({ ok: true, entries: 3 });
    await append(log, entries.slice(3));
    expect(await bodiesOf(log)).toEqual(entries.map(({ body }) => digest(body)));
  });

  test("processes that store the same parts concurrently store each once, and a killed one leaves no orphaned part", async () => {
    const place = await store();
    const { data } = place;
    const writers = ["a", "b"].map((name) => new Writer({ data, name, callers: 8, rounds: 15 }));
    const doomed = new Writer({ data, name: "doomed", callers: 8, rounds: 1_000_000 });
    await Promise.all([...writers, doomed].map((writer) => writer.started));
    expect(await doomed.kill()).toMatchObject({ signal: "SIGKILL" });
    for (const writer of writers) expect(await writer.ended).toMatchObject({ status: 0 });
    const acknowledged = [...writers, doomed].flatMap((writer) => writer.acknowledged);
    expect(await auditStore(data, acknowledged)).toBeGreaterThanOrEqual(acknowledged.length);
    const { parts, texts, bodies } = await place.counts();
    expect(texts).toBe(parts);
    expect(bodies).toBeGreaterThan(20);
    expect(await (await place.open()).findOrphan()).toBeUndefined();
  });
});
