// A log that notes the first altered body that anybody reads of it, so that `/health` can tell, whichever thread read it.
import type { Fault } from "../model/fault.js";
import type {
  AppendOutcome,
  AppendUnit,
  CopiedEntry,
  EntryLog,
  Erasure,
  Guards,
  Head,
  KeptClaims,
  NewRedactions,
  Orphan,
  ReadRange,
  StoredBody,
  StoredEntry,
} from "./port.js";

/** Memory that threads share; it holds the position, 0 while none was read. */
export class AlteredNote {
  readonly memory: BigInt64Array;

  constructor(memory: BigInt64Array = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))) {
    this.memory = memory;
  }

  /** Where an altered body was read first. */
  get position(): number | undefined {
    const position = Number(Atomics.load(this.memory, 0));
    return position === 0 ? undefined : position;
  }

  note(position: number): void {
    Atomics.compareExchange(this.memory, 0, 0n, BigInt(position));
  }
}

export class NotingLog implements EntryLog {
  readonly engine: string;
  readonly #log: EntryLog;
  readonly #note: AlteredNote;

  constructor(log: EntryLog, note: AlteredNote) {
    this.engine = log.engine;
    this.#log = log;
    this.#note = note;
  }

  async read(range: ReadRange): Promise<readonly StoredEntry[]> {
    return this.#noted(await this.#log.read(range));
  }

  async readBodies(range: ReadRange): Promise<readonly StoredBody[]> {
    return this.#noted(await this.#log.readBodies(range));
  }

  async get(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredEntry | undefined)[]> {
    return this.#noted(await this.#log.get(positions, bytes_max));
  }

  async getBodies(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredBody | undefined)[]> {
    return this.#noted(await this.#log.getBodies(positions, bytes_max));
  }

  head(): Promise<Head> {
    return this.#log.head();
  }

  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return this.#log.append(units);
  }

  hintBulk(): void {
    this.#log.hintBulk?.();
  }

  restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    return this.#log.restore(copy);
  }

  find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#log.find(claims);
  }

  keptClaims(range: { readonly after: number; readonly through: number }): Promise<KeptClaims> {
    return this.#log.keptClaims(range);
  }

  erasures(range: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]> {
    return this.#log.erasures(range);
  }

  guards(): Promise<Guards> {
    return this.#log.guards();
  }

  redactionsAfter(position: number): Promise<NewRedactions> {
    return this.#log.redactionsAfter(position);
  }

  findOrphan(): Promise<Orphan | undefined> {
    return this.#log.findOrphan();
  }

  async positionsSharing(position: number): Promise<readonly number[]> {
    return (await this.#log.positionsSharing?.(position)) ?? [];
  }

  purge(): Promise<string | undefined> {
    return this.#log.purge();
  }

  fault(): Fault | undefined {
    return this.#log.fault?.();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #noted<R extends readonly ({ readonly position: number; readonly flaw?: string } | undefined)[]>(read: R): R {
    for (const stored of read) if (stored?.flaw !== undefined) this.#note.note(stored.position);
    return read;
  }
}
