// Entries by position, as views show them: whole, with the response that completed an interaction.
//
// Secrets are masked here, in everything that is shown with other entries; the record itself is not masked.

import type { EntrySource, StoredBody } from "../../log/port.js";
import { bodyToEntry, parseBodyText, toAltered, toEntry } from "../../model/body.js";
import { asRecorded } from "../../model/chain.js";
import { completionClaim, idClaim } from "../../model/claims.js";
import type {
  AlteredEntry,
  Entry,
  EntryOf,
  EntrySummary,
  ErasedEntry,
  Interaction,
  ListedEntry,
} from "../../model/entry.js";
import { corruptEntry } from "../../model/fault.js";
import { limits } from "../../model/limits.js";
import type { Mask } from "../../model/mask.js";
import { codePoints, firstCodePoints } from "../../model/normalise.js";

/** A page ends early once it holds this much; the cursor leads on. Of responses that came later it may hold as much again. */
const PAGE_BYTES_MAX = limits.page_bytes / 2;
/** Bodies that are read at a time where the number of entries does not bound them. */
const READ_BYTES = 16 * 1024 * 1024;
const COMPLETED_AT_ONCE = 16;

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** How many of the positions were used; fewer than given where the page was full. */
  readonly used: number;
}

/** Names one entry. */
export type EntryRef = { readonly id: string } | { readonly position: number };

export class EntryReader {
  readonly #log: EntrySource;
  readonly #mask: Mask;

  constructor(parts: { readonly log: EntrySource; readonly mask: Mask }) {
    this.#log = parts.log;
    this.#mask = parts.mask;
  }

  get(ref: EntryRef): Promise<Entry | ErasedEntry | undefined> {
    return "id" in ref ? this.getById(ref.id) : this.getByPosition(ref.position);
  }

