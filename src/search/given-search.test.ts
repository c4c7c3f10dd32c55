// Searching in what models were given: each distinct text once for a session, at its newest use, with how often.
import { describe, expect, test } from "vitest";
import { type MemoryRecorder, memoryRecorder } from "../../test/support/memory-recorder.js";
import type { EntryInput } from "../model/entry.js";

type Recorder = MemoryRecorder["recorder"];

const says = (role: string, content: unknown) => ({ role, content });

async function recorded(...entries: readonly object[]): Promise<Recorder> {
  const { recorder } = memoryRecorder();
  const numbered = entries.map((entry, at) => ({
    kind: "interaction",
    id: `e${at + 1}`,
    session_id: "s",
    prompt: "p",
    response: "r",
    ...entry,
  }));
  await recorder.append(numbered as readonly EntryInput[]);
  return recorder;
}

const given = (...contents: readonly unknown[]): object => ({
  context_pack: { messages: contents.map((content) => says("user", content)) },
});

async function found(recorder: Recorder, q: string, options: object = {}) {
  const { results } = await recorder.search(q, options);
  return results.map(({ id, snippet, given: times }) => [id, snippet, times]);
}

describe("in:context", () => {
  test("finds what was given and never said, and nothing that was only said", async () => {
    const recorder = await recorded(
      { ...given("the Zebra rule"), prompt: "zebra asked", response: "zebra said" },
      { kind: "message", role: "user", content: "zebra talk" },
    );
    expect(await found(recorder, "zebra rule")).toEqual([]);
    expect(await found(recorder, "zebra in:context")).toEqual([["e1", "the Zebra rule", 1]]);
    expect(await found(recorder, "zebra", { in: "context" })).toEqual([["e1", "the Zebra rule", 1]]);
    const [hit] = (await recorder.search("in:context zebra")).results;
    expect(hit).toMatchObject({ field: "context_pack", matches: [[4, 9]], prompt: "zebra asked" });
  });

  test("has each distinct text once for a session, at its newest use, and counts all of its uses", async () => {
    const recorder = await recorded(
      ...[given("rule A"), given("rule A", "rule A", "rule B"), given("rule A"), given("rule C")],
      ...[
        { ...given("rule A"), session_id: "t" },
        { ...given("rule A"), session_id: "" },
      ],
      { ...given("rule A"), session_id: "" },
    );
    expect(await found(recorder, "rule in:context")).toEqual([
      ...[
        ["e7", "rule A", 1],
        ["e6", "rule A", 1],
        ["e5", "rule A", 1],
      ],
      ...[
        ["e4", "rule C", 1],
        ["e3", "rule A", 3],
        ["e2", "rule B", 1],
      ],
    ]);
    expect(await found(recorder, '"rule a" in:context session_id:s')).toEqual([["e3", "rule A", 3]]);
    expect(await found(recorder, "rule -b in:context session_id:s")).toHaveLength(2);
    const { facets } = await recorder.search("rule in:context", { facets: true, limit: 1 });
    expect(facets).toMatchObject({ counted: 6, kinds: [{ kind: "interaction", count: 6 }] });
  });

  test("texts that differ by a byte are two, and a text that is a number is one", async () => {
    const recorder = await recorded(given("same text"), given("same text "), given([{ type: "text", text: "7" }]));
    expect(await found(recorder, '"same text" in:context')).toHaveLength(2);
    expect(await found(recorder, "7 in:context")).toEqual([["e3", "7", 1]]);
  });

  test("looks through system, tools and the rest of the pack, whatever shape they have", async () => {
    const pack = { system: [{ type: "text", text: "ruled" }], tools: [{ name: "ruler" }], note: { overruled: null } };
    const recorder = await recorded({ context_pack: pack }, { context_pack: { messages: 7, list: ["rule"] } });
    expect((await found(recorder, "rule in:context")).map(([, text]) => text)).toEqual([
      ...["rule", "ruler", "ruled", "overruled"],
    ]);
  });

  test("pages reach every text exactly once, several of one entry too; a foreign cursor is refused", async () => {
    const recorder = await recorded(given("rule 1", "rule 2", "rule 3"), given("rule 3", "rule 4"));
    const texts: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await recorder.search("rule in:context", { limit: 2, cursor });
      texts.push(...page.results.map(({ snippet }) => snippet));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(texts).toEqual(["rule 3", "rule 4", "rule 1", "rule 2"]);
    const { next_cursor } = await recorder.search("rule in:context", { limit: 1 });
    await expect(recorder.search("rule", { cursor: next_cursor })).rejects.toMatchObject({ code: "cursor_invalid" });
    await expect(recorder.search("in:speech")).rejects.toMatchObject({ code: "in_unknown", field: "q" });
  });

  test("masks as lists do, and what was forgotten is not found", async () => {
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const recorder = await recorded(given(`use ${token} here`), given("plain rule"));
    expect((await found(recorder, "here in:context"))[0]?.[1]).not.toContain(token);
    await recorder.forget({ entry: "e2", reason: "asked" });
    expect(await found(recorder, "plain in:context")).toEqual([]);
  });
});
