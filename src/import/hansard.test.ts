// Hansard's own export: unchanged into an empty store, at new positions into others.

import { describe, expect, test } from "vitest";
import { fixturePath, fixtureRecords, recordsOf } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import { sampleEntries } from "../../test/support/sample-entries.js";
import { repeatableContext } from "../../test/support/write-context.js";
import { commitmentOf } from "../model/chain.js";
import { claimKey, idClaim } from "../model/claims.js";
import { itemAt } from "../model/item-at.js";

async function sampleBench() {
  const bench = importBench();
  await bench.recorder.append(sampleEntries);
  return bench;
}

function freshBench() {
  return importBench(memoryRecorder(repeatableContext(7)).recorder);
}

describe("a whole export", () => {
  test("imported into an empty store has the same positions, times, hashes and log id", async () => {
    const bench = await sampleBench();
    const [entries, verified] = [await bench.entries(), await bench.recorder.verify()];
    const out = await bench.export({});
    const copy = freshBench();
    const report = await copy.import(copy.write("all.ndjson", out));
    expect(counts(report)).toEqual({ files: 1, sessions: 1, added: 12, existing: 0, rejected: 0 });
    expect(await copy.entries()).toEqual(entries);
    expect(await copy.recorder.verify()).toEqual(verified);
    expect(await copy.export({})).toBe(out);
  });

  test("is recorded in the log, after its content, without anything that may have to be forgotten", async () => {
    const bench = await sampleBench();
    const out = await bench.export({ session_id: "s:1", kind: "message", actor: "key:1" });
    expect(await bench.recorder.getEntry(13)).toMatchObject({
      kind: "audit",
      action: "export",
      actor: "key:1",
      target: "entries by kind, session_id as hansard",
    });
    expect(out).not.toContain('"kind":"audit"');
    await bench.export({});
    expect(await bench.recorder.getEntry(14)).toMatchObject({ actor: "person", target: "the whole log as hansard" });
  });

  test("is one line about the log, then one line per entry with everything its hash covers", async () => {
    const bench = await sampleBench();
    const { hash } = (await bench.recorder.verify()) as { readonly hash: string };
    const [header, first, ...rest] = recordsOf(await bench.export({}));
    expect(header).toEqual({ hansard: 2, log_id: expect.any(String), position: 12, hash, whole: true });
    const [entry] = await bench.entries();
    expect(first).toEqual({
      position: 1,
      kind: "session_info",
      recorded_at: entry?.recorded_at,
      recorded_by: "",
      hash: entry?.hash,
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      id: "info",
      session_id: "s:1",
      title: "A first session",
      metadata: { topic: "tests" },
    });
    expect(rest.map((line) => (line as { readonly position: number }).position)).toEqual([
      ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    ]);
  });

  test("imported again adds nothing, in either store", async () => {
    const bench = await sampleBench();
    const path = bench.write("all.ndjson", await bench.export({}));
    expect(counts(await bench.import(path))).toMatchObject({ added: 0, existing: 12, rejected: 0 });
    const copy = freshBench();
    await copy.import(path);
    expect(counts(await copy.import(path))).toMatchObject({ added: 0, existing: 12, rejected: 0 });
  });

  test("continues where an earlier one ended", async () => {
    const bench = await sampleBench();
    const copy = freshBench();
    await copy.import(copy.write("earlier.ndjson", await bench.export({})));
    await bench.recorder.append({ kind: "error", error: "later" });
    const entries = await bench.entries();
    const grown = copy.write("all.ndjson", await bench.export({}));
    // Later entries are the audit entry about the first export, and the error.
    expect(counts(await copy.import(grown))).toMatchObject({ added: 2, existing: 12, rejected: 0 });
    expect(await copy.entries()).toEqual(entries);
  });

  test("of an empty log is one line, and leaves an empty store empty", async () => {
    const bench = importBench();
    const copy = freshBench();
    const report = await copy.import(copy.write("none.ndjson", await bench.export({})));
    expect(counts(report)).toEqual({ files: 1, sessions: 0, added: 0, existing: 0, rejected: 0 });
  });
});

