// The record as it can be read: what is asked is parsed here, and put to whoever answers.

import type { EntryCounts } from "../index/port.js";
import type { Entry, ErasedEntry, ErasedInteraction, Interaction, InteractionSummary } from "../model/entry.js";
import { isPositionText } from "../model/ids.js";
import { orThrow } from "../model/rejection.js";
import type { ReflectionReport } from "../model/report.js";
import type { Calls } from "../operations/calls.js";
import type { AnyOperation } from "../operations/operation.js";
import { parseReflectionQuery, type ReflectionOptions } from "../reflect/read/reflection-query.js";
import type { EntryJson } from "../search/lists/entry-reader.js";
import {
  type EntryListOptions,
  type InteractionListOptions,
  parseEntryQuery,
  parseInteractionQuery,
} from "../search/lists/list-query.js";
import type { EntryList, InteractionList } from "../search/lists/reader.js";
import {
  parseSearchQuery,
  parseSessionHistory,
  type SearchOptions,
  type SessionHistoryOptions,
} from "../search/search-query.js";
import type { SearchPage } from "../search/searcher.js";
import { Operable, type Operate, type Options } from "./operable.js";
import { known } from "./recorder-options.js";

interface ReadableParts {
  readonly nowMs: () => number;
  /** What reads; a closed recorder refuses here. */
  readonly open: () => { readonly calls: Calls; readonly operate: Operate };
}

/** What a recorder answers about what was recorded. */
export class ReadableRecord extends Operable {
  readonly #parts: ReadableParts;

  constructor(parts: ReadableParts) {
    super();
    this.#parts = parts;
  }

  override async operate(operation: AnyOperation, options: Options): Promise<unknown> {
    return this.#parts.open().operate(operation, options);
  }

  /** Interactions, newest first: with `full` whole, otherwise without their responses and context packs. */
  async listInteractions(
    options: InteractionListOptions & { readonly full: true },
  ): Promise<InteractionList<Interaction>>;
  async listInteractions(
    options?: InteractionListOptions & { readonly full?: false | undefined },
  ): Promise<InteractionList>;
  async listInteractions(options: InteractionListOptions): Promise<InteractionList<Interaction | InteractionSummary>>;
  async listInteractions(
    options: InteractionListOptions = {},
  ): Promise<InteractionList<Interaction | InteractionSummary>> {
    return this.#parts
      .open()
      .calls.listInteractions(orThrow(parseInteractionQuery(known("interactions", options), this.#parts.nowMs())));
  }

  /** One interaction, whole, or what is left of it once it was erased; undefined where there is none. */
  async getInteraction(id: string): Promise<Interaction | ErasedInteraction | undefined> {
    const entry = await this.getEntry(id);
    return entry?.kind === "interaction" ? (entry as Interaction | ErasedInteraction) : undefined;
  }

  /** Entries of all kinds, newest first. */
  async listEntries(options: EntryListOptions = {}): Promise<EntryList> {
    return this.#parts
      .open()
      .calls.listEntries(orThrow(parseEntryQuery(known("entries", options), this.#parts.nowMs())));
  }

  /** One entry by its id or its position; undefined where there is none. */
  async getEntry(idOrPosition: string | number): Promise<Entry | ErasedEntry | undefined> {
    const wish = toWish(idOrPosition);
    return "id" in wish
      ? this.#parts.open().calls.getById(wish.id)
      : this.#parts.open().calls.getByPosition(wish.position);
  }

  /** The same with its secrets masked, for surfaces that show it to somebody. */
  async showEntry(idOrPosition: string | number): Promise<Entry | ErasedEntry | undefined> {
    return this.#parts.open().calls.shownEntry(toWish(idOrPosition));
  }

  /** The same as JSON in UTF-8, whose large parts were never built: for whoever sends it on. */
  async getEntryJson(
    idOrPosition: string | number,
    { is_masked = false }: { readonly is_masked?: boolean } = {},
  ): Promise<EntryJson | undefined> {
    return this.#parts.open().calls.getJson({ ...toWish(idOrPosition), is_masked });
  }

  /**
   * Entries that hold all terms of the query, newest first: `timeout "connection reset" -retry kind:error since:7d`. What
   * was acknowledged before is found. Filters can be typed or given; both must hold.
   */
  async search(query: string, filters: SearchOptions = {}): Promise<SearchPage> {
    return this.#parts
      .open()
      .calls.search(orThrow(parseSearchQuery(query, known("search", filters), this.#parts.nowMs())));
  }

  /** What was recorded about a phrase as text for an agent: a line each, newest first. */
  async sessionHistory(query: string, role?: string, limit?: number): Promise<string>;
  async sessionHistory(options: SessionHistoryOptions): Promise<string>;
  async sessionHistory(given: string | SessionHistoryOptions, role?: string, limit?: number): Promise<string> {
    const options = typeof given === "string" ? { query: given, role, limit } : given;
    const query = orThrow(parseSessionHistory(known("session_history", options), this.#parts.nowMs()));
    return this.#parts.open().calls.sessionHistory({ query, phrase: options.query ?? "" });
  }

  /** Looks back at the newest entries of conversations: what went wrong, what recurs, and how that has changed. */
  async reflect(options: ReflectionOptions = {}): Promise<ReflectionReport> {
    return this.#parts
      .open()
      .calls.reflect(orThrow(parseReflectionQuery(known("reflection", options), this.#parts.nowMs())));
  }

  /** How much there is, by kind and project. */
  async count(): Promise<EntryCounts> {
    return this.#parts.open().calls.count();
  }
}

/** A number that no position can have is one that nothing stands at. */
function toWish(idOrPosition: string | number): { readonly id: string } | { readonly position: number } {
  const text = String(idOrPosition);
  return isPositionText(text) ? { position: Math.min(Number(text), Number.MAX_SAFE_INTEGER) } : { id: text };
}
