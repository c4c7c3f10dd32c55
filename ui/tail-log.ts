// Follows the log live. EventSource cannot send an access key, so the events are read from a fetch response.
import {
  buildUrl,
  NetworkError,
  type QueryParameters,
  type Row,
  savedKey,
  send,
  signOut,
  toApiError,
  toRow,
} from "./api.js";

export interface TailOptions {
  /** Entries after this position; only new ones if omitted. */
  readonly after?: number | undefined;
  readonly filters?: QueryParameters;
  readonly signal: AbortSignal;
  /** Receives the entries since the last call, oldest first. */
  onEntries(entries: readonly Row[]): void;
  /** Receives whether the tail is connected. */
  onConnection?(is: boolean): void;
}

/** Limits updates per second, however fast entries arrive. */
const BATCH_MS = 150;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 5_000;

/** Follows until aborted; after a disconnect it resumes at the last position. */
export async function tailLog({
  after,
  filters = {},
  signal,
  onEntries,
  onConnection: listening,
}: TailOptions): Promise<void> {
  let last = after;
  let waitMs = RETRY_MS;
  const gathered = batchEntries(onEntries, signal);
  while (!signal.aborted) {
    const key = savedKey();
    try {
      const response = await send(buildUrl("/tail", { ...filters, after: last }), { signal });
      if (!response.ok || response.body === null) {
        const refused = await toApiError(response);
        if (response.status === 401 || response.status === 403) return signOut(refused.code, key);
        throw new NetworkError(refused.message);
      }
      waitMs = RETRY_MS;
      listening?.(true);
      await readEvents(response.body, (id, data) => {
        last = id ?? last;
        if (data !== "") gathered(toRow(JSON.parse(data)) as Row);
      });
    } catch {
      // Whatever the cause, the position says where to resume.
    }
    listening?.(false);
    if (signal.aborted) return;
    await sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  event: (id: number | undefined, data: string) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const id = fieldOf(lines, "id: ");
      event(id === "" ? undefined : Number(id), fieldOf(lines, "data: "));
    }
  }
}

function fieldOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.startsWith(name))?.slice(name.length) ?? "";
}

function batchEntries(onEntries: (entries: readonly Row[]) => void, signal: AbortSignal): (entry: Row) => void {
  let waiting: Row[] = [];
  const flush = (): void => {
    const entries = waiting;
    waiting = [];
    if (!signal.aborted) onEntries(entries);
  };
  return (entry) => {
    if (waiting.push(entry) === 1) setTimeout(flush, BATCH_MS);
  };
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      // A page that stays open all day sleeps often with one signal.
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
