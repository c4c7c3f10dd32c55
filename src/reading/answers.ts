// How each question is answered: from the log alone, from as much of an index as there is, or from a whole one.

import { compareRows } from "../index/rows-of-bodies.js";
import { contradictionOf } from "../log/evidence.js";
import { selectFromLog } from "../log/log-selection.js";
import type { EntryLog, StoredBody } from "../log/port.js";
import { verify } from "../log/verify.js";
import type { Mask } from "../model/mask.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import type { AnswerTo, QueryOf, Question } from "./questions.js";
import { nextTurn } from "./rebuild.js";
import type { Rebuilding } from "./rebuilding.js";
import type { SteadyIndex } from "./steady.js";
import type { Readers } from "./view.js";

/** What whoever answers has before them. */
export interface Desk {
  readonly log: EntryLog;
  readonly mask: Mask;
  readonly entries: EntryReader;
  readonly index: SteadyIndex;
  readonly rebuilding: Rebuilding;
  /** Removes from the index's files what rows that went have left there. */
  readonly purge: () => Promise<string | undefined>;
}

type Answers = { readonly [Q in Question]: (desk: Desk, query: QueryOf<Q>) => Promise<AnswerTo<Q>> };

/** What an answer in words says where others say `partial`. */
const PARTIAL_NOTE = "The index is being rebuilt; older entries may be missing.";

/** So many are indexed while somebody looks in. */
const FEW_ENTRIES = 1_000;

type PageQuestion = "listEntries" | "listSessions" | "timeline" | "history";

/** Pages of what was recorded, from readers of an index that has come as far as it has to. */
export const pageAnswers: {
  readonly [Q in PageQuestion]: (readers: Readers, query: QueryOf<Q>) => Promise<AnswerTo<Q>>;
} = {
  listEntries: ({ entries }, query) => entries.listEntries(query),
  listSessions: ({ sessions }, query) => sessions.list(query),
  timeline: ({ sessions }, query) => sessions.timeline(query),
  history: ({ histories }, query) => histories.history(query),
};

