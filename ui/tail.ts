// Following the log live. A browser's own event source cannot send a key, so the events are read from a plain answer.
import { Away, address, keptKey, lock, type Query, type Row, send, toRefused, toRow } from "./api.js";

export interface Following {
  /** Entries after this position; those still to come where it is left out. */
  readonly after?: number | undefined;
  readonly filters?: Query;
  readonly signal: AbortSignal;
  /** What came since the last call, oldest first. */
  heard(entries: readonly Row[]): void;
  /** Whether it listens now. */
  listening?(is: boolean): void;
}

/** Readers see no more than so many changes a second, however fast entries come. */
const GATHER_MS = 150;
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 5_000;

/** Follows until it is told to stop, and comes back where it stopped whenever it was cut off. */
export async function follow({ after, filters = {}, signal, heard, listening }: Following): Promise<void> {
  let last = after;
  let waitMs = AGAIN_MS;
  const gathered = gather(heard, signal);
  while (!signal.aborted) {
    const key = keptKey();
    try {
      const response = await send(address("/tail", { ...filters, after: last }), { signal });
      if (!response.ok || response.body === null) {
        const refused = await toRefused(response);
        if (response.status === 401 || response.status === 403) return lock(refused.code, key);
        throw new Away(refused.message);
      }
      waitMs = AGAIN_MS;
      listening?.(true);
      await readEvents(response.body, (id, data) => {
        last = id ?? last;
        if (data !== "") gathered(toRow(JSON.parse(data)) as Row);
      });
    } catch {
      // Whatever cut it off, the position says where to go on.
    }
    listening?.(false);
    if (signal.aborted) return;
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, AGAIN_MS_MAX);
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

function gather(heard: (entries: readonly Row[]) => void, signal: AbortSignal): (entry: Row) => void {
  let waiting: Row[] = [];
  const hand = (): void => {
    const entries = waiting;
    waiting = [];
    if (!signal.aborted) heard(entries);
  };
  return (entry) => {
    if (waiting.push(entry) === 1) setTimeout(hand, GATHER_MS);
  };
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      // A page that stays open all day pauses often under one signal.
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
