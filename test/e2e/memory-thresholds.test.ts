// The loop on both sides of its thresholds of time, count and certainty; and that what is kept at hand, rebuilt or done in
// another order says the same.

import { beforeEach, describe, expect, test } from "vitest";
import type { Recorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { composeInMemory, memoryRecorder } from "../support/memory-recorder.js";
import { repeatableContext } from "../support/write-context.js";

const MINUTE_MS = 60_000;
const trees = "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper kapok larch maple nutmeg".split(" ");
let nowMs = 0;
let recorder: Recorder;
let elsewhere: () => Recorder;

beforeEach(() => {
  nowMs = Date.parse("2026-11-15T06:00:00Z");
  const writeContext = { ...repeatableContext(), nowMs: () => nowMs };
  const parts = memoryRecorder(writeContext);
  recorder = parts.recorder;
  elsewhere = () => composeInMemory({ ...parts, writeContext });
});

/** Statements that have no stem in common. */
function statement(nth: number): string {
  return `Tree${nth}x stands${nth}x beside${nth}x water${nth}x`;
}

async function candidates(count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const [content, id] = [statement(nth), `said-${nth}`];
    await recorder.append({ kind: "message", id, session_id: id, project: "atlas", role: "user", content });
    const evidence = [{ entry_id: id, quote: content }];
    const memory = await recorder.memories.propose({ type: "knowledge", content, evidence });
    ids.push((memory as { readonly id: string }).id);
  }
  return ids;
}

test.each([
  [29, 0, false],
  [30, 12, false],
  [30, 11, true],
  [31, 12, false],
])("of %d verdicts %d are yes: the source is paused: %s", async (count, accepted, isPaused) => {
  const ids = await candidates(count + 1);
  await recorder.memories.verdicts({ reject: ids.slice(0, count - accepted) });
  if (accepted > 0) await recorder.memories.verdicts({ promote: ids.slice(count - accepted, count) });
  const { acceptance } = await recorder.memories.list({ limit: 0 });
  const shown = Math.min(30, count);
  expect(acceptance).toEqual([
    { source: "agent", generation: "", accepted, rejected: shown - accepted, is_paused: isPaused },
  ]);
  const said = { kind: "message", id: "last", session_id: "last", project: "atlas", role: "user" } as const;
  await recorder.append({ ...said, content: "Willows grow near the old mill pond" });
  const evidence = [{ entry_id: "last", quote: "Willows grow near the old mill pond" }];
  const proposal = { type: "knowledge", content: "Willows grow near the old mill pond", evidence } as const;
  expect("dropped" in (await recorder.memories.propose(proposal))).toBe(isPaused);
  // A person's word, and another source, are heard all the same.
  expect((await recorder.memories.add({ content: "Larches lose their needles" })).status).toBe("active");
  expect(await recorder.memories.propose({ ...proposal, source: "person" })).not.toMatchObject({ dropped: "paused" });
});

describe("time", () => {
  const content = trees.slice(0, 6).join(" ");

  test("a turn without an answer is over after 30 minutes", async () => {
    await recorder.memories.add({ content, project: "atlas" });
    await recorder.recordInteraction({ session_id: "s", project: "atlas", prompt: content });
    nowMs += 30 * MINUTE_MS - 1;
    expect(await recorder.memories.reinforce()).toMatchObject({ reinforced: [], waiting: [expect.any(String)] });
    nowMs += 1;
    expect(await recorder.memories.reinforce()).toMatchObject({ reinforced: [{ confirmed: true }], waiting: [] });
  });

  test("a model reads a session of 20 entries after 30 minutes without an entry", async () => {
    const said = { kind: "message", session_id: "s", role: "user" } as const;
    await recorder.append(Array.from({ length: 20 }, (_, nth) => ({ ...said, content: `${content} ${nth}` })));
    const model = { via: `cat > /dev/null; echo '{"memories": []}'` };
    const audits = async (): Promise<number> => {
      await recorder.memories.extract({ model });
      return (await recorder.listEntries({ kind: "audit" })).entries.length;
    };
    nowMs += 30 * MINUTE_MS - 1;
    expect(await audits()).toBe(0);
    nowMs += 1;
    // Before it is sent, and when it was read.
    expect([await audits(), await audits()]).toEqual([2, 2]);
  });

  test("a memory is not recalled after its valid_until", async () => {
    const valid_until = new Date(nowMs + MINUTE_MS).toISOString();
    await recorder.memories.add({ content, valid_until });
    const recalled = async () => (await recorder.memories.recall()).memories_used.length;
    nowMs += MINUTE_MS - 1;
    expect(await recalled()).toBe(1);
    nowMs += 1;
    expect(await recalled()).toBe(0);
  });

  test("a candidate of today is ahead of one that says as much and is a day older; two sessions outweigh 29 days", async () => {
    const propose = async (id: string, sessions: number): Promise<void> => {
      const said = statement(Number(id));
      const evidence = [];
      for (let nth = 0; nth < sessions; nth += 1) {
        const entry_id = `${id}-${nth}x`;
        const message = {
          kind: "message",
          session_id: entry_id,
          project: "atlas",
          role: "user",
          content: said,
        } as const;
        await recorder.append({ ...message, id: entry_id });
        evidence.push({ entry_id, quote: said });
      }
      await recorder.memories.propose({ id: `m${id}`, type: "knowledge", content: said, evidence });
    };
    await propose("1", 2);
    nowMs += 28 * 24 * 60 * MINUTE_MS;
    await propose("2", 1);
    nowMs += 24 * 60 * MINUTE_MS;
    await propose("3", 1);
    const queue = async () => (await recorder.memories.list({ status: "candidate" })).memories.map(({ id }) => id);
    expect(await queue()).toEqual(["m1", "m3", "m2"]);
    nowMs += 2 * 24 * 60 * MINUTE_MS;
    await propose("4", 1);
    expect(await queue()).toEqual(["m4", "m1", "m3", "m2"]);
  });
});

