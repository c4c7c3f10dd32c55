// What operations that change the record are carried out with.
import type { AppendResult, Captured } from "../log/capture/capture.js";
import type { ForgetRequest, Forgotten } from "../log/forgetting/forget-requests.js";
import type { MemoryWriter } from "../memories/memory-writer.js";
import type { EntryInput } from "../model/entry.js";
import type { Verification } from "../model/verification.js";

/** A recorder, whose store is here or on a server. */
export interface Recording {
  append(input: EntryInput | readonly EntryInput[]): Promise<AppendResult>;
  session(id: string): {
    readonly id: string;
    clear(envelope: object): Promise<Captured>;
    consolidate(through: number, options: object): Promise<{ readonly through: number }>;
  };
}

/** What works on the store itself, on its own machine. */
export interface StoreWork {
  readonly memories: MemoryWriter;
  readonly forget: (request: ForgetRequest) => Promise<Forgotten>;
  readonly verify: () => Promise<Verification>;
}
