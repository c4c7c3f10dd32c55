// Answers in the thread that asks: the same as from anywhere else, from an index that is whole, and otherwise none.
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/engines/stores.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { noMask } from "../../src/model/mask.js";
import { AtOnce } from "../../src/reading/at-once.js";
import { LocalReading } from "../../src/reading/local.js";
import type { AnswerTo, QueryOf, Question } from "../../src/reading/questions.js";
import { type EntryListOptions, type ListQuery, parseEntryQuery } from "../../src/search/lists/list-query.js";
import {
  type HistoryQuery,
  parseHistoryQuery,
  parseSessionListQuery,
  parseTimelineQuery,
  type SessionListQuery,
  type TimelineQuery,
} from "../../src/sessions/session-query.js";
import { folderOfTest } from "../support/temporary-folder.js";

let data: string;
let recorder: Recorder;

beforeEach(async () => {
  data = folderOfTest();
  recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  for (let nth = 0; nth < 30; nth += 1) {
    const role = nth % 2 === 0 ? "user" : "assistant";
    await recorder.session(`s-${nth % 3}`).message({ role, content: `message ${nth}` });
  }
  await recorder.count();
});

test("pages are those that everybody else gives", async () => {
  const [here, elsewhere] = [await atOnce(), await local()];
  const same = async <Q extends Question>(question: Q, query: QueryOf<Q>): Promise<AnswerTo<Q>> => {
    const answer = await here.ask(question, query);
    expect(answer).toBeDefined();
    expect(answer).toEqual(await elsewhere.ask(question, ...([query] as never)));
    return answer as AnswerTo<Q>;
  };
  expect((await same("listEntries", entries({ limit: 7 }))).entries).toHaveLength(7);
  expect((await same("listSessions", sessions({ limit: 2 }))).next_cursor).not.toBeNull();
  expect((await same("timeline", timeline("s-1"))).entries).toHaveLength(10);
  expect(await same("history", history("s-1", { max_messages: 3 }))).toMatchObject({ messages: { length: 3 } });
  expect(await same("history", history("nowhere", {}, 100))).toEqual({ messages: [] });
});

test("what may take long gets no answer: filters, long pages, later pages of sessions, tokens, other questions", async () => {
  const here = await atOnce();
  const { next_cursor: cursor } = await recorder.listSessions({ limit: 1 });
  expect(await here.ask("listEntries", entries({ project: "p" }))).toBeUndefined();
  expect(await here.ask("listEntries", entries({ limit: 101 }))).toBeUndefined();
  expect(await here.ask("listSessions", sessions({ cursor }))).toBeUndefined();
  expect(await here.ask("history", history("s-1", { max_messages: 10, max_tokens: 10 }))).toBeUndefined();
  expect(await here.ask("history", history("s-1", {}))).toBeUndefined();
  expect(await here.ask("count", undefined as never)).toBeUndefined();
});

test("an index that lacks the newest entry gives none, and does again once it has it", async () => {
  const here = await atOnce();
  await recorder.session("s-1").message({ role: "user", content: "news" });
  const answer = await here.ask("timeline", timeline("s-1"));
  if (answer !== undefined) expect(answer.entries).toHaveLength(11);
  await recorder.count();
  expect((await here.ask("timeline", timeline("s-1")))?.entries).toHaveLength(11);
});

test("an index that was made from another log gives none", async () => {
  const other = folderOfTest();
  const another = await openRecorder({ data: other });
  onTestFinished(() => another.close());
  for (let nth = 0; nth < 30; nth += 1) await another.session("s-1").message({ role: "user", content: "other" });
  await another.count();
  const here = await atOnce({ index: other });
  expect(await here.ask("timeline", timeline("s-1"))).toBeUndefined();
});

test("a page that holds one large entry alone is left to others", async () => {
  await recorder.session("alone").message({ role: "user", content: "x".repeat(300_000) });
  await recorder.count();
  expect(await (await atOnce()).ask("timeline", timeline("alone"))).toBeUndefined();
});

test("large entries are left to others, and so are the next questions for a while", async () => {
  await recorder.session("large").message({ role: "user", content: "x".repeat(300_000) });
  await recorder.session("large").message({ role: "assistant", content: "short" });
  await recorder.count();
  const here = await atOnce();
  expect(await here.ask("timeline", timeline("large"))).toBeUndefined();
  expect(await here.ask("timeline", timeline("s-1"))).toBeUndefined();
});

test("trouble with the index's file is nobody's trouble here", async () => {
  const here = await atOnce();
  await here.close();
  expect(await here.ask("timeline", timeline("s-1"))).toBeUndefined();
});

async function atOnce(options: { readonly index?: string } = {}): Promise<AtOnce> {
  const here = new AtOnce({ ...(await parts(options.index)), mask: noMask });
  onTestFinished(() => here.close());
  return here;
}

async function local(): Promise<LocalReading> {
  const reading = new LocalReading({ ...(await parts()), mask: noMask });
  onTestFinished(() => reading.close());
  return reading;
}

async function parts(index = data) {
  const store = await openStore({ address: data, mode: "read" });
  return { log: await store.log("read"), index: await (await openStore({ address: index, mode: "read" })).index() };
}

function entries(options: EntryListOptions): ListQuery {
  return parseEntryQuery(options, 0) as ListQuery;
}

function sessions(options: Parameters<typeof parseSessionListQuery>[0]): SessionListQuery {
  return parseSessionListQuery(options) as SessionListQuery;
}

function timeline(id: string): TimelineQuery {
  return parseTimelineQuery(id, { limit: 50 }) as TimelineQuery;
}

function history(
  id: string,
  options: Parameters<typeof parseHistoryQuery>[1],
  max = options.max_messages,
): HistoryQuery {
  return parseHistoryQuery(id, { ...options, max_messages: max }) as HistoryQuery;
}
