// Entries by position, as views show them: whole, with the response that completed an interaction.
//
// This is where secrets are masked: what is shown beside other entries passes through here, the record itself does not.
import { bodyToEntry, parseBodyText, toEntry } from "../model/body.js";
import { completionClaim, idClaim } from "../model/claims.js";
import type { Entry, EntryOf, EntrySummary, ErasedEntry, Interaction } from "../model/entry.js";
import { corruptEntry } from "../model/fault.js";
import type { EntryLog, StoredBody, StoredEntry } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { complete, summarise } from "./views.js";

/** A page ends early once it holds this much text; the cursor leads on. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Few at a time, since each may be as large as an entry can be. */
const CHUNK_ROWS = 8;

export interface SummaryPage {
  readonly rows: readonly EntrySummary[];
  /** How many of the positions were used; fewer than given where the page was full. */
  readonly used: number;
}

export class EntryReader {
  readonly #log: EntryLog;
  readonly #mask: Mask;

  constructor(parts: { readonly log: EntryLog; readonly mask: Mask }) {
    this.#log = parts.log;
    this.#mask = parts.mask;
  }

  async getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    const [position] = await this.#log.find([idClaim(id)]);
    if (position === undefined) return undefined;
    const entry = await this.getByPosition(position);
    return entry !== undefined && "erased" in entry ? { ...entry, id } : entry;
  }

  async getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    const [stored] = await this.#log.get([position]);
    if (stored === undefined) return undefined;
    const entry = toEntry(stored);
    if ("erased" in entry) return entry;
    const [completed] = await this.withResponses([entry]);
    return completed;
  }

  /** The entries at these positions, masked, for whoever shows parts of them; erased ones are left out. */
  async show(positions: readonly number[]): Promise<readonly Entry[]> {
    return (await this.read(positions)).map((entry) => this.#mask.entry(entry));
  }

  /** The entries at these positions as they were recorded; erased ones are left out. */
  async read(positions: readonly number[]): Promise<readonly Entry[]> {
    return this.withResponses((await this.#log.get(positions)).flatMap(toReadable));
  }

  /** As `read` but for their hashes, which are `""`: for whoever looks through many and shows none of them whole. */
  async readBodies(positions: readonly number[]): Promise<readonly Entry[]> {
    return this.withResponses((await this.#log.getBodies(positions)).flatMap(toUnhashed));
  }

  /** The entries at these positions in their short form, masked, as many as fit on a page, the first in any case. */
  async page(positions: readonly number[]): Promise<SummaryPage> {
    const rows: EntrySummary[] = [];
    let bytes = 0;
    let used = 0;
    while (used < positions.length && bytes < PAGE_BYTES_MAX) {
      const stored = await this.#log.get(positions.slice(used, used + CHUNK_ROWS));
      const taken = takeUntil(stored, PAGE_BYTES_MAX - bytes);
      const entries = await this.withResponses(taken.flatMap(toReadable));
      rows.push(...entries.map((entry) => this.#mask.entry(summarise(entry))));
      for (const one of taken) bytes += one?.body?.byteLength ?? 0;
      used += taken.length;
    }
    return { rows, used };
  }

  /** Interactions that were completed later carry what their response brought. */
  async withResponses(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const waiting = entries.filter((entry) => entry.kind === "interaction" && entry.response === "");
    if (waiting.length === 0) return entries;
    const found = await this.#log.find(waiting.map((entry) => completionClaim(entry.id)));
    const positions = found.filter((position) => position !== undefined);
    if (positions.length === 0) return entries;
    const responseById = new Map<string, EntryOf<"response">>();
    for (const response of (await this.#log.get(positions)).flatMap(toReadable)) {
      if (response.kind === "response") responseById.set(response.interaction_id, response);
    }
    return entries.map((entry) => {
      const response = entry.kind === "interaction" ? responseById.get(entry.id) : undefined;
      return response === undefined ? entry : complete(entry as Interaction, response);
    });
  }
}

function toReadable(stored: StoredEntry | undefined): readonly Entry[] {
  const entry = stored === undefined ? undefined : toEntry(stored);
  return entry === undefined || "erased" in entry ? [] : [entry];
}

function toUnhashed(stored: StoredBody | undefined): readonly Entry[] {
  if (stored?.flaw !== undefined) throw corruptEntry(stored.position, stored.flaw);
  if (stored?.body === undefined) return [];
  const { position, kind, recorded_at, body } = stored;
  return [bodyToEntry({ position, kind, recorded_at, hash: NO_HASH }, parseBodyText(position, body))];
}

const NO_HASH = new Uint8Array();

/** The leading entries whose bodies fit into this many bytes, the first in any case. */
function takeUntil(
  stored: readonly (StoredEntry | undefined)[],
  bytesMax: number,
): readonly (StoredEntry | undefined)[] {
  let bytes = 0;
  let count = 0;
  for (const one of stored) {
    bytes += one?.body?.byteLength ?? 0;
    if (count > 0 && bytes > bytesMax) break;
    count += 1;
  }
  return stored.slice(0, count);
}
