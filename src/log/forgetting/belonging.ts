// What belongs to an entry and is forgotten with it: responses, feedback, and memories that quote it. Quotes are
// erased, and with them a statement that no person confirmed or that repeats the quote in any of its wordings. What a
// person accepted in other words stays, unsupported.
import { completionClaim, idClaim } from "../../model/claims.js";
import { memoryKinds } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../../model/json.js";
import { normalise } from "../../model/normalise.js";
import { telemetryBelongings } from "../../model/telemetry.js";
import type { EntryLog, StoredBody } from "../port.js";
import type { LogLookups } from "./log-lookups.js";

/** Entries after one position, through another. */
export interface LogRange {
  readonly after: number;
  readonly through: number;
}

const BODIES_AT_ONCE = 200;

/**
 * Claims of entries that repeat this one or a part of it: the response that completes an interaction, a span and what was
 * derived from it. Feedback has no
 * claim and is searched in the log; entries of the same session or project are found by that. A new kind that carries
 * text of other entries must be handled here.
 */
export function belongingClaims(stored: StoredBody): readonly string[] {
  const body = bodyOf(stored);
  if (body === undefined) return [];
  const claims = telemetryBelongings(body, stored.recorded_by).map(idClaim);
  return stored.kind === "interaction" && typeof body.id === "string" ? [completionClaim(body.id), ...claims] : claims;
}

/**
 * Positions of feedback in a range on entries that go, and of feedback on that. An index would be faster, but may lack
 * some. Feedback follows what it names, so one pass in order finds all.
 */
export async function feedbackOn(
  isToGo: (position: number) => boolean,
  { log, calls, range }: { readonly log: EntryLog; readonly calls: LogLookups; readonly range: LogRange },
): Promise<readonly number[]> {
  const positions = await calls.selectFromLog({ filter: { kinds: ["feedback"] }, ...range });
  const found = new Set<number>();
  for (let used = 0; used < positions.length; used += BODIES_AT_ONCE) {
    const stored = await log.getBodies(positions.slice(used, used + BODIES_AT_ONCE));
    const named = stored.flatMap((one) => {
      const id = one === undefined ? undefined : bodyOf(one)?.entry_id;
      return one === undefined || typeof id !== "string" ? [] : [{ position: one.position, id }];
    });
    const places = await log.find(named.map(({ id }) => idClaim(id)));
    for (const [at, { position }] of named.entries()) {
      const place = places[at];
      if (place !== undefined && (isToGo(place) || found.has(place))) found.add(position);
    }
  }
  return [...found];
}

/** A damaged body can be forgotten like any other, but what belonged to it is unknown. */
function bodyOf({ body }: StoredBody): JsonObject | undefined {
  return parseJsonObject(body);
}

/** An entry about a memory, with what forgetting needs. */
interface MemoryEntry {
  readonly position: number;
  readonly kind: string;
  /** Empty if it is about several and records how a turn used them. */
  readonly memory_id: string;
  readonly content: string;
  /** The quoted entry, and the quotes; or the turn that it counts. */
  readonly entry_id: string;
  readonly quotes: readonly string[];
  readonly isCited: boolean;
  /** The memory that replaced it. */
  readonly superseded_by: string;
}

/** Entries that go, which memories may quote. */
interface Going {
  readonly has: (position: number) => boolean;
  /** Responses among them: memories quote them under the interaction's id, which may stay. */
  readonly responses: readonly number[];
}

/**
 * Positions of memory entries that go along. Quotes come after the quoted entry, so they are searched in the range;
 * other entries of those memories may be anywhere.
 */
export async function memoriesOf(
  isToGo: Going,
  { log, calls, range }: { readonly log: EntryLog; readonly calls: LogLookups; readonly range: LogRange },
): Promise<ReadonlyMap<number, string>> {
  const going = new Map<number, string>();
  const touched = new Set<string>();
  const late = await readEntries(log, calls, range);
  const places = await log.find(late.map(({ entry_id }) => idClaim(entry_id)));
  const proposals = await log.find(late.map(({ memory_id }) => idClaim(memory_id)));
  const left = await textsLeft(log, isToGo.responses);
  for (const [at, entry] of late.entries()) {
    const { position, kind, memory_id, entry_id } = entry;
    const place = entry_id === "" ? undefined : places[at];
    const isQuoteGone = place !== undefined && (isToGo.has(place) || !standsIn(left.get(entry_id), entry));
    // A verdict with its own wording may have been given while its memory was being forgotten.
    const proposal = memory_id === "" ? undefined : proposals[at];
    const isMemoryGone = proposal !== undefined && isToGo.has(proposal);
    if (!isToGo.has(position) && !isQuoteGone && !isMemoryGone) continue;
    going.set(position, kind);
    if (memory_id !== "") touched.add(memory_id);
  }
  if (touched.size === 0) return going;
  const all = await readEntries(log, calls, { after: 0, through: range.through });
  const byMemory = new Map<string, MemoryEntry[]>();
  for (const entry of all) {
    const own = byMemory.get(entry.memory_id);
    if (own === undefined) byMemory.set(entry.memory_id, [entry]);
    else own.push(entry);
  }
  const isGoing = ({ position }: MemoryEntry): boolean => going.has(position) || isToGo.has(position);
  const inherited = new Map<string, readonly string[]>();
  const orphans = new Set<string>();
  // A replacing memory is processed after it: sets iterate over items added meanwhile.
  for (const id of touched) {
    const own = byMemory.get(id) ?? [];
    const gone = [...(inherited.get(id) ?? []), ...own.filter(isGoing).flatMap(({ quotes }) => quotes)];
    for (const { superseded_by } of own) {
      if (superseded_by === "" || touched.has(superseded_by)) continue;
      inherited.set(superseded_by, gone);
      // Without its proposal, a memory can no longer be compared with its replacement, which therefore goes too.
      if (!own.some(isProposal)) orphans.add(superseded_by);
      touched.add(superseded_by);
    }
    const kept = own.filter((entry) => !isGoing(entry)).flatMap(({ quotes }) => quotes);
    if (orphans.has(id) || isWholeToGo(own, { gone, kept, isGoing, isHeir: inherited.has(id) })) {
      for (const { position, kind } of own) going.set(position, kind);
    }
  }
  return going;
}

