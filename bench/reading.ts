// What the common reads cost: the end of a session, the newest entries, the list of sessions, a search; against plain
// statements and against a peer that keeps messages.
import { deepStrictEqual, strictEqual } from "node:assert";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EntryInput, openRecorder, type Recorder } from "../src/index.js";
import type { Measured, Ratio, Suite, SuiteOptions } from "./figures.js";
import { median, mediansInTurn } from "./figures.js";
import { type KeptMessage, loadPeer, PeerMessages, RawMessages } from "./message-peers.js";
import { Corpus, idOf } from "./sample-data.js";
import { settled } from "./search.js";

const MESSAGES = 2_000;
const SESSIONS = 25;
/** More would hide how much each read costs before it comes to its rows. */
const LAST = 50;
const LISTED_SESSIONS = 20;
const CALLS_PER_ROUND = 100;
const RAW_MOST = 2.5;
const PEER_MOST = 1;

export const reading: Suite = {
  name: "reading",
  about:
    "reads of 2,000 messages of 1.8 KB in 25 sessions through the library, against prepared statements of SQLite over plain tables and JSON.parse, and against VoltAgent's memory on libSQL; and the search for a word that occurs once, among ever more entries (the many ones of 0.3 KB), against FTS5",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    const peer = await loadPeer();
    const messages = messagesOf(new Corpus());
    const data = join(options.folder, "store");
    const stores: Stores = {
      data,
      // First, so its index rests once the others are filled too.
      recorder: await filledRecorder(data, messages),
      raw: new RawMessages(join(options.folder, "raw.db"), messages),
      peer: await PeerMessages.filled(peer, join(options.folder, "peer.db"), messages),
    };
    try {
      await assertSame(stores, messages);
      return [
        ...(await lastOfSession(stores, options)),
        ...(await newestEntries(stores, options)),
        ...(await sessionList(stores, options)),
        ...(await searching(stores, options)),
      ];
    } finally {
      stores.raw.close();
      await stores.recorder.close();
    }
  },
};

interface Stores {
  readonly data: string;
  readonly recorder: Recorder;
  readonly raw: RawMessages;
  readonly peer: PeerMessages;
}

