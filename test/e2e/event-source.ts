// A client of server-sent events on a real socket, which can also stop reading.
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import type { Entry } from "../../src/index.js";

export interface ReceivedEvent {
  readonly id: string;
  readonly entry: Entry;
}

export interface ListenOptions {
  readonly headers?: { readonly [name: string]: string };
  /** False leaves the connection unread. */
  readonly reads?: boolean;
  /** False keeps ids only, for tests that measure memory. */
  readonly keeps?: boolean;
}

export interface EventSource {
  readonly response: IncomingMessage;
  readonly events: readonly ReceivedEvent[];
  /** What a browser would send when it comes back. */
  lastEventId(): string;
  /** Everything as it came, comments included. */
  text(): string;
  /** Resolves once this many events are there. */
  count(events: number): Promise<readonly ReceivedEvent[]>;
  ended: Promise<void>;
  close(): void;
}

export async function listen(address: string, options: ListenOptions = {}): Promise<EventSource> {
  const request: ClientRequest = get(address, { headers: options.headers ?? {}, agent: false });
  onTestFinished(() => void request.destroy());
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
  });
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  return follow(request, response, options);
}

function follow(
  request: ClientRequest,
  response: IncomingMessage,
  { reads = true, keeps = true }: ListenOptions,
): EventSource {
  const events: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  let all = "";
  let rest = "";
  let lastId = "";
  const take = (block: string): void => {
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) lastId = line.slice(4);
      if (line.startsWith("data: ")) data.push(line.slice(6));
    }
    if (data.length > 0) events.push({ id: lastId, entry: keeps ? JSON.parse(data.join("\n")) : {} });
  };
  const ended = new Promise<void>((resolve) => {
    response.on("close", () => {
      resolve();
      for (const wake of waiting) wake();
    });
  });
  response.on("error", () => undefined);
  if (reads) {
    response.setEncoding("utf8").on("data", (chunk: string) => {
      if (keeps) all += chunk;
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) take(block);
      for (const wake of waiting) wake();
    });
  }
  return {
    response,
    events,
    ended,
    lastEventId: () => lastId,
    text: () => all,
    close: () => void request.destroy(),
    count: async (wanted) => {
      while (events.length < wanted) {
        if (response.closed) throw new Error(`the stream ended after ${events.length} of ${wanted} events`);
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
      return events;
    },
  };
}