/** Texts of interactions after these responses are gone, by id. */
async function textsLeft(log: EntryLog, responses: readonly number[]): Promise<ReadonlyMap<string, string>> {
  const left = new Map<string, string>();
  for (let used = 0; used < responses.length; used += BODIES_AT_ONCE) {
    const answers = await log.getBodies(responses.slice(used, used + BODIES_AT_ONCE));
    const ids = answers.map((stored) => String(parseJsonObject(stored?.body)?.interaction_id ?? ""));
    const places = await log.find(ids.map(idClaim));
    for (const [at, place] of places.entries()) {
      const [stored] = place === undefined ? [] : await log.getBodies([place]);
      const { prompt = "", response = "", error = "" } = parseJsonObject(stored?.body) ?? {};
      left.set(itemAt(ids, at), [prompt, response, error].map(String).join("\n"));
    }
  }
  return left;
}

/** Whether an entry still contains all quotes; true if none of its text goes. */
function standsIn(text: string | undefined, { quotes }: MemoryEntry): boolean {
  return text === undefined || quotes.every((quote) => text.includes(quote));
}

interface Quotes {
  readonly gone: readonly string[];
  readonly kept: readonly string[];
  readonly isGoing: (entry: MemoryEntry) => boolean;
  /** Whether it replaced a memory that quotes what goes. */
  readonly isHeir: boolean;
}

function isWholeToGo(own: readonly MemoryEntry[], { gone, kept, isGoing, isHeir }: Quotes): boolean {
  const proposed = own.find(isProposal);
  if (proposed === undefined || isGoing(proposed)) return true;
  if (!proposed.isCited && !isHeir) return false;
  const wordings = own.map(({ content }) => content).filter((content) => content !== "");
  const saysWhatGoes = wordings.some(
    (content) => gone.some((quote) => sayTheSame(content, quote)) && !kept.some((quote) => sayTheSame(content, quote)),
  );
  if (saysWhatGoes) return true;
  if (kept.length > 0 || !proposed.isCited) return false;
  return !own.some(({ kind }) => kind === "memory_promoted") || own.some(isSuperseded);
}

function isProposal({ kind }: MemoryEntry): boolean {
  return kind === "memory_proposed";
}

function isSuperseded({ kind }: MemoryEntry): boolean {
  return kind === "memory_superseded";
}

/** Whether one contains the other, ignoring punctuation and case. */
function sayTheSame(content: string, quote: string): boolean {
  const [one, other] = [content, quote].map((text) =>
    normalise(text)
      .replaceAll(/[\p{P}\p{S}\s]+/gu, " ")
      .trim(),
  );
  if (one === undefined || other === undefined || one === "" || other === "") return true;
  return one.includes(other) || other.includes(one);
}

async function readEntries(log: EntryLog, calls: LogLookups, range: LogRange): Promise<readonly MemoryEntry[]> {
  const positions = await calls.selectFromLog({ filter: { kinds: memoryKinds }, ...range });
  const entries: MemoryEntry[] = [];
  for (let used = 0; used < positions.length; used += BODIES_AT_ONCE) {
    for (const stored of await log.getBodies(positions.slice(used, used + BODIES_AT_ONCE))) {
      const body = parseJsonObject(stored?.body);
      if (stored !== undefined && body !== undefined) entries.push(toMemoryEntry(stored, body));
    }
  }
  return entries;
}

function toMemoryEntry(
  { position, kind }: { readonly position: number; readonly kind: string },
  { id, memory_id = "", content = "", evidence, cites = "", turn_id = "", superseded_by = "" }: JsonObject,
): MemoryEntry {
  const quoted = Array.isArray(evidence) ? evidence.filter(isJsonObject) : [];
  return {
    position,
    kind,
    memory_id: String(kind === "memory_proposed" ? id : memory_id),
    content: String(content),
    entry_id: String(quoted[0]?.entry_id ?? turn_id),
    quotes: quoted.map(({ quote }) => String(quote)),
    isCited: cites !== "",
    superseded_by: String(superseded_by),
  };
}
