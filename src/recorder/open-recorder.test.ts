// The recorder for its callers: answers, errors, and closing.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import { sampleEntries } from "../../test/support/sample-entries.js";
import { folderOfFile, folderOfTest } from "../../test/support/temporary-folder.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { MemoryKeys } from "../engines/memory/store.js";
import type { EntryInput, InteractionInput } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { RecorderError } from "../model/rejection.js";
import { openRecorder } from "./open-recorder.js";
import type { Recorder } from "./recorder.js";

describe("recording an interaction", () => {
  test("answers with all of it", async () => {
    const { recorder } = memoryRecorder();
    const interaction = await recorder.recordInteraction({
      prompt: " p ",
      memories_used: [7],
      note: 1,
    } as InteractionInput);
    expect(interaction).toMatchObject({
      kind: "interaction",
      position: 1,
      prompt: " p ",
      response: "",
      memories_used: ["7"],
    });
    expect(interaction.extra).toEqual({ note: 1 });
    expect(await recorder.getInteraction(interaction.id)).toEqual(interaction);
  });

  test("again answers with the recorded one, including its response", async () => {
    const { recorder } = memoryRecorder();
    await recorder.recordInteraction({ id: "i", prompt: "p" });
    await recorder.completeInteraction("i", { response: "r" });
    expect(await recorder.recordInteraction({ id: "i", prompt: "p" })).toMatchObject({ position: 1, response: "r" });
  });

  test("accepts no other kind", async () => {
    const { recorder } = memoryRecorder();
    const message = { kind: "message", session_id: "s", role: "user", content: "c" } as unknown as InteractionInput;
    await expect(recorder.recordInteraction(message)).rejects.toBeInstanceOf(RecorderError);
    expect(await recorder.count()).toMatchObject({ entries: 0 });
  });
});

describe("refused input", () => {
  test("rejects the promise with code, field and hint, and without an index if no list was given", async () => {
    const { recorder } = memoryRecorder();
    const refused = await recorder.recordInteraction({ prompt: " " }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecorderError);
    expect(refused).toBeInstanceOf(Error);
    expect(refused).toMatchObject({
      name: "RecorderError",
      code: "prompt_blank",
      field: "prompt",
      hint: expect.any(String),
    });
    expect((refused as RecorderError).index).toBeUndefined();
  });

  test("in a batch is named by its index", async () => {
    const { recorder } = memoryRecorder();
    const batch = [{ kind: "error", error: "e" }, { kind: "error" }] as unknown as EntryInput[];
    await expect(recorder.append(batch)).rejects.toMatchObject({ code: "field_missing", field: "error", index: 1 });
  });

  test("may be an unknown store", async () => {
    const data = 3 as unknown as string;
    await expect(openRecorder({ data })).rejects.toMatchObject({ code: "field_invalid", field: "data" });
  });

  test("is an empty batch", async () => {
    const { recorder } = memoryRecorder();
    await expect(recorder.append([])).rejects.toMatchObject({ code: "entries_missing" });
  });

  test("may be a list with an invalid filter", async () => {
    const { recorder } = memoryRecorder();
    await expect(recorder.listInteractions({ since: "never" })).rejects.toMatchObject({ code: "time_invalid" });
    await expect(recorder.listEntries({ kind: "verdict" })).rejects.toMatchObject({ code: "kind_unknown" });
    await expect(recorder.listEntries({ cursor: "x" })).rejects.toMatchObject({ code: "cursor_invalid" });
  });

  test("may be the completion of a missing interaction", async () => {
    const { recorder } = memoryRecorder();
    await expect(recorder.completeInteraction("nobody", {})).rejects.toMatchObject({ code: "interaction_not_found" });
  });
});