describe("of a complete export that was changed nothing is imported:", () => {
  const changes: { readonly [what: string]: (lines: string[]) => void } = {
    "a text that was edited": (lines) => replaceIn(lines, 7, "ENOENT", "EACCES"),
    "a line that was taken out": (lines) => void lines.splice(3, 1),
    "the last line taken out": (lines) => void lines.pop(),
    "two lines swapped": (lines) => void lines.splice(3, 2, itemAt(lines, 4), itemAt(lines, 3)),
    "a line twice": (lines) => void lines.splice(3, 0, itemAt(lines, 3)),
    "a time that was edited": (lines) => replaceIn(lines, 3, '"recorded_at":"2026', '"recorded_at":"2025'),
    "who brought it edited": (lines) => replaceIn(lines, 3, '"recorded_by":""', '"recorded_by":"k1"'),
    "who brought it taken out, as if it were an older entry": (lines) => replaceIn(lines, 3, '"recorded_by":"",', ""),
    "a line that was torn": (lines) => void lines.splice(12, 1, itemAt(lines, 12).slice(0, 40)),
    "a line that is no entry": (lines) => void lines.splice(3, 0, '{"note":"nothing"}'),
    "another end promised": (lines) => replaceIn(lines, 0, /"hash":"[0-9a-f]{64}"/, `"hash":"${"0".repeat(64)}"`),
    "a body taken out as if it had been damaged": (lines) => bodiless(lines, 7, { flaw: "its body is damaged" }),
    "a body taken out as if it had been erased": (lines) => bodiless(lines, 7, { erased: true, claims: [] }),
  };

  test.each(Object.keys(changes))("%s", async (what) => {
    const bench = await sampleBench();
    const lines = (await bench.export({})).trimEnd().split("\n");
    const before = lines.join("\n");
    changes[what]?.(lines);
    expect(lines.join("\n")).not.toBe(before);
    const copy = freshBench();
    const path = copy.write("all.ndjson", `${lines.join("\n")}\n`);
    const report = await copy.import(path);
    expect(report).toMatchObject({ added: 0, existing: 0, rejected: [{ file: path, line: 0 }] });
    expect(report.rejected[0]?.reason).toMatch(/^line \d+: .*nothing was imported/);
    expect(await copy.entries()).toEqual([]);
  });

  test("but with new positions, everything readable is imported", async () => {
    const bench = await sampleBench();
    const lines = (await bench.export({})).trimEnd().split("\n");
    replaceIn(lines, 7, "ENOENT", "EACCES");
    lines.splice(3, 1);
    const copy = freshBench();
    const report = await copy.import(copy.write("all.ndjson", lines.join("\n")), { as_new: true });
    expect(counts(report)).toMatchObject({ added: 11, rejected: 0 });
    expect(await copy.recorder.getEntry("failed")).toMatchObject({ position: 6 });
    expect(await copy.recorder.verify()).toMatchObject({ ok: true });
  });

  test("a part of a log is refused if a line does not match the one before it", async () => {
    const bench = await sampleBench();
    const lines = (await bench.export({})).trimEnd().split("\n");
    replaceIn(lines, 0, '"whole":true', '"whole":false');
    replaceIn(lines, 7, "ENOENT", "EACCES");
    const copy = freshBench();
    const report = await copy.import(copy.write("part.ndjson", lines.join("\n")));
    expect(report).toMatchObject({ added: 0, rejected: [{ line: 0, reason: expect.stringMatching(/^line 8: /) }] });
  });

  test("a stream is refused as a whole too", async () => {
    const bench = await sampleBench();
    const out = await bench.export({});
    const copy = freshBench();
    const stdin = (text: string) =>
      (async function* () {
        yield Buffer.from(text);
      })();
    const refused = await copy.import("-", { stdin: stdin(out.replace("ENOENT", "EACCES")) });
    expect(refused).toMatchObject({ added: 0, rejected: [{ file: "-", line: 0 }] });
    expect(counts(await copy.import("-", { stdin: stdin(out) }))).toMatchObject({ added: 12, rejected: 0 });
  });
});

test("an erased entry brings the keys of its claims, and its id stays taken", async () => {
  const bench = await sampleBench();
  await bench.recorder.forget({ entry: "failed", reason: "asked to" });
  const copy = freshBench();
  await copy.import(copy.write("all.ndjson", await bench.export({})));
  expect(await copy.recorder.verify()).toMatchObject({ ok: true, erased: 1 });
  expect(await copy.recorder.append({ kind: "error", id: "failed", error: "again" })).toMatchObject({
    status: "already_recorded",
    entries: [{ position: 7 }],
  });
});