test("each confirmation adds 0.02 to confidence, up to 1 and no more", async () => {
  const content = trees.slice(0, 6).join(" ");
  const { id } = await recorder.memories.add({ content, project: "atlas", confidence: 0.97 });
  const certainty: (number | undefined)[] = [];
  for (const session_id of ["a", "b", "c"]) {
    const { id: turn } = await recorder.recordInteraction({
      session_id,
      project: "atlas",
      prompt: content,
      response: "Yes",
    });
    await recorder.memories.reinforce({ interaction_id: turn });
    certainty.push((await recorder.memories.get(id))?.confidence);
  }
  expect(certainty).toEqual([0.99, 1, 1]);
});

test("cached, reread and rebuilt memories are the same after every kind of change", async () => {
  const types = ["preference", "project", "knowledge", "adaptation"] as const;
  const ids: string[] = [];
  const query = { project: "atlas", q: "alder maple", budget_tokens: 120 };
  const all = async (from: Recorder) => [
    await from.memories.recall(query),
    (await from.memories.list({ status: "candidate" })).memories,
    (await from.memories.list({ limit: 500 })).memories,
  ];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const pick = (): string => itemAt(ids, random(ids.length));
  const words = () => Array.from({ length: 6 }, () => trees[random(trees.length)]).join(" ");
  const changes: readonly (() => Promise<unknown>)[] = [
    async () => {
      const type = itemAt(types, random(types.length));
      ids.push((await recorder.memories.add({ content: `${words()} ${ids.length}`, type, project: "atlas" })).id);
    },
    () => recorder.memories.supersede(pick(), { content: words() }),
    async () => {
      const memory = await recorder.memories.get(pick());
      const turn = { session_id: `s${nowMs}`, project: "atlas", prompt: "Go on", response: memory?.content ?? "" };
      const { id } = await recorder.recordInteraction(turn);
      await recorder.memories.reinforce({ interaction_id: id });
    },
    () => recorder.forget({ entry: pick(), reason: "asked to" }),
    () =>
      recorder.memories.propose({
        content: `${words()} ${nowMs}`,
        source: "person",
        project: "atlas",
        type: "knowledge",
      }),
  ];
  for (let step = 0; step < 60; step += 1) {
    nowMs += MINUTE_MS;
    const change = changes[step < 8 ? 0 : random(changes.length)] as () => Promise<unknown>;
    // A memory may be superseded or forgotten already.
    await change().catch(({ code }) =>
      expect(["verdict_given", "memory_not_found", "entry_not_found"]).toContain(code),
    );
    expect(await all(recorder)).toEqual(await all(elsewhere()));
  }
  const before = await all(recorder);
  await recorder.rebuildIndex();
  expect(await all(recorder)).toEqual(before);
});

test("passes in another order come to the same memories", async () => {
  const outcome = async (order: readonly ("extract" | "reinforce")[]): Promise<unknown> => {
    const { recorder: own } = memoryRecorder(repeatableContext());
    const content = "The staging database of atlas lives on port 5433 behind the gateway";
    await own.memories.add({ id: "known", content, project: "atlas", type: "project" });
    const said = { project: "atlas", response: "## Decision: keep the index in a file of its own" };
    await own.recordInteraction({ ...said, session_id: "a", prompt: `${content}.` });
    await own.recordInteraction({
      ...said,
      session_id: "b",
      prompt: "Go on.",
      response: "## Fact: retries are billed",
    });
    for (const pass of [...order, ...order]) await own.memories[pass]();
    const { memories } = await own.memories.list();
    return memories.map(({ id: _, created_at: __, decided_at: ___, last_confirmed_at: ____, ...rest }) => rest);
  };
  const one = await outcome(["extract", "reinforce"]);
  expect(one).toHaveLength(3);
  expect(await outcome(["reinforce", "extract"])).toEqual(one);
});