describe("appending", () => {
  test("answers with a status for the whole and for each", async () => {
    const { recorder } = memoryRecorder();
    const error: EntryInput = { kind: "error", id: "e", error: "e" };
    expect(await recorder.append(error)).toEqual({
      status: "recorded",
      entries: [{ status: "recorded", id: "e", position: 1, created_at: expect.stringMatching(/^2026-/) }],
    });
    expect(await recorder.append([error])).toMatchObject({ status: "already_recorded" });
    expect(await recorder.append([error, { kind: "clear", session_id: "s" }])).toMatchObject({
      status: "recorded",
      entries: [{ status: "already_recorded" }, { status: "recorded" }],
    });
  });
});

describe("a closed recorder", () => {
  test("refuses every call with one fault, and may be closed again", async () => {
    const { recorder } = memoryRecorder();
    await recorder.close();
    await recorder.close();
    const calls: (() => Promise<unknown>)[] = [
      () => recorder.append({ kind: "error", error: "e" }),
      () => recorder.recordInteraction({ prompt: "p" }),
      () => recorder.completeInteraction("i", {}),
      () => recorder.listEntries(),
      () => recorder.listInteractions(),
      () => recorder.getEntry(1),
      () => recorder.getInteraction("i"),
      () => recorder.count(),
      () => recorder.verify(),
      () => recorder.health(),
      () => recorder.rebuildIndex(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: "Fault", code: "recorder_closed" });
  });

  test("has written everything that was started", async () => {
    const data = folderOfTest();
    const recorder = await openRecorder({ data });
    const under = Array.from({ length: 200 }, (_, nth) =>
      recorder.append({ kind: "error", id: `e-${nth}`, error: "e" }),
    );
    await recorder.close();
    expect((await Promise.all(under)).every(({ status }) => status === "recorded")).toBe(true);
    const again = await openRecorder({ data });
    expect(await again.count()).toMatchObject({ entries: 200 });
    await again.close();
  });
});

describe("a store on disk", () => {
  test("is private: the folder 0700, its files 0600", async () => {
    const data = join(folderOfTest(), "deep", "store");
    const recorder = await openRecorder({ data });
    await recorder.append(itemAt(sampleEntries, 0));
    await recorder.listEntries();
    expect(statSync(data).mode & 0o777).toBe(0o700);
    for (const file of ["log.db", "log.db-wal", "log.db-shm", "index.db", "index.db-wal", "index.db-shm"]) {
      expect([file, statSync(join(data, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    await recorder.close();
  });

  test("is not created if the caller says so", async () => {
    const data = join(folderOfTest(), "store");
    await expect(openRecorder({ data, create: false })).rejects.toMatchObject({ code: "store_missing" });
    expect(() => statSync(data)).toThrow("ENOENT");
  });

  test("says how far its index has followed", async () => {
    const recorder = await openRecorder({ data: folderOfTest() });
    await recorder.append([...sampleEntries]);
    await recorder.count();
    const position = sampleEntries.length;
    expect(await recorder.health()).toEqual({
      ...{ status: "ok", position, indexed_through: position, texts_indexed_through: expect.any(Number) },
      ...{ pending: 0, memories_waiting: 0, problems: [] },
    });
    await recorder.close();
  });
});

describe("any JSON is read back as it was recorded", () => {
  const folder = folderOfFile();
  const opened = [openRecorder({ data: "memory:" }), openRecorder({ data: folder })];
  afterAll(async () => {
    for (const recorder of await Promise.all(opened)) await recorder.close();
  });
  const anyString = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units));
  const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      anyString,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc
        .array(fc.tuple(fc.oneof(anyString, fc.constant("__proto__")), tie("value")), { maxLength: 4 })
        .map((pairs) => Object.fromEntries(pairs)),
    ),
  })).value;

  test.each([
    ["in memory", 0],
    ["on SQLite", 1],
  ])("%s", async (_, nth) => {
    const recorder = (await opened[nth]) as Recorder;
    await fc.assert(
      fc.asyncProperty(anyString, anyJson, anyJson, async (error, result, extra) => {
        const input = { kind: "tool_call", tool: error, args: { result }, extra: { "": extra } } as const;
        const { entries } = await recorder.append(input);
        const entry = await recorder.getEntry(entries[0]?.position as number);
        expect(entry).toMatchObject({ tool: error });
        // Compared as text, because an assertion library might treat different values as equal.
        const { args, extra: extraRead } = entry as unknown as { args: unknown; extra: unknown };
        expect(JSON.stringify([args, extraRead])).toBe(JSON.stringify([input.args, input.extra]));
      }),
      fuzz(150),
    );
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });
});

