// Who answers: this thread where somebody asks alone for little, another one otherwise; and nobody else has to wait.
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/engines/stores.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { noMask } from "../../src/model/mask.js";
import { AtOnce } from "../../src/reading/at-once.js";
import { LocalReading } from "../../src/reading/local.js";
import { NearFirst } from "../../src/reading/near-first.js";
import type { AnswerTo, Asked, Question, Reading } from "../../src/reading/questions.js";
import { parseTimelineQuery, type TimelineQuery } from "../../src/sessions/session-query.js";
import { folderOfTest } from "../support/temporary-folder.js";

let data: string;
let recorder: Recorder;

beforeEach(async () => {
  data = folderOfTest();
  recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  for (let nth = 0; nth < 5; nth += 1) await recorder.session("s").message({ role: "user", content: `m ${nth}` });
});

test("the first question is answered elsewhere, a later one here, and several at once elsewhere", async () => {
  const { near, asked } = await opened();
  await near.ask("timeline", timeline());
  expect(asked()).toBe(1);
  await near.ask("timeline", timeline());
  expect(asked()).toBe(1);
  await Promise.all([1, 2, 3, 4].map(() => near.ask("timeline", timeline())));
  expect(asked()).toBe(4);
});

test("files are opened here by the second question, and once, however many asked at first", async () => {
  const { near, opens } = await opened();
  await Promise.all([1, 2, 3, 4].map(() => near.ask("timeline", timeline())));
  expect(opens()).toBe(0);
  for (let nth = 0; nth < 3; nth += 1) await near.ask("timeline", timeline());
  expect(opens()).toBe(1);
});

test("what was recorded a moment ago is in the answer, whoever gives it", async () => {
  const { near } = await opened();
  for (let nth = 6; nth < 40; nth += 1) {
    await recorder.session("s").message({ role: "user", content: `m ${nth}` });
    expect((await near.ask("timeline", timeline())).entries).toHaveLength(nth);
    expect((await near.ask("timeline", timeline())).entries).toHaveLength(nth);
  }
});

test("asking again and again leaves everything else its turn", async () => {
  const { near, asked } = await opened();
  await near.ask("timeline", timeline());
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  for (let nth = 0; nth < 50; nth += 1) await near.ask("timeline", timeline());
  isOver = true;
  await others;
  expect(asked()).toBe(1);
  expect(turns).toBeGreaterThanOrEqual(49);
});

test("after closing nothing is answered here", async () => {
  const { near } = await opened();
  await near.ask("timeline", timeline());
  await near.close();
  await expect(near.ask("timeline", timeline())).rejects.toThrow();
});

async function opened(): Promise<{
  readonly near: NearFirst;
  readonly asked: () => number;
  readonly opens: () => number;
}> {
  const elsewhere = new Counting(new LocalReading({ ...(await parts()), mask: noMask }));
  let opens = 0;
  const openHere = async (): Promise<AtOnce> => {
    opens += 1;
    return new AtOnce({ ...(await parts()), mask: noMask });
  };
  const near = new NearFirst({ openHere, elsewhere });
  onTestFinished(() => near.close());
  return { near, asked: () => elsewhere.asked, opens: () => opens };
}

class Counting implements Reading {
  asked = 0;
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  ask<Q extends Question>(question: Q, ...query: Asked<Q>): Promise<AnswerTo<Q>> {
    this.asked += 1;
    return this.#reading.ask(question, ...query);
  }

  grown(): void {}

  close(): Promise<void> {
    return this.#reading.close();
  }
}

async function parts() {
  const store = await openStore({ address: data, mode: "read" });
  return { log: await store.log("read"), index: await store.index() };
}

function timeline(): TimelineQuery {
  return parseTimelineQuery("s", { limit: 50 }) as TimelineQuery;
}