test("an export of version 1 is imported with its positions, times and hashes, and its erased entries", async () => {
  const bench = freshBench();
  const path = fixturePath("exports", "form-1.ndjson");
  expect(counts(await bench.import(path))).toMatchObject({ added: 14, rejected: 0 });
  const lines = fixtureRecords("exports", "form-1.ndjson").slice(1) as readonly { readonly hash: string }[];
  const entries = await bench.entries();
  expect(entries.map(({ hash }) => hash)).toEqual(lines.map(({ hash }) => hash));
  expect(new Set(entries.map(({ recorded_by }) => recorded_by))).toEqual(new Set([""]));
  expect(await bench.recorder.verify()).toMatchObject({ ok: true, entries: 14, erased: 2 });
  await bench.recorder.append({ kind: "error", error: "goes on" });
  const copy = freshBench();
  await copy.import(copy.write("again.ndjson", await bench.export({})));
  expect(await copy.recorder.verify()).toMatchObject({ ok: true, entries: 15, erased: 2 });
});

/** The line with this index, counted from the first line. */
function replaceIn(lines: string[], index: number, what: string | RegExp, by: string): void {
  lines[index] = itemAt(lines, index).replace(what, by);
}

function bodiless(lines: string[], index: number, left: object): void {
  const { position, kind, recorded_at, recorded_by, hash, salt, ...body } = JSON.parse(itemAt(lines, index));
  const commitment = commitmentOf(Buffer.from(salt, "hex"), Buffer.from(JSON.stringify(body))).toString("hex");
  const claims = [claimKey(idClaim(body.id)).toString("hex")];
  const given = "claims" in left ? { claims } : {};
  lines[index] = JSON.stringify({ position, kind, recorded_at, recorded_by, hash, commitment, ...left, ...given });
}

