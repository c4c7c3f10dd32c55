// A session of the OpenAI Agents SDK that is kept in the record: `run(agent, input, { session: recordedSession(recorder, id) })`.
//
// Its items are handed back, so it needs a recorder that reads: one of the library, on a folder or on a server.
import { isJson, type Json, textAt, toolCall } from "../providers/provider.js";

interface RecordedEntry {
  readonly position: number;
  readonly kind: string;
  readonly withdraws?: number;
  readonly extra?: unknown;
}

/** What it needs of a recorder of the library. */
export interface ReadingRecorder {
  session(id: string): {
    message(input: Json & { readonly role: string }): Promise<unknown>;
    clear(): Promise<unknown>;
    withdraw(position: number): Promise<unknown>;
    entries(options: { readonly order: "desc"; readonly limit: number; readonly cursor?: string | null }): Promise<{
      readonly entries: readonly object[];
      readonly next_cursor: string | null;
    }>;
  };
  getEntry(position: number): Promise<object | undefined>;
}

const PAGE = 100;

/** An item of the SDK, whatever its type; generic, so its own type comes back. */
export function recordedSession<Item extends object = never>(recorder: ReadingRecorder, session_id: string) {
  const session = recorder.session(session_id);
  type Kept = { readonly position: number; readonly item: Item };

  /** From the newest back to the last clear, without what was taken back. */
  const newest = async (limit: number): Promise<readonly Kept[]> => {
    const kept: Kept[] = [];
    const withdrawn = new Set<number>();
    for (let cursor: string | null | undefined; cursor !== null && kept.length < limit; ) {
      const page = await session.entries({ order: "desc", limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      cursor = page.next_cursor;
      for (const { position, kind, withdraws } of page.entries as readonly RecordedEntry[]) {
        if (kind === "clear") return kept;
        if (withdraws !== undefined) withdrawn.add(withdraws);
        if (kind !== "message" || withdrawn.has(position) || kept.length >= limit) continue;
        // Lists are masked, and a model has to get back what it was given.
        const whole = (await recorder.getEntry(position)) as RecordedEntry | undefined;
        const item = isJson(whole?.extra) ? whole.extra.item : undefined;
        if (isJson(item)) kept.push({ position, item: item as Item });
      }
    }
    return kept;
  };

  return {
    getSessionId: async (): Promise<string> => session_id,
    async getItems(limit = Number.POSITIVE_INFINITY): Promise<Item[]> {
      return (await newest(limit)).map(({ item }) => item).reverse();
    },
    async addItems(items: Item[]): Promise<void> {
      for (const item of items) await session.message({ ...toMessage(item as Json), extra: { item } });
    },
    /** The log keeps it; history, and this session, leave it out. */
    async popItem(): Promise<Item | undefined> {
      const [last] = await newest(1);
      if (last !== undefined) await session.withdraw(last.position);
      return last?.item;
    },
    async clearSession(): Promise<void> {
      await session.clear();
    },
  };
}

/** Items as messages that every provider's history takes; what is no message stays what it is, as content. */
function toMessage(item: Json): Json & { readonly role: string } {
  const role = textAt(item, "role");
  if (role !== undefined) return { role, content: item.content };
  if (item.type === "function_call") {
    return { role: "assistant", content: null, tool_calls: [toolCall(item.callId, item.name, item.arguments)] };
  }
  if (item.type === "function_call_result") {
    return { role: "tool", tool_call_id: String(item.callId ?? ""), content: outputText(item.output) };
  }
  return { role: "assistant", content: [item] };
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : (textAt(output, "text") ?? JSON.stringify(output ?? ""));
}