  async getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    const [position] = await this.#log.find([idClaim(id)]);
    if (position === undefined) return undefined;
    const entry = await this.getByPosition(position);
    if (entry === undefined || "erased" in entry) return entry === undefined ? undefined : { ...entry, id };
    if (entry.id !== id) throw misplaced(position, id);
    return entry;
  }

  async getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    const [stored] = await this.#log.get([position]);
    if (stored === undefined) return undefined;
    const entry = toEntry(asRecorded(stored));
    if ("erased" in entry) return entry;
    const [completed] = await this.#withResponses([entry]);
    return recordedEntry(completed as Entry | AlteredBody);
  }

  /**
   * The entries at these positions, for callers that pass on the record itself: an altered one is a fault. With `before`, without
   * the responses that came at that position or later.
   */
  async readWhole(positions: readonly number[], before?: number): Promise<readonly Entry[]> {
    return (await this.#withResponses(await this.#read(positions), before)).map(recordedEntry);
  }

  /**
   * The same until `bytes_max` of bodies are reached, and of responses as much; `used` is how many of the positions that took,
   * at least one, and `chars` how much text was read.
   */
  async readSome(
    positions: readonly number[],
    { before, bytes_max }: { readonly before?: number | undefined; readonly bytes_max: number },
  ): Promise<{ readonly entries: readonly Entry[]; readonly used: number; readonly chars: number }> {
    const stored = await this.#log.getBodies(positions, bytes_max);
    const readable = toReadable(stored);
    const entries = (await this.#withResponses(readable, before, bytes_max)).map(recordedEntry);
    const next = readable[entries.length];
    const used = next === undefined ? stored.length : stored.findIndex((one) => one?.position === next.position);
    let chars = 0;
    for (const one of stored.slice(0, used)) chars += one?.body?.length ?? 0;
    for (const entry of entries) if ("response_id" in entry) chars += (entry as Interaction).response.length;
    return { entries, used, chars };
  }

  /** The entries at these positions, masked, for callers that show parts of them; erased and altered ones are left out. */
  async show(positions: readonly number[]): Promise<readonly Entry[]> {
    return (await this.read(positions)).map((entry) => this.#mask.entry(entry));
  }

  /** As `show`, with altered ones as lists show them. */
  async showListed(positions: readonly number[]): Promise<readonly (Entry | AlteredEntry)[]> {
    const found = await this.#withResponses(await this.#read(positions));
    return found.map((entry) => (entry instanceof AlteredBody ? entry.shown : this.#mask.entry(entry)));
  }

  /**
   * The same as `read`, in parts of at most `READ_BYTES`, each with at least one entry that is there. It counts down how much text
   * may be read, and ends where nothing of that is left.
   */
  async *readInParts(
    positions: readonly number[],
    room: { chars: number } = { chars: Number.POSITIVE_INFINITY },
  ): AsyncGenerator<readonly Entry[]> {
    for (let at = 0; at < positions.length && room.chars > 0; ) {
      const stored = await this.#log.getBodies(positions.slice(at), READ_BYTES);
      for (const one of stored) room.chars -= one?.body?.length ?? 0;
      const found = await this.#withResponses(toReadable(stored));
      const entries = found.filter((entry): entry is Entry => !(entry instanceof AlteredBody));
      if (entries.length > 0) yield entries;
      at += stored.length;
    }
  }

  /** The entries at these positions as they were recorded; erased and altered ones are left out. */
  async read(positions: readonly number[]): Promise<readonly Entry[]> {
    const found = await this.#withResponses(await this.#read(positions));
    return found.filter((entry): entry is Entry => !(entry instanceof AlteredBody));
  }

  /**
   * The entries at these positions in their short form, masked, as many as fit on a page, the first in any case. Altered ones
   * are shown as altered.
   */
  async page(positions: readonly number[], options: { readonly excerpts?: boolean } = {}): Promise<Page<ListedEntry>> {
    const toRow = (entry: Entry | AlteredBody): ListedEntry => {
      if (entry instanceof AlteredBody) return entry.shown;
      const row = this.#mask.entry(summarise(entry));
      // Masked before it is cut, so no secret is cut in two and shown.
      return options.excerpts === true ? { ...row, ...excerptOf(this.#mask.entry(entry)) } : row;
    };
    const stored = await this.#log.getBodies(positions, PAGE_BYTES_MAX);
    const entries = toReadable(stored);
    const rows: ListedEntry[] = [];
    // A few at a time: a response may be as large as an entry can be, and the short form leaves it out.
    for (let at = 0; at < entries.length; at += COMPLETED_AT_ONCE) {
      const completed = await this.#withResponses(entries.slice(at, at + COMPLETED_AT_ONCE));
      rows.push(...completed.map(toRow));
    }
    return { rows, used: stored.length };
  }

  /** The same whole. What responses bring that came later counts, too. */
  async wholePage(positions: readonly number[]): Promise<Page<Entry | AlteredEntry>> {
    const stored = await this.#log.getBodies(positions, PAGE_BYTES_MAX);
    const entries = toReadable(stored);
    const rows: (Entry | AlteredEntry)[] = [];
    let chars = 0;
    for (let at = 0; at < entries.length; at += COMPLETED_AT_ONCE) {
      for (const entry of await this.#withResponses(entries.slice(at, at + COMPLETED_AT_ONCE))) {
        if (entry instanceof AlteredBody) {
          rows.push(entry.shown);
          continue;
        }
        chars += entry.kind === "interaction" && "response_id" in entry ? entry.response.length : 0;
        if (chars > PAGE_BYTES_MAX && rows.length > 0) {
          return { rows, used: stored.findIndex((one) => one?.position === entry.position) };
        }
        rows.push(this.#mask.entry(entry));
      }
    }
    return { rows, used: stored.length };
  }

  async #read(positions: readonly number[]): Promise<readonly (Entry | AlteredBody)[]> {
    return toReadable(await this.#log.getBodies(positions));
  }

  /**
   * Interactions that were completed later carry what their response brought. If that was altered, it is unknown what the
   * answer was, and the whole counts as altered; so it is where the log's claims lead to something else. With `bytes_max`,
   * only the first of the entries, as far as that is enough for their responses.
   */
  async #withResponses(
    entries: readonly (Entry | AlteredBody)[],
    before = Number.POSITIVE_INFINITY,
    bytes_max?: number,
  ): Promise<readonly (Entry | AlteredBody)[]> {
    const waiting = entries.filter(isWaiting);
    if (waiting.length === 0) return entries;
    const found = await this.#log.find(waiting.map((entry) => completionClaim(entry.id)));
    const positionById = new Map<string, number>();
    for (const [at, { id }] of waiting.entries()) {
      const position = found[at];
      if (position !== undefined && position < before) positionById.set(id, position);
    }
    if (positionById.size === 0) return entries;
    const wanted = [...positionById.values()];
    const stored = await this.#log.getBodies(wanted, bytes_max);
    const responseByPosition = new Map(toReadable(stored).map((response) => [response.position, response]));
    const left = new Set(wanted.slice(stored.length));
    const end = entries.findIndex((entry) => isWaiting(entry) && left.has(positionById.get(entry.id) ?? 0));
    return entries.slice(0, end === -1 ? entries.length : end).map((entry) => {
      const position = isWaiting(entry) ? positionById.get(entry.id) : undefined;
      const response = position === undefined ? undefined : responseByPosition.get(position);
      if (response === undefined) return entry;
      const interaction = entry as Interaction;
      if (response instanceof AlteredBody) return response.makesAltered(interaction);
      if (isResponseTo(interaction.id, response)) return complete(interaction, response);
      return new AlteredBody(interaction, notItsResponse(response.position, interaction.id));
    });
  }
}

/** Where a body is not the one that was recorded: what a list shows, and the fault of whole reads. */
class AlteredBody {
  readonly position: number;
  readonly shown: AlteredEntry;
  readonly fault: Error;

  constructor(stored: StoredBody | Interaction, fault: Error) {
    this.position = stored.position;
    this.shown = toAltered(stored);
    this.fault = fault;
  }

  makesAltered(interaction: Interaction): AlteredBody {
    return new AlteredBody(interaction, this.fault);
  }
}

function recordedEntry(entry: Entry | AlteredBody): Entry {
  if (entry instanceof AlteredBody) throw entry.fault;
  return entry;
}

function isWaiting(entry: Entry | AlteredBody): entry is Interaction {
  return !(entry instanceof AlteredBody) && entry.kind === "interaction" && entry.response === "";
}

/** Claims are not covered by the hash of a body: they can be altered while all bodies are as they were recorded. */
export function isResponseTo(interactionId: string, entry: Entry): entry is EntryOf<"response"> {
  return entry.kind === "response" && entry.interaction_id === interactionId;
}

export function notItsResponse(position: number, interactionId: string): Error {
  return corruptEntry(position, `it is not the response to ${interactionId}, which the log says is here`);
}

function misplaced(position: number, id: string): Error {
  return corruptEntry(position, `it is not the entry ${id}, which the log says is here`);
}

/** Those that are there and not erased. */
function toReadable(stored: readonly (StoredBody | undefined)[]): readonly (Entry | AlteredBody)[] {
  const entries: (Entry | AlteredBody)[] = [];
  for (const one of stored) {
    if (one?.flaw !== undefined) entries.push(new AlteredBody(one, corruptEntry(one.position, one.flaw)));
    else if (one?.body !== undefined) entries.push(bodyToEntry(one, parseBodyText(one.position, one.body)));
  }
  return entries;
}

/**
 * An interaction with the response that completed it. The response wins; references are merged.
 *
 * @internal Exported for tests.
 */
export function complete(interaction: Interaction, response: EntryOf<"response">): Interaction {
  const isUsageGiven = Object.keys(response.usage).length > 0;
  const latency_ms = response.latency_ms ?? interaction.latency_ms;
  return {
    ...interaction,
    response: response.response,
    response_summary: response.response_summary || interaction.response_summary,
    memories_used: union(interaction.memories_used, response.memories_used),
    chunks_used: union(interaction.chunks_used, response.chunks_used),
    model: response.model || interaction.model,
    usage: isUsageGiven ? response.usage : interaction.usage,
    ...(latency_ms === undefined ? {} : { latency_ms }),
    error: response.error || interaction.error,
    extra: { ...interaction.extra, ...response.extra },
    response_id: response.id,
  };
}

/** @internal Exported for tests. */
export function summarise(entry: Entry): EntrySummary {
  if (entry.kind === "interaction") {
    const { response, context_pack: _, ...rest } = entry;
    return { ...rest, response_chars: codePoints(response) };
  }
  if (entry.kind === "response") {
    const { response, ...rest } = entry;
    return { ...rest, response_chars: codePoints(response) };
  }
  return entry;
}

/** Code points of a response excerpt. */
const EXCERPT_CHARS = 2_000;

/** The beginning of an entry's response, which must be masked before. */
function excerptOf(entry: Entry): { readonly response_excerpt?: string } {
  if (entry.kind !== "interaction" && entry.kind !== "response") return {};
  return { response_excerpt: firstCodePoints(entry.response, EXCERPT_CHARS) };
}

function union(left: readonly string[], right: readonly string[]): readonly string[] {
  return right.length === 0 ? left : [...new Set([...left, ...right])];
}