describe("a store may consist of", () => {
  test("a custom engine, which is used directly", async () => {
    const parts = { log: new MemoryLog(), index: new MemoryIndex(), keys: new MemoryKeys() };
    const recorder = await openRecorder({ data: parts });
    await recorder.append({ kind: "error", error: "the bridge is closed", session_id: "s" });
    expect((await recorder.search("bridge")).results).toMatchObject([{ kind: "error", position: 1 }]);
    expect(await recorder.session("s").summary()).toMatchObject({ entries: 1 });
    expect(await parts.index.checkpoint()).toBe(1);
    await recorder.keys.create({ scope: "read" });
    expect(await parts.keys.list()).toHaveLength(1);
    const tail = recorder.tail({ after: 0 });
    expect(await tail.next()).toMatchObject({ value: { position: 1 } });
    await recorder.close();
  });

  test("a log on one engine and an index on another", async () => {
    const [data, index] = [folderOfTest(), folderOfTest()];
    for (const elsewhere of ["memory:", index]) {
      const recorder = await openRecorder({ data, index: elsewhere });
      await recorder.append({ kind: "error", error: "the bridge is closed" });
      expect((await recorder.search("bridge")).results.length).toBeGreaterThan(0);
      await recorder.close();
    }
    expect(existsSync(join(data, "index.db"))).toBe(false);
    expect(existsSync(join(index, "index.db"))).toBe(true);
    expect(existsSync(join(index, "log.db"))).toBe(false);
  });

  test("no incomplete set of parts", async () => {
    for (const data of [{ log: new MemoryLog() }, { log: {}, index: {}, keys: {} }, 5, null]) {
      const refused = openRecorder({ data: data as never });
      await expect(refused).rejects.toMatchObject({ code: "field_invalid", field: "data" });
    }
  });

  test.each(["mysql://host/db", "ftp://record.example", "clickhouse://host"])("nothing at %s", async (address) => {
    const data = folderOfTest();
    const refused = { code: "field_invalid", hint: expect.any(String) };
    await expect(openRecorder({ data: address })).rejects.toMatchObject({ ...refused, field: "data" });
    await expect(openRecorder({ data, index: address })).rejects.toMatchObject({ ...refused, field: "index" });
    await expect(openRecorder({ data, index: "postgres://h/d" })).rejects.toMatchObject({ ...refused, field: "index" });
    await expect(openRecorder({ data, index: 5 as never })).rejects.toMatchObject({ ...refused, field: "index" });
  });

  test("an index that another log has taken over meanwhile, and no answer mixes the two", async () => {
    const index = folderOfTest();
    const recorders = [];
    for (const name of ["first", "second"]) {
      const recorder = await openRecorder({ data: folderOfTest(), index });
      recorders.push({ name, recorder });
    }
    for (let nth = 0; nth < 3; nth += 1) {
      for (const { name, recorder } of recorders) {
        await recorder.append({ kind: "error", error: `${name} ${nth}`, session_id: name });
        for (const other of recorders) {
          const { entries } = await other.recorder.listEntries();
          expect(entries.every((entry) => entry.kind === "error" && entry.session_id === other.name)).toBe(true);
          const { sessions } = await other.recorder.listSessions();
          expect(sessions.every(({ session_id }) => session_id === other.name)).toBe(true);
        }
        expect((await recorder.listEntries()).entries).toHaveLength(nth + 1);
      }
    }
    for (const { recorder } of recorders) await recorder.close();
  });
});
