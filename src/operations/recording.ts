// What operations that append entries are carried out with: a recorder, whose store is here or on a server.
import type { AppendResult, Captured } from "../log/capture/append-result.js";
import type { EntryInput } from "../model/entry.js";

export interface Recording {
  append(input: EntryInput | readonly EntryInput[]): Promise<AppendResult>;
  session(id: string): {
    readonly id: string;
    clear(envelope: object): Promise<Captured>;
    consolidate(through: number, options: object): Promise<{ readonly through: number }>;
  };
}
