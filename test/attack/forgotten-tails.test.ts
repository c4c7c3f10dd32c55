// What was forgotten is not handed out by anybody who kept it: not by the hub of tails, nor by a tail that was stopped half way.

import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type AlteredEntry, type Entry, type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { engines } from "./intruder.js";

const reason = "the person asked us to";

async function opened(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

function said(nth: number): EntryInput {
  return {
    kind: "error",
    id: `e${nth}`,
    session_id: nth % 2 === 0 ? "even" : "odd",
    error: `forgotten-${nth % 2} ${nth}`,
  };
}

const entries = Array.from({ length: 20 }, (_, at) => said(at + 1));

/** What a client of `GET /tail` gets before nothing more comes. */
async function streamed(address: string, query: string): Promise<string> {
  const abort = new AbortController();
  const response = await fetch(`${address}/tail${query}`, { signal: abort.signal });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await delay(700);
  abort.abort();
  await reading;
  return text;
}

async function takeThrough(
  tail: ReturnType<Recorder["tail"]>,
  position: number,
): Promise<readonly (Entry | AlteredEntry)[]> {
  const taken: (Entry | AlteredEntry)[] = [];
  for (;;) {
    const { value } = await tail.next();
    if (value === undefined) return taken;
    taken.push(value);
    if (value.position >= position) return taken;
  }
}

describe.each(engines)("on $engine", ({ intrude }) => {
  test.each(["the server itself", "another process"])("GET /tail has nothing that %s forgot", async (who) => {
    const { data } = await intrude();
    const [recorder, other] = [await openRecorder({ data }), await opened(data)];
    const serving = await serve({ recorder, version: "1", port: 0 });
    onTestFinished(() => serving.close());
    // Somebody who listens makes the hub keep the newest entries.
    const listener = recorder.tail({});
    await listener.started();
    const heard: number[] = [];
    const listening = (async () => {
      for await (const { position } of listener) heard.push(position);
    })();
    await recorder.append(entries);
    await vi.waitFor(() => expect(heard).toHaveLength(entries.length), 20_000);
    expect(await streamed(serving.address, "?after=0")).toContain("forgotten-1 19");
    const forgetter = who === "the server itself" ? recorder : other;
    const { positions } = await forgetter.forget({ session_id: "odd", reason });
    const seen = await streamed(serving.address, "?after=0");
    expect(seen).not.toContain("forgotten-1");
    expect(seen).toContain("forgotten-0 20");
    expect(positions).toHaveLength(10);
    await listener.return();
    await listening;
  });

  test("a tail that was stopped half way hands out nothing that was forgotten meanwhile, and misses nothing else", async () => {
    const { data } = await intrude();
    const [recorder, other] = [await opened(data), await opened(data)];
    const waiting = recorder.tail({});
    const [catching, filtered] = [recorder.tail({ after: 0 }), recorder.tail({ after: 0, session_id: "odd" })];
    await waiting.started();
    const first = waiting.next();
    await recorder.append(entries);
    expect((await first).value).toMatchObject({ position: 1 });
    expect((await catching.next()).value).toMatchObject({ position: 1 });
    expect((await filtered.next()).value).toMatchObject({ position: 1 });
    const forgotten = await other.forget({ session_id: "odd", reason });
    const redaction = forgotten.redaction as number;
    for (const tail of [waiting, catching]) {
      const rest = (await takeThrough(tail, redaction + 1)).map(({ position }) => position);
      expect(rest).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20, redaction, redaction + 1]);
      await tail.return();
    }
    const next = filtered.next();
    await recorder.append([said(98), said(99)]);
    expect((await next).value).toMatchObject({ error: "forgotten-1 99" });
    await filtered.return();
  });

  test("a tail that paused for long continues, and rereads what was forgotten, if much was recorded since", async () => {
    const { data } = await intrude();
    const [recorder, other] = [await opened(data), await opened(data)];
    await recorder.append(entries);
    const tail = recorder.tail({ after: 0 });
    expect((await tail.next()).value).toMatchObject({ position: 1 });
    await other.forget({ entry: 2, reason });
    const many = Array.from({ length: 1_000 }, (): EntryInput => ({ kind: "clear", session_id: "s" }));
    for (let batch = 0; batch < 11; batch += 1) await other.append(many);
    await delay(1_100);
    expect((await takeThrough(tail, 21)).map(({ position }) => position)).toEqual(
      Array.from({ length: 19 }, (_, at) => at + 3),
    );
    await tail.return();
  });
});

test("no tail delivers an entry after its forgetting was answered, while both run concurrently", async () => {
  const { data } = await itemAt(engines, 0).intrude();
  const [recorder, other] = [await opened(data), await opened(data)];
  const gone = new Set<number>();
  const late: number[] = [];
  const tails = Array.from({ length: 5 }, () => recorder.tail({ after: 0 }));
  const following = tails.map(async (tail, nth) => {
    for await (const { position } of tail) {
      if (gone.has(position)) late.push(position);
      // Each is slower than the one before, and holds what it has read for longer.
      await delay(10 * nth);
    }
  });
  for (let round = 0; round < 4; round += 1) {
    const placed = await recorder.append(entries.map(({ id: _, ...entry }) => entry as EntryInput));
    const { position } = itemAt(placed.entries, 5);
    await other.forget({ entry: position, reason });
    gone.add(position);
  }
  await delay(300);
  for (const tail of tails) await tail.return();
  await Promise.all(following);
  expect(late).toEqual([]);
});