export const answers: Answers = {
  getById: ({ entries }, id) => entries.getById(id),
  getByPosition: ({ entries }, position) => entries.getByPosition(position),
  getJson: ({ entries }, wish) => entries.getJson(wish),
  async shownEntry({ entries, mask }, wish) {
    const entry = await ("id" in wish ? entries.getById(wish.id) : entries.getByPosition(wish.position));
    return entry === undefined ? undefined : mask.entry(entry);
  },
  verify: ({ log }) => verify(log),
  selectFromLog: ({ log }, selection) => selectFromLog(log, selection),
  contradiction: async ({ log, index }) => contradictionOf(log, await index.knownHeads()),
  async acceptLog({ index }) {
    await index.whole(async () => undefined);
    const inUse = await index.index();
    await inUse.settle(await inUse.remembered());
  },

  listInteractions: ({ index }, query) => index.read(({ entries }) => entries.listInteractions(query)),
  listEntries: ({ index }, query) => index.read((readers) => pageAnswers.listEntries(readers, query)),
  count: ({ index }) => index.read(({ entries }) => entries.count()),
  listSessions: ({ index }, query) => index.read((readers) => pageAnswers.listSessions(readers, query)),
  timeline: ({ index }, query) => index.read((readers) => pageAnswers.timeline(readers, query)),
  search: ({ index }, query) => index.read(({ searches }) => searches.search(query), { texts: true }),
  async sessionHistory({ index }, wish) {
    const read = index.read(async ({ searches }) => ({ text: await searches.sessionHistory(wish) }), { texts: true });
    const found = await read;
    return found.partial ? `${found.text}\n(${PARTIAL_NOTE})` : found.text;
  },
  async reflect({ index, mask }, query) {
    const report = await index.read(async ({ reflections }) => {
      // Loaded when it is first needed: with its lists of words it takes longer than a command may take to start.
      const { Reflection } = await import("../reflect/reflection.js");
      const reflection = new Reflection({ mask: (text) => mask.text(text) });
      await reflections.read(query, reflection);
      return reflection.finish();
    });
    return report.partial ? { ...report, markdown: `${report.markdown}\n\n${PARTIAL_NOTE}` } : report;
  },

  sessionSummary: ({ index }, session_id) => index.whole(({ sessions }) => sessions.summary(session_id)),
  recordedSummary: ({ index }, session_id) => index.whole(({ sessions }) => sessions.recordedSummary(session_id)),
  sessionPositions: ({ index }, range) => index.whole(({ sessions }) => sessions.positions(range)),
  history: ({ index }, query) => index.whole((readers) => pageAnswers.history(readers, query)),
  shownHistory: ({ index, mask }, query) =>
    index.whole(async ({ histories }) => mask.value(await histories.history(query))),
  context: ({ index }, wish) => index.whole(({ contexts }) => contexts.context(wish)),
  told: ({ index }, wish) => index.whole(({ contexts }) => contexts.told(wish)),
  // Sums without the older calls would be wrong, and nobody checks what something cost.
  usage: ({ index }, query) => index.whole(({ usage }) => usage.read(query)),
  planConsolidation: ({ index }, { session_id, through }) =>
    index.whole(({ histories }) => histories.planConsolidation(session_id, through)),
  positions: ({ index }, query) => index.whole(({ entries }) => entries.positions(query)),
  strangeRows: ({ log, index }, positions) =>
    index.whole(async (readers) => {
      const stored = (await log.getBodies(positions)).filter((one) => one?.body !== undefined) as readonly StoredBody[];
      return (await compareRows({ log, index: readers.index }, stored)).strange;
    }),

  listMemories: ({ index }, query) => index.whole(({ memories }) => memories.list(query)),
  getMemory: ({ index }, id) => index.whole(({ memories }) => memories.get(id)),
  memoriesById: ({ index }, ids) => index.whole(({ memories }) => memories.byId(ids)),
  judge: ({ index }, proposal) => index.whole(async ({ review }) => (await review()).judge(proposal)),
  twins: ({ index }, wish) => index.whole(async ({ review }) => (await review()).twins(wish)),
  hear: ({ index }, evidence) => index.whole(async ({ review }) => (await review()).hear(evidence)),
  proposalsIn: ({ log, index }, range) => index.whole(async ({ review }) => (await review()).proposalsIn(log, range)),
  proposalsOfInteraction: ({ log, index }, id) =>
    index.whole(async ({ review }) => (await review()).proposalsOfInteraction(log, id)),
  usesIn: ({ log, index }, range) => index.whole(async ({ review }) => (await review()).usesIn(log, range)),
  usesOfTurn: ({ index }, wish) => index.whole(async ({ review }) => (await review()).usesOfTurn(wish)),
  auditFile: ({ index }, file) => index.whole(async ({ review }) => (await review()).audit(file)),
  statementsOf: ({ index }, file) => index.whole(async ({ review }) => (await review()).statements(file)),
  quotableOf: ({ index }, session_id) => index.whole(async ({ review }) => (await review()).quotableOf(session_id)),
  tokensSentSince: ({ index }, since_ms) =>
    index.whole(async ({ review }) => (await review()).tokensSentSince(since_ms)),
  recall: ({ index }, query) => index.whole(async ({ review }) => (await review()).recall(query)),
  async pendingMemories({ log, index }) {
    // Whoever only looks in must wait neither for an index that is being built nor for one that follows a load.
    const { is_whole, indexed_through } = await index.state();
    if (!is_whole) return undefined;
    const isFar = (await log.head()).position - indexed_through > FEW_ENTRIES;
    const count = ({ memories }: Readers): Promise<number> => memories.pending();
    return isFar ? index.asItStands(count) : index.whole(count);
  },

  indexState: ({ index }) => index.state(),
  async keepUp({ log, index }, { rows_waiting_max, texts_waiting_max, within_ms }) {
    const untilMs = performance.now() + within_ms;
    while (performance.now() < untilMs) {
      const { position } = await log.head();
      const { is_whole, indexed_through, texts_through } = await index.state();
      // An index that is being built from nothing takes longer than anybody can be kept waiting for.
      if (!is_whole) return;
      if (position - indexed_through <= rows_waiting_max && position - texts_through <= texts_waiting_max) return;
      if (!(await index.step())) return;
      // Reads come through in between.
      await nextTurn();
    }
  },
  rebuildIndex: ({ rebuilding }) => rebuilding.run(),
  rebuiltThrough: async ({ rebuilding }) => rebuilding.through,
  async purgeIndex({ index, purge }) {
    // Only once it has come to the redactions.
    await index.whole(async () => undefined);
    return purge();
  },
};
