// A session that hooks recorded as it went on: what they recorded of it is not recorded again from its transcript.

import { contentTexts } from "../../model/content.js";
import { hookedMessageId, hookedSessionId, SAME_MESSAGE_MS } from "../../model/hook-ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { EntryStep, FindEntry, ImportedEntry, ImportStep, ReadStored } from "../importer.js";

export class HookedMessages {
  readonly #sessionId: string;
  #isHooked = false;
  #isChecked = false;

  constructor(session_id: string) {
    this.#sessionId = session_id;
  }

  /** Looks once for each reading whether hooks recorded the session. */
  *check(): Generator<ImportStep> {
    if (this.#isChecked) return;
    this.#isChecked = true;
    yield {
      line: 0,
      looks_for_others: true,
      deferred: async (find) => {
        this.#isHooked = (await find(hookedSessionId(this.#sessionId))) !== undefined;
        return [];
      },
    };
  }

  *withoutThem(steps: Iterable<ImportStep>): Generator<ImportStep> {
    for (const step of steps) yield this.#isHooked && "entry" in step && isSaid(step) ? this.#unlessHooked(step) : step;
  }

  #unlessHooked(step: EntryStep): ImportStep {
    const { entry, line } = step;
    const deferred = async (find: FindEntry, read: ReadStored): Promise<readonly ImportedEntry[]> => {
      const twin = (await find(entry.id)) === undefined ? await this.#twinOf(entry, find, read) : undefined;
      if (twin === undefined) return [entry];
      // The prompt is all that there is to it; of an answer the transcript knows more than its words.
      return entry.role === "assistant" ? [beyondWords(entry, twin)] : [];
    };
    return { line, deferred };
  }

  async #twinOf(entry: ImportedEntry, find: FindEntry, read: ReadStored): Promise<string | undefined> {
    const text = contentTexts(entry.content).join("\n");
    const at = Date.parse(String(entry.created_at));
    for (let nth = 0; ; nth += 1) {
      const id = hookedMessageId({ session_id: this.#sessionId, role: String(entry.role), text }, nth);
      const position = await find(id);
      if (position === undefined) return undefined;
      const stored = await read(position);
      if (Math.abs(Date.parse(String(stored?.created_at)) - at) <= SAME_MESSAGE_MS) return id;
    }
  }
}

function isSaid({ entry }: EntryStep): boolean {
  return entry.kind === "message" && (entry.injected ?? "") === "" && contentTexts(entry.content).join("") !== "";
}

/** Tokens, calls and the request of an answer whose words are recorded. */
function beyondWords(entry: ImportedEntry, continues: string): ImportedEntry {
  const extra = isJsonObject(entry.extra as JsonValue) ? (entry.extra as JsonObject) : {};
  return { ...entry, content: "", extra: { ...extra, continues } };
}
