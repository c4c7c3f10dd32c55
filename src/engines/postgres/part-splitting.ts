// Splits the bodies of a batch into parts; known parts are looked up, mostly with one round trip for the batch.
import { itemAt } from "../../model/item-at.js";
import { PartDigests } from "../parts/cutting.js";
import { MISSING } from "../parts/joining.js";
import { type PartRef, PiecesError } from "../parts/pieces.js";
import { BodySplitter, type KnownList, PARTED_BYTES_MIN, type PartStore } from "../parts/splitting.js";
import type { Session } from "./driver.js";
import type { PlacedEntry } from "./log-rows.js";
import {
  type FoundPart,
  findPartsStatement,
  fromStored,
  loadListsStatement,
  type PartRow,
  partsSecretStatement,
  type StoredBytes,
  toStored,
} from "./parts.js";

/** An agent's loop continues its last turn: first the longest few prefixes of a list are looked up, then all. */
const BEGINNINGS_FIRST = 16;
/** Placeholder for a list that is still to be looked up. */
const NO_PIECES = Buffer.from([0]);

interface NewPart extends StoredBytes {
  readonly start: number;
  readonly digest: string;
  readonly follows: number | null;
}

export interface SplitBatch {
  /** What to store for each body; undefined to store the body itself. */
  readonly bodies: readonly (Buffer | undefined)[];
  readonly parts: readonly NewPart[];
  /** Where the next part begins. */
  readonly end: number;
}

export class BatchSplitter {
  readonly #partedBytesMin: number;
  #digests: PartDigests | undefined;

  constructor(partedBytesMin = PARTED_BYTES_MIN) {
    this.#partedBytesMin = partedBytesMin;
  }

  /**
   * Undefined if all are stored whole. Lookups stay valid while the head does not move: adding or deleting parts moves
   * it.
   */
  async split(session: Session, entries: readonly PlacedEntry[]): Promise<SplitBatch | undefined> {
    if (!entries.some((entry) => this.#isParted(entry))) return undefined;
    const digests = await this.digests(session);
    const splitters = entries.map((entry) =>
      this.#isParted(entry) ? new BodySplitter(entry.body as Uint8Array, digests) : undefined,
    );
    const lookups = new PartLookups();
    for (;;) {
      lookups.start();
      const bodies = splitters.map((splitter) => splitter && lookups.undoing(() => splitter.split(lookups)));
      if (!lookups.lacksAnything) {
        if (bodies.every((body) => body === undefined)) return undefined;
        const parts = lookups.added.map((part) => ({ ...part, ...toStored(part.bytes) }));
        return { bodies, parts, end: lookups.end };
      }
      await lookups.lookUp(session);
    }
  }

  async digests(session: Session): Promise<PartDigests> {
    this.#digests ??= new PartDigests(await readSecret(session));
    return this.#digests;
  }

  #isParted({ body }: PlacedEntry): boolean {
    return body !== undefined && body.byteLength >= this.#partedBytesMin;
  }
}

async function readSecret(session: Session): Promise<Buffer> {
  const [row] = await session.query<{ readonly parts_secret: Buffer }>(partsSecretStatement);
  return (row as { readonly parts_secret: Buffer }).parts_secret;
}

/**
 * Answers from what was looked up, and notes what is missing. Splitting is repeated until nothing is missing; the
 * result of an incomplete attempt only tells what to look up.
 */
class PartLookups implements PartStore {
  /** By digest; undefined if there is none. */
  readonly #known = new Map<string, PartRef | undefined>();
  readonly #lists = new Map<number, Buffer | undefined>();
  readonly #lacking = { texts: new Set<string>(), lists: new Set<string>(), chains: new Set<number>() };
  #beginnings = BEGINNINGS_FIRST;
  #firstStart = 0;
  #new = new Map<string, PartRef>();
  #newBytes = new Map<number, Buffer>();
  added: Omit<NewPart, "whole_bytes">[] = [];
  end = 0;

  get lacksAnything(): boolean {
    const { texts, lists, chains } = this.#lacking;
    return texts.size + lists.size + chains.size > 0;
  }

  start(): void {
    for (const lacking of Object.values(this.#lacking)) lacking.clear();
    this.#new = new Map();
    this.#newBytes = new Map();
    this.added = [];
    this.end = this.#firstStart;
  }

  /** Rolls back parts added for a body that is stored whole after all. */
  undoing(take: () => Buffer | undefined): Buffer | undefined {
    const [count, end] = [this.added.length, this.end];
    const taken = take();
    if (taken !== undefined) return taken;
    for (const { digest } of this.added.splice(count)) this.#new.delete(digest);
    this.end = end;
    return undefined;
  }

  async lookUp(session: Session): Promise<void> {
    const { texts, lists, chains } = this.#lacking;
    if (texts.size + lists.size > 0) {
      for (const digest of [...texts, ...lists]) this.#known.set(digest, undefined);
      for (const row of await session.query<FoundPart>(findPartsStatement, [[...texts], [...lists]])) this.#note(row);
    }
    if (chains.size > 0) {
      const rows = await session.query<PartRow>(loadListsStatement, [[...chains]]);
      for (const [nth, bytes] of fromStored(rows).entries()) this.#lists.set(itemAt(rows, nth).start, bytes);
      for (const start of chains) if (!this.#lists.has(start)) this.#lists.set(start, undefined);
    }
    this.#beginnings = Number.POSITIVE_INFINITY;
  }

  findText(digest: Buffer): number | undefined {
    const key = keyOf(digest);
    if (!this.#new.has(key) && !this.#known.has(key)) this.#lacking.texts.add(key);
    return (this.#new.get(key) ?? this.#known.get(key))?.start;
  }

  findList(digests: readonly Buffer[]): KnownList {
    let unknown = 0;
    for (let items = digests.length; items > 0; items -= 1) {
      const key = keyOf(itemAt(digests, items - 1));
      const ref = this.#new.get(key) ?? this.#known.get(key);
      if (ref !== undefined) return { items, ref };
      if (this.#known.has(key)) continue;
      this.#lacking.lists.add(key);
      unknown += 1;
      if (unknown >= this.#beginnings) return { items: items - 1, ref: undefined };
    }
    return { items: 0, ref: undefined };
  }

  bytesOf({ start }: PartRef): Buffer {
    const bytes = this.#newBytes.get(start) ?? this.#lists.get(start);
    if (bytes !== undefined) return bytes;
    // A list that was looked up and does not exist is damage; nothing may continue it.
    if (this.#lists.has(start)) throw new PiecesError(MISSING);
    this.#lacking.chains.add(start);
    return NO_PIECES;
  }

  add(part: { readonly digest: Buffer; readonly bytes: Buffer; readonly follows?: PartRef | undefined }): number {
    const { bytes } = part;
    const digest = keyOf(part.digest);
    const start = this.end;
    this.end += bytes.length;
    this.#new.set(digest, { form: "list", start, bytes: bytes.length });
    this.#newBytes.set(start, bytes);
    this.added.push({ start, digest, bytes, follows: part.follows?.start ?? null });
    return start;
  }

  #note({ digest, start, length, bytes, whole_bytes }: FoundPart): void {
    if (digest === null) {
      this.#firstStart = start;
      return;
    }
    this.#known.set(digest.replaceAll("-", ""), { form: bytes === null ? "text" : "list", start, bytes: length });
    if (bytes !== null) this.#lists.set(start, fromStored([{ bytes, whole_bytes }])[0]);
  }
}

function keyOf(digest: Buffer): string {
  return digest.toString("hex");
}
