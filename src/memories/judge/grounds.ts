// The ground that a proposal is judged by, looked up in the record: the entries it quotes, what their sessions were given,
// and the memories that there are.
import type { Entry } from "../../model/entry.js";
import type { Evidence } from "../../model/memory.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { QuotedEntry, Speaker } from "../read/quoted-entry.js";
import { giftsIn, type SessionGifts } from "../reinforce/session-given.js";
import { saidThrough } from "../text/said-through.js";
import { quotedEntry } from "../text/spoken.js";
import { type GivenText, type Ground, wordsOf } from "./ground.js";
import type { HeardWords } from "./judged.js";

/** Entries that evidence names, by id; what is not there, or says nothing, is left out. */
export type NamedEntries = ReadonlyMap<string, NamedEntry>;

interface NamedEntry {
  readonly entry: Entry;
  readonly quoted: QuotedEntry;
  /** Position of its last words. */
  readonly through: number;
}

export async function namedEntries(
  evidence: readonly Evidence[],
  entries: Pick<EntryReader, "getById">,
): Promise<NamedEntries> {
  const named = new Map<string, NamedEntry>();
  for (const id of new Set(evidence.map(({ entry_id }) => entry_id))) {
    const entry = await entries.getById(id);
    if (entry === undefined || "erased" in entry) continue;
    const quoted = quotedEntry(entry);
    if (quoted !== undefined) named.set(id, { entry, quoted, through: await saidThrough(entry, entries) });
  }
  return named;
}

export async function groundOf(
  named: NamedEntries,
  {
    memories,
    gifts,
    project,
  }: { readonly memories: MemoriesById; readonly gifts: SessionGifts; readonly project: string },
): Promise<Ground> {
  const given: GivenText[] = [];
  for (const { entry, through } of named.values()) {
    const { session_id } = entry;
    // What has no session was given what it says itself.
    const own = session_id === "" ? giftsIn(entry) : await gifts.through(session_id, through);
    for (const gift of own) {
      const { from, text, ids } = gift;
      if (text !== "") given.push({ session_id, from, words: gifts.wordsOf(gift) });
      const contents = ids.flatMap((id) => memories.get(id)?.content ?? []);
      given.push(...contents.map((content) => ({ session_id, from, words: wordsOf(content) })));
    }
  }
  // What quotes nothing belongs where its proposer says.
  const projects = new Set(["", project, ...[...named.values()].map(({ entry }) => entry.project)]);
  const known = [...memories.values()].filter(({ project }) => projects.has(project));
  return { entriesById: new Map([...named].map(([id, { quoted }]) => [id, quoted])), given, memories: known };
}

/** Whose word weighs most, where several say the same in an entry. */
const heaviestFirst: readonly Speaker[] = ["user", "tool", "assistant", "system"];

/** The words of each entry, with who said them, where and when; only of entries that are there. */
export function heardOf(evidence: readonly Evidence[], named: NamedEntries): readonly HeardWords[] {
  return [...named].flatMap(([entry_id, { entry, quoted }]) => {
    const own = evidence.filter((one) => one.entry_id === entry_id);
    const speakers = new Set(
      own.flatMap(({ quote }) => quoted.said.filter(({ text }) => text.includes(quote)).map(({ by }) => by)),
    );
    const said_by = heaviestFirst.find((speaker) => speakers.has(speaker)) ?? "system";
    if (own.length === 0) return [];
    return [{ entry_id, evidence: own, said_by, said_in: entry.session_id, said_at: entry.created_at }];
  });
}
