// What becomes of memories when the words that they rest on are forgotten: the quotes go, and with them a statement that
// nobody vouched for, or that says the very words. What a person accepted in other words stays, unsupported.
import { idClaim } from "../model/claims.js";
import { memoryKinds } from "../model/entry.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import type { EntryLog } from "../ports/entry-log.js";
import type { Asking } from "../read/questions.js";
import type { Stretch } from "./belonging.js";

/** An entry about a memory, as far as forgetting looks at it. */
interface MemoryEntry {
  readonly position: number;
  readonly kind: string;
  /** Empty where it is about several, and says how a turn used them. */
  readonly memory_id: string;
  readonly content: string;
  /** The entry whose words it holds, and these; or the turn that it counts. */
  readonly entry_id: string;
  readonly quotes: readonly string[];
  readonly isCited: boolean;
}

const BODIES_AT_ONCE = 200;

/**
 * Positions of what goes of memories with entries that go. Words of an entry come after it, so that those that name one are
 * looked for in the stretch; what else there is of their memories lies anywhere.
 */
export async function memoriesOf(
  isToGo: (position: number) => boolean,
  { log, reading, stretch }: { readonly log: EntryLog; readonly reading: Asking; readonly stretch: Stretch },
): Promise<ReadonlyMap<number, string>> {
  const going = new Map<number, string>();
  const touched = new Set<string>();
  const late = await readEntries(log, reading, stretch);
  const places = await log.find(late.map(({ entry_id }) => idClaim(entry_id)));
  for (const [at, { position, kind, memory_id, entry_id }] of late.entries()) {
    const place = entry_id === "" ? undefined : places[at];
    if (!isToGo(position) && (place === undefined || !isToGo(place))) continue;
    going.set(position, kind);
    if (memory_id !== "") touched.add(memory_id);
  }
  if (touched.size === 0) return going;
  const all = await readEntries(log, reading, { after: 0, through: stretch.through });
  for (const id of touched) {
    const own = all.filter(({ memory_id }) => memory_id === id);
    const isGoing = ({ position }: MemoryEntry): boolean => going.has(position) || isToGo(position);
    if (isWholeToGo(own, isGoing)) for (const { position, kind } of own) going.set(position, kind);
  }
  return going;
}

function isWholeToGo(own: readonly MemoryEntry[], isGoing: (entry: MemoryEntry) => boolean): boolean {
  const proposed = own.find(({ kind }) => kind === "memory_proposed");
  if (proposed === undefined || isGoing(proposed)) return true;
  const left = own.filter((entry) => entry.quotes.length > 0 && !isGoing(entry));
  if (left.length > 0 || !proposed.isCited) return false;
  const isActive = own.some(({ kind }) => kind === "memory_promoted") && !own.some(isSuperseded);
  const { content } = own.findLast((entry) => entry.content !== "") ?? proposed;
  return !isActive || own.some(({ quotes }) => quotes.some((quote) => sayTheSame(content, quote)));
}

function isSuperseded({ kind }: MemoryEntry): boolean {
  return kind === "memory_superseded";
}

/** Whether one of them stands in the other, punctuation and case aside. */
function sayTheSame(content: string, quote: string): boolean {
  const [one, other] = [content, quote].map((text) =>
    normalise(text)
      .replaceAll(/[\p{P}\p{S}\s]+/gu, " ")
      .trim(),
  );
  if (one === undefined || other === undefined || one === "" || other === "") return true;
  return one.includes(other) || other.includes(one);
}

async function readEntries(log: EntryLog, reading: Asking, stretch: Stretch): Promise<readonly MemoryEntry[]> {
  const positions = await reading.ask("selectFromLog", { filter: { kinds: memoryKinds }, ...stretch });
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
  { id, memory_id = "", content = "", evidence, cites = "", turn_id = "" }: JsonObject,
): MemoryEntry {
  const quoted = Array.isArray(evidence) ? evidence.filter(isJsonObject) : [];
  return {
    ...{ position, kind, memory_id: String(kind === "memory_proposed" ? id : memory_id), content: String(content) },
    entry_id: String(quoted[0]?.entry_id ?? turn_id),
    quotes: quoted.map(({ quote }) => String(quote)),
    isCited: cites !== "",
  };
}
