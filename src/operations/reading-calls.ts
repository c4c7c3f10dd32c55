// What can be asked of the record: each question with how it is answered.
import { verify } from "../log/verify.js";
import type { ReflectionReport } from "../model/report.js";
import type { Answering } from "../reading/answering.js";
import type { CallsOf } from "../reading/calls.js";
import type { ReflectionQuery } from "../reflect/read/reflection-query.js";
import type { EntryWish } from "../search/lists/entry-reader.js";
import type { InteractionQuery, ListQuery } from "../search/lists/list-query.js";
import type { SearchQuery } from "../search/search-query.js";
import type { Readers } from "./readers.js";

type Parts = Answering<Readers>;

/** What an answer in words says where others say `partial`. */
const PARTIAL_NOTE = "The index is being rebuilt; older entries may be missing.";

export const readingCalls = {
  getById: ({ entries }: Parts, id: string) => entries.getById(id),
  getByPosition: ({ entries }: Parts, position: number) => entries.getByPosition(position),
  /** An entry as JSON, large parts as they were recorded; for whoever sends it on. */
  getJson: ({ entries }: Parts, wish: EntryWish) => entries.getJson(wish),
  /** One entry with its secrets masked; masking much text takes long. */
  async shownEntry({ entries, mask }: Parts, wish: EntryWish) {
    const entry = await ("id" in wish ? entries.getById(wish.id) : entries.getByPosition(wish.position));
    return entry === undefined ? undefined : mask.entry(entry);
  },
  verify: ({ log }: Parts) => verify(log),

  listInteractions: ({ index }: Parts, query: InteractionQuery) =>
    index.read(({ entries }) => entries.listInteractions(query)),
  listEntries: ({ index }: Parts, query: ListQuery) => index.read(({ entries }) => entries.listEntries(query)),
  count: ({ index }: Parts) => index.read(({ entries }) => entries.count()),
  search: ({ index }: Parts, query: SearchQuery) =>
    index.read(({ searches }) => searches.search(query), { texts: true }),
  async sessionHistory({ index }: Parts, wish: { readonly query: SearchQuery; readonly phrase: string }) {
    const read = index.read(async ({ searches }) => ({ text: await searches.sessionHistory(wish) }), { texts: true });
    const found = await read;
    return found.partial ? `${found.text}\n(${PARTIAL_NOTE})` : found.text;
  },
  async reflect({ index, mask }: Parts, query: ReflectionQuery): Promise<ReflectionReport> {
    const report = await index.read(async ({ reflections }) => {
      // Loaded when it is first needed: with its lists of words it takes longer than a command may take to start.
      const { Reflection } = await import("../reflect/reflection.js");
      const reflection = new Reflection({ mask: (text) => mask.text(text) });
      await reflections.read(query, reflection);
      return reflection.finish();
    });
    return report.partial ? { ...report, markdown: `${report.markdown}\n\n${PARTIAL_NOTE}` } : report;
  },

  /** The summary with nothing masked, for exports that hand the record itself on. */
  recordedSummary: ({ index }: Parts, session_id: string) =>
    index.whole(({ sessions }) => sessions.recordedSummary(session_id)),
  planConsolidation: ({ index }: Parts, wish: { readonly session_id: string; readonly through: number }) =>
    index.whole(({ histories }) => histories.planConsolidation(wish.session_id, wish.through)),
};

export type ReadingCalls = CallsOf<typeof readingCalls>;