describe("into a store with its own entries", () => {
  test("entries get new positions, and keep their ids, times and sessions", async () => {
    const bench = await sampleBench();
    const other = freshBench();
    await other.recorder.append([{ kind: "error", error: "mine" }, itemAt(sampleEntries, 0)]);
    const original = await bench.entries();
    const report = await other.import(other.write("all.ndjson", await bench.export({})));
    expect(counts(report)).toMatchObject({ added: 11, existing: 1, rejected: 0 });
    const placed = await other.entries();
    expect(placed.slice(2).map(({ id }) => id)).toEqual(original.slice(1).map(({ id }) => id));
    expect(placed.slice(2).map(({ created_at }) => created_at)).toEqual(original.slice(1).map((one) => one.created_at));
    expect(await other.recorder.getInteraction("asked")).toMatchObject({ response: "The record of a parliament." });
    expect(await other.recorder.verify()).toMatchObject({ ok: true, entries: 13 });
  });

  test("an id that means something else here is reported, and nothing is overwritten", async () => {
    const bench = await sampleBench();
    const other = freshBench();
    await other.recorder.append({ kind: "error", id: "failed", error: "another one" });
    const report = await other.import(other.write("all.ndjson", await bench.export({})));
    expect(report).toMatchObject({
      added: 11,
      existing: 0,
      rejected: [{ line: 8, reason: expect.stringMatching(/already used/) }],
    });
    expect(await other.recorder.getEntry("failed")).toMatchObject({ error: "another one" });
  });

  test("the end of a consolidation is adjusted to new positions", async () => {
    const bench = await sampleBench();
    const other = freshBench();
    await other.recorder.append([
      { kind: "error", error: "one" },
      { kind: "error", error: "two" },
    ]);
    await other.import(other.write("all.ndjson", await bench.export({})));
    const consolidation = (await other.entries()).find(({ kind }) => kind === "consolidation");
    expect(consolidation).toMatchObject({ through: 7, summary: "asked and read" });
  });

  test("what a consolidation keeps is adjusted to new positions, and one that dropped nothing stays so", async () => {
    const bench = importBench();
    await bench.recorder.append([
      { kind: "message", session_id: "s", role: "user", content: "one" },
      { kind: "message", session_id: "s", role: "assistant", content: "two" },
      { kind: "consolidation", id: "kept", session_id: "s", through: 2, kept: [1, 2] },
      { kind: "consolidation", id: "none", session_id: "s", through: 0, summary: "so far" },
    ]);
    const other = freshBench();
    await other.recorder.append({ kind: "error", error: "before" });
    await other.import(other.write("all.ndjson", await bench.export({})));
    expect(await other.recorder.getEntry("kept")).toMatchObject({ through: 3, kept: [2, 3] });
    expect(await other.recorder.getEntry("none")).toMatchObject({ through: 0, summary: "so far" });
  });

  test("a withdrawal and feedback refer to the new positions, and are refused if their target is missing", async () => {
    const bench = importBench();
    await bench.recorder.append({ kind: "message", id: "m", session_id: "s", role: "user", content: "oops" });
    await bench.recorder.append({ kind: "message", id: "n", session_id: "s", role: "user", content: "hello" });
    await bench.recorder.session("s").withdraw(1, { id: "w" });
    await bench.recorder.feedback({ id: "f", entry_id: "n", score: -1 });
    const other = freshBench();
    await other.recorder.append({ kind: "error", error: "first" });
    const text = await bench.export({});
    const path = other.write("all.ndjson", text);
    expect(await other.import(path)).toMatchObject({ added: 4, rejected: [] });
    expect(await other.import(path)).toMatchObject({ added: 0, existing: 4, rejected: [] });
    expect(await other.recorder.getEntry("w")).toMatchObject({ withdraws: 2 });
    expect(await other.recorder.session("s").history()).toMatchObject([{ content: "hello" }]);
    expect((await other.recorder.listEntries({ is: "disliked" })).entries).toMatchObject([{ id: "n" }]);
    const lines = text.split("\n").slice(3).join("\n");
    const third = freshBench();
    expect(await third.import(third.write("tail.ndjson", lines))).toMatchObject({
      added: 0,
      rejected: [{ reason: expect.stringMatching(/position 1, which/) }, { reason: expect.stringMatching(/no entry/) }],
    });
  });

  test("a filtered export contains what was selected, and gets new positions even in an empty store", async () => {
    const bench = await sampleBench();
    const out = await bench.export({ project: "atlas" });
    expect(recordsOf(out)).toMatchObject([{ whole: false }, { id: "asked" }, { id: "answered" }, { id: "failed" }]);
    const other = freshBench();
    expect(counts(await other.import(other.write("part.ndjson", out)))).toMatchObject({ added: 3, rejected: 0 });
    expect((await other.entries()).map(({ position }) => position)).toEqual([1, 2, 3]);
  });

  test("lines without the header are recognised too", async () => {
    const bench = await sampleBench();
    const lines = (await bench.export({})).split("\n").slice(3).join("\n");
    const other = freshBench();
    const report = await other.import(other.write("tail.ndjson", lines));
    // The response has lost its interaction, and the consolidation names an existing position.
    expect(report).toMatchObject({
      added: 9,
      rejected: [{ line: 4, reason: expect.stringMatching(/no interaction/) }],
    });
  });

  test("a newer version of the format is refused, and nothing is guessed", async () => {
    const bench = importBench();
    const report = await bench.import(bench.write("new.ndjson", [{ hansard: 3, log_id: "x" }, { position: 1 }]));
    expect(report).toMatchObject({
      added: 0,
      rejected: [{ line: 0, reason: expect.stringMatching(/format version 3/) }],
    });
  });
});

test.each([
  [{ session_id: "s:1" }, 9],
  [{ session_id: "-" }, 3],
  [{ kind: "message" }, 2],
  [{ client: "cli" }, 2],
  [{ since: "2026-11-14", until: "2026-11-14T10:00:05Z" }, 1],
  [{ until: "2026-11-14" }, 2],
  [{ session_id: "s:1", kind: "decision", since: "2026-11-15" }, 1],
  [{ session_id: "nobody" }, 0],
])("the filter %j selects %i entries", async (filters, count) => {
  const bench = await sampleBench();
  expect(recordsOf(await bench.export(filters)).length - 1).toBe(count);
});

test.each([
  [{ kind: "gossip" }, "kind_unknown"],
  [{ since: "soon" }, "time_invalid"],
  [{ format: "word" }, "field_invalid"],
  [{ format: "nanobot" }, "session_id_invalid"],
  [{ timezone: "Mars" }, "field_invalid"],
])("the export options %j are refused with %s", async (options, code) => {
  const bench = await sampleBench();
  await expect(bench.export(options)).rejects.toMatchObject({ name: "RecorderError", code });
});