async function lastOfSession({ recorder, raw, peer }: Stores, { rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const us = await mediansInTurn(
    {
      history: (nth) => recorder.session(sessionOf(nth)).history({ max_messages: LAST }),
      entries: (nth) => recorder.session(sessionOf(nth)).entries({ order: "desc", limit: LAST }),
      raw: (nth) => raw.last(sessionOf(nth), LAST),
      peer: (nth) => peer.last(sessionOf(nth), LAST),
    },
    { rounds, calls: CALLS_PER_ROUND },
  );
  return [
    { name: `history(${LAST})`, value: us.history, unit: "µs" },
    { name: `newest ${LAST} entries of a session`, value: us.entries, unit: "µs" },
    { name: `last ${LAST} messages, raw statements`, value: us.raw, unit: "µs" },
    { name: `last ${LAST} messages, ${peer.name}`, value: us.peer, unit: "µs" },
    ratio(`history(${LAST}) ÷ raw`, [`history(${LAST})`, `last ${LAST} messages, raw statements`], RAW_MOST),
    ratio(`history(${LAST}) ÷ ${peer.name}`, [`history(${LAST})`, `last ${LAST} messages, ${peer.name}`], PEER_MOST),
    ratio(
      `newest ${LAST} entries of a session ÷ raw`,
      [`newest ${LAST} entries of a session`, `last ${LAST} messages, raw statements`],
      RAW_MOST,
    ),
    ratio(
      `newest ${LAST} entries of a session ÷ ${peer.name}`,
      [`newest ${LAST} entries of a session`, `last ${LAST} messages, ${peer.name}`],
      PEER_MOST,
    ),
  ];
}

async function newestEntries({ recorder, raw }: Stores, { rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const us = await mediansInTurn(
    { ours: () => recorder.listEntries({ limit: LAST }), raw: () => raw.newest(LAST) },
    { rounds, calls: CALLS_PER_ROUND },
  );
  return [
    { name: `newest ${LAST} entries`, value: us.ours, unit: "µs" },
    { name: `newest ${LAST} entries, raw statements`, value: us.raw, unit: "µs" },
    ratio(
      `newest ${LAST} entries ÷ raw`,
      [`newest ${LAST} entries`, `newest ${LAST} entries, raw statements`],
      RAW_MOST,
    ),
  ];
}

async function sessionList({ recorder, raw, peer }: Stores, { rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const us = await mediansInTurn(
    {
      ours: () => recorder.listSessions({ limit: LISTED_SESSIONS }),
      raw: () => raw.sessions(LISTED_SESSIONS),
      peer: () => peer.sessions(LISTED_SESSIONS),
    },
    { rounds, calls: CALLS_PER_ROUND },
  );
  return [
    { name: `${LISTED_SESSIONS} sessions`, value: us.ours, unit: "µs" },
    { name: `${LISTED_SESSIONS} sessions, raw statements over kept summaries`, value: us.raw, unit: "µs" },
    { name: `${LISTED_SESSIONS} sessions, ${peer.name}`, value: us.peer, unit: "µs" },
    ratio(
      `${LISTED_SESSIONS} sessions ÷ raw`,
      [`${LISTED_SESSIONS} sessions`, `${LISTED_SESSIONS} sessions, raw statements over kept summaries`],
      RAW_MOST,
    ),
    ratio(
      `${LISTED_SESSIONS} sessions ÷ ${peer.name}`,
      [`${LISTED_SESSIONS} sessions`, `${LISTED_SESSIONS} sessions, ${peer.name}`],
      PEER_MOST,
    ),
  ];
}

function ratio(name: string, of: Ratio["of"], at_most: number): Ratio {
  return { name, of, target: { at_most } };
}

/** Sessions take turns, as they do where several agents work at once; in each, a user and an assistant do. */
function messagesOf(corpus: Corpus): readonly KeptMessage[] {
  return Array.from({ length: MESSAGES }, (_, nth) => ({
    session_id: sessionOf(nth),
    role: Math.floor(nth / SESSIONS) % 2 === 0 ? "user" : "assistant",
    content: corpus.entry(nth).content,
  }));
}

function sessionOf(nth: number): string {
  return `session-${nth % SESSIONS}`;
}

async function filledRecorder(data: string, messages: readonly KeptMessage[]): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  for (let nth = 0; nth < SESSIONS; nth += 1) {
    await recorder.session(sessionOf(nth)).info({ title: `About ${sessionOf(nth)}`, project: "bench" });
  }
  await recorder.append(messages.map((message): EntryInput => ({ kind: "message", project: "bench", ...message })));
  await recorder.count();
  return recorder;
}

/** All of them have to answer with the same before it makes sense to ask how fast. */
async function assertSame({ recorder, raw, peer }: Stores, messages: readonly KeptMessage[]): Promise<void> {
  for (const session_id of [sessionOf(0), sessionOf(SESSIONS - 1)]) {
    const own = messages.filter((message) => message.session_id === session_id);
    const wanted = own.slice(-LAST).map(({ content }) => content);
    const history = await recorder.session(session_id).history({ max_messages: LAST });
    const { entries } = await recorder.session(session_id).entries({ order: "desc", limit: LAST });
    deepStrictEqual(
      history.map(({ content }) => content),
      wanted,
    );
    deepStrictEqual(entries.map((entry) => ("content" in entry ? entry.content : "")).reverse(), wanted);
    deepStrictEqual(
      raw.last(session_id, LAST).map(({ content }) => content),
      wanted,
    );
    const found = await peer.last(session_id, LAST);
    deepStrictEqual(
      found.map(({ parts }) => parts[0]?.text),
      wanted,
    );
  }
  const { entries } = await recorder.listEntries({ limit: LAST });
  const newest = entries.map((entry) => ("content" in entry ? entry.content : ""));
  deepStrictEqual(
    newest,
    raw.newest(LAST).map(({ content }) => content),
  );
  strictEqual((await recorder.listSessions({ limit: LISTED_SESSIONS })).sessions.length, LISTED_SESSIONS);
  strictEqual(raw.sessions(LISTED_SESSIONS).length, LISTED_SESSIONS);
  strictEqual((await peer.sessions(LISTED_SESSIONS)).length, LISTED_SESSIONS);
}

const FEW = 2_000;
const BATCH = 2_000;
/** Makes entries of about 0.3 KB. */
const SMALL_BYTES = 180;
const SEARCHES_PER_ROUND = 20;
const LIMIT = 10;
/** No event says when the last texts are indexed, so this polls. */
const TEXTS_MS = 2_000;

async function searching(
  stores: { readonly data: string; readonly recorder: Recorder; readonly raw: RawMessages },
  { folder, rounds, scale }: SuiteOptions,
): Promise<readonly Measured[]> {
  // A quick look takes far fewer, since filling is what takes long.
  const counts = { many: Math.round(200_000 * scale ** 2), very_many: Math.round(1_000_000 * scale ** 2) };
  const many = await filledWithSmall(join(folder, "many"), counts.many);
  const veryMany = isLeftOut(counts.very_many)
    ? undefined
    : await filledWithSmall(join(folder, "very-many"), counts.very_many);
  await sleep(TEXTS_MS);
  const us = await mediansInTurn(
    {
      few: (nth) => found(stores.recorder, wordAt(nth, FEW)),
      fts: (nth) => stores.raw.search(wordAt(nth, FEW), LIMIT),
      many: (nth) => found(many, wordAt(nth, counts.many)),
      very_many: (nth) => veryMany && found(veryMany, wordAt(nth, counts.very_many)),
    },
    { rounds, calls: SEARCHES_PER_ROUND },
  );
  await many.close();
  await veryMany?.close();
  const opened = await justOpened(stores.data, rounds);
  const [few, most, all] = [FEW, counts.many, counts.very_many].map((count) => count.toLocaleString("en-US"));
  const figures: readonly Measured[] = [
    { name: `search among ${few}`, value: us.few, unit: "µs" },
    { name: `search among ${few}, in a program that has just opened them`, value: opened, unit: "µs" },
    { name: `search among ${few}, FTS5`, value: us.fts, unit: "µs" },
    { name: `search among ${most}`, value: us.many, unit: "µs" },
    { name: `search among ${few} ÷ FTS5`, of: [`search among ${few}`, `search among ${few}, FTS5`] },
    {
      name: `search among ${few} ÷ ${most}`,
      of: [`search among ${few}`, `search among ${most}`],
      target: { at_most: 1 },
    },
  ];
  if (veryMany === undefined) return figures;
  return [
    ...figures,
    { name: `search among ${all}`, value: us.very_many, unit: "µs" },
    {
      name: `search among ${all} ÷ ${most}`,
      of: [`search among ${all}`, `search among ${most}`],
      target: { at_most: 1.5 },
    },
  ];
}

/** A million takes two minutes of processor time, and more than five minutes on a machine that is busy otherwise. */
function isLeftOut(count: number): boolean {
  const max = Number(process.env.HANSARD_BENCH_ENTRIES_MAX || Number.POSITIVE_INFINITY);
  if (count <= max) return false;
  process.stderr.write(
    `  HANSARD_BENCH_ENTRIES_MAX leaves out the store of ${count.toLocaleString("en-US")} entries\n`,
  );
  return true;
}

/** A store of so many small entries, with the texts of nearly all in its index. */
async function filledWithSmall(data: string, count: number): Promise<Recorder> {
  const start = performance.now();
  const recorder = await openRecorder({ data });
  const corpus = new Corpus();
  for (let done = 0; done < count; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, at): EntryInput => {
      const nth = done + at;
      return { kind: "message", session_id: `session-${nth % 1_000}`, ...corpus.entry(nth, SMALL_BYTES) };
    });
    await recorder.append(batch);
  }
  await recorder.count();
  await settled(join(data, "index.db"));
  const seconds = Math.round((performance.now() - start) / 1_000);
  process.stderr.write(`  a store of ${count.toLocaleString("en-US")} entries, made in ${seconds} s\n`);
  return recorder;
}

async function found(recorder: Recorder, word: string): Promise<void> {
  const { results } = await recorder.search(word, { limit: LIMIT });
  strictEqual(results.length, 1, `${word} is in one entry`);
}

/** The first search of programs that begin with one: what an earlier one had in memory is gone. */
async function justOpened(data: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const recorder = await openRecorder({ data });
    // Starts the thread and opens the files, which is no part of a search.
    await recorder.count();
    const start = performance.now();
    await found(recorder, wordAt(round, FEW));
    times.push((performance.now() - start) * 1_000);
    await recorder.close();
  }
  return median(times);
}

/** A word of one of so many entries, old and new ones in turn. */
function wordAt(nth: number, count: number): string {
  return idOf((nth * 7_919 + 13) % count);
}
