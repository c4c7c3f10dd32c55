// Derives imported sessions again that an older version brought: what it made of them is replaced in every view, and stays in
// the log. The new entries follow in the order of their source, under ids of their own.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { hashedId } from "./identity.js";
import type { FindEntry, ImportedEntry, ImportStep } from "./importer.js";
import type { SourceLoss } from "./source-loss.js";

/** How sources are derived; raised whenever importers record them in another way. */
export const IMPORT_DERIVATION = 3;

/** The id under which an entry is recorded when its session is derived again. */
export function againId(id: string): string {
  return hashedId(formatOf(id), ["derived again", IMPORT_DERIVATION, id]);
}

/** Whether an entry may have come from an importer, by its id. */
export function isImportId(id: string): boolean {
  return id.indexOf(":") > 0;
}

function formatOf(id: string): string {
  return id.slice(0, id.indexOf(":"));
}

/** A session that an older version brought: the time of its last entry, or that a newer derivation replaced it. */
export type OlderSession = { readonly through_ms: number } | { readonly is_replaced: true };

/** What deriving again needs to know of the store. */
export interface ImportedSessions {
  /** What an older version brought of a session; undefined where it brought nothing. */
  older(session_id: string): Promise<OlderSession | undefined>;
  /** Notes that what was recorded of a session before is replaced. */
  replace(session_id: string): Promise<void>;
  /** Notes that the file that a session was read from is gone, or shorter; false where there is nothing to note. */
  noteLoss(loss: SourceLoss): Promise<boolean>;
}

export class DerivedAgain {
  readonly #sessions: ImportedSessions;
  readonly #older = new Map<string, Promise<boolean>>();

  constructor(sessions: ImportedSessions) {
    this.#sessions = sessions;
  }

  async *steps(steps: AsyncIterable<ImportStep | Iterable<ImportStep>>): AsyncGenerator<ImportStep> {
    for await (const found of steps) {
      for (const step of Symbol.iterator in found ? found : [found]) yield* this.#step(step);
    }
  }

  /** To be called once everything that was read is in the log. */
  async finish(): Promise<void> {
    for (const [session_id, older] of this.#older) if (await older) await this.#sessions.replace(session_id);
    this.#older.clear();
  }

  async *#step(step: ImportStep): AsyncGenerator<ImportStep> {
    if ("entry" in step) {
      if (!(await this.#isOlder(step.entry.session_id))) {
        yield step;
        return;
      }
      const { onExisting } = step;
      yield {
        ...step,
        entry: renamed(step.entry),
        onExisting:
          onExisting &&
          (async (stored, find) => {
            const next = await onExisting(stored, findingAgain(find));
            return next !== undefined && "entry" in next ? { ...next, entry: renamed(next.entry) } : next;
          }),
      };
    } else if ("deferred" in step) {
      yield {
        ...step,
        deferred: async (find, read) => {
          const isOlder = await this.#isOlder(step.session_id);
          const made = await step.deferred(isOlder ? findingAgain(find) : find, read);
          if (typeof made === "string") return made;
          const entries: ImportedEntry[] = [];
          for (const entry of made) entries.push((await this.#isOlder(entry.session_id)) ? renamed(entry) : entry);
          return entries;
        },
      };
    } else yield step;
  }

  #isOlder(session_id: unknown): Promise<boolean> {
    if (typeof session_id !== "string" || session_id === "") return Promise.resolve(false);
    const known = this.#older.get(session_id);
    if (known !== undefined) return known;
    const older = this.#sessions.older(session_id).then((found) => found !== undefined && !("is_replaced" in found));
    this.#older.set(session_id, older);
    return older;
  }
}

/** What an older version recorded under an id is no longer there. */
function findingAgain(find: FindEntry): FindEntry {
  return (id) => find(againId(id));
}

/** Fields of `extra` that name other entries of the session, each by the names of its ids. */
const naming: { readonly [field: string]: (value: JsonValue) => JsonValue } = {
  continues: renamedId,
  given_in: renamedId,
  given_list: (list) => (Array.isArray(list) ? list.map(renamedId) : list),
  given: (given) => {
    if (!isJsonObject(given)) return given;
    const { base, shape, messages } = given;
    return {
      ...given,
      ...(isJsonObject(base) ? { base: { ...base, entry_id: renamedId(base.entry_id ?? "") } } : {}),
      ...(shape === undefined ? {} : { shape: renamedId(shape) }),
      ...(Array.isArray(messages) ? { messages: messages.map(renamedReference) } : {}),
    };
  },
};

function renamedId(id: JsonValue): JsonValue {
  return typeof id === "string" ? againId(id) : id;
}

/** A message that an earlier request had stands as the entry of that, and its place there. */
function renamedReference(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || message.role !== undefined || !Array.isArray(message.same_as)) return message;
  const [entry_id = "", ...place] = message.same_as as readonly JsonValue[];
  return { ...message, same_as: [renamedId(entry_id), ...place] };
}

/** Ids that name other entries of the session are renamed with it. */
function renamed(entry: ImportedEntry): ImportedEntry {
  const { extra = {}, interaction_id, id } = entry as ImportedEntry & { readonly extra?: JsonObject };
  const names = Object.entries(naming).flatMap(([field, rename]) => {
    const value = extra[field];
    return value === undefined ? [] : [[field, rename(value)] as const];
  });
  return {
    ...withoutDerivation(entry),
    id: againId(id),
    ...(typeof interaction_id === "string" ? { interaction_id: againId(interaction_id) } : {}),
    extra: { ...extra, ...Object.fromEntries(names), derivation: IMPORT_DERIVATION },
  };
}

/** Until all of it is there and noted, a session is one of an older version. */
function withoutDerivation(entry: ImportedEntry): ImportedEntry {
  const { metadata } = entry as { readonly metadata?: { readonly source?: { readonly derivation?: unknown } } };
  if (metadata?.source?.derivation === undefined) return entry;
  const { derivation: _, ...source } = metadata.source;
  return { ...entry, metadata: { ...metadata, source } } as ImportedEntry;
}
