// Entries by position, as views show them: whole, with the response that completed an interaction.
//
// This is where secrets are masked: what is shown beside other entries passes through here, the record itself does not.
import { bodyToEntry, parseBodyText, toEntry } from "../model/body.js";
import { completionClaim, idClaim } from "../model/claims.js";
import type { Entry, EntryOf, EntrySummary, ErasedEntry, Interaction } from "../model/entry.js";
import { corruptEntry } from "../model/fault.js";
import type { EntrySource, StoredBody } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { complete, excerptOf, summarise } from "./views.js";

/** A page ends early once it holds this much text; the cursor leads on. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
const COMPLETED_AT_ONCE = 16;

export interface SummaryPage {
  readonly rows: readonly EntrySummary[];
  /** How many of the positions were used; fewer than given where the page was full. */
  readonly used: number;
}

export class EntryReader {
  readonly #log: EntrySource;
  readonly #mask: Mask;

  constructor(parts: { readonly log: EntrySource; readonly mask: Mask }) {
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
    return this.withResponses((await this.#log.getBodies(positions)).flatMap(toReadable));
  }

  /** The entries at these positions in their short form, masked, as many as fit on a page, the first in any case. */
  async page(positions: readonly number[], options: { readonly excerpts?: boolean } = {}): Promise<SummaryPage> {
    const toRow = (entry: Entry): EntrySummary => {
      const row = this.#mask.entry(summarise(entry));
      // Masked before it is cut, so that no secret is cut in two and shown.
      return options.excerpts === true ? { ...row, ...excerptOf(this.#mask.entry(entry)) } : row;
    };
    const stored = await this.#log.getBodies(positions, PAGE_BYTES_MAX);
    const entries = stored.flatMap(toReadable);
    const rows: EntrySummary[] = [];
    // A few at a time: a response may be as large as an entry can be, and the short form leaves it out.
    for (let at = 0; at < entries.length; at += COMPLETED_AT_ONCE) {
      const completed = await this.withResponses(entries.slice(at, at + COMPLETED_AT_ONCE));
      rows.push(...completed.map(toRow));
    }
    return { rows, used: stored.length };
  }

  /** Interactions that were completed later carry what their response brought. */
  async withResponses(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const waiting = entries.filter((entry) => entry.kind === "interaction" && entry.response === "");
    if (waiting.length === 0) return entries;
    const found = await this.#log.find(waiting.map((entry) => completionClaim(entry.id)));
    const positions = found.filter((position) => position !== undefined);
    if (positions.length === 0) return entries;
    const responseById = new Map<string, EntryOf<"response">>();
    for (const response of (await this.#log.getBodies(positions)).flatMap(toReadable)) {
      if (response.kind === "response") responseById.set(response.interaction_id, response);
    }
    return entries.map((entry) => {
      const response = entry.kind === "interaction" ? responseById.get(entry.id) : undefined;
      return response === undefined ? entry : complete(entry as Interaction, response);
    });
  }
}

function toReadable(stored: StoredBody | undefined): readonly Entry[] {
  if (stored?.flaw !== undefined) throw corruptEntry(stored.position, stored.flaw);
  return stored?.body === undefined ? [] : [bodyToEntry(stored, parseBodyText(stored.position, stored.body))];
}
