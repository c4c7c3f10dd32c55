// Takes the bodies of a batch apart: what of them is in the store already is asked for, mostly in one round trip for all of them.
import { itemAt } from "../../model/item-at.js";
import { PartDigests } from "../parts/part-digests.js";
import { MISSING } from "../parts/part-joining.js";
import { type KnownList, PARTED_BYTES_MIN, type PartShelf, PartTaking } from "../parts/part-taking.js";
import { type PartRef, PiecesFlaw } from "../parts/pieces.js";
import type { Session } from "./connection.js";
import type { PlacedEntry } from "./log-statements.js";
import { fromStored, type StoredBytes, toStored } from "./part-bytes.js";
import {
  type FoundPart,
  findPartsStatement,
  loadListsStatement,
  type PartRow,
  partsSecretStatement,
} from "./part-statements.js";

/** A loop goes on from its last turn: no more beginnings of a list are asked for at first, and else all of them. */
const BEGINNINGS_FIRST = 16;
/** Stands for a list that is still to be asked for. */
const NO_PIECES = Buffer.from([0]);

interface NewPart extends StoredBytes {
  readonly start: number;
  readonly digest: string;
  readonly follows: number | null;
}

export interface TakenBatch {
  /** What is stored in place of each body; undefined where that is the body itself. */
  readonly bodies: readonly (Buffer | undefined)[];
  readonly parts: readonly NewPart[];
  /** Where the next part begins. */
  readonly end: number;
}

export class BatchTaking {
  readonly #partedBytesMin: number;
  #digests: PartDigests | undefined;

  constructor(partedBytesMin = PARTED_BYTES_MIN) {
    this.#partedBytesMin = partedBytesMin;
  }

  /**
   * Undefined where all are to be stored as they are. What was looked up holds as long as the head stays where it is: whoever adds
   * parts or removes some moves it.
   */
  async take(session: Session, entries: readonly PlacedEntry[]): Promise<TakenBatch | undefined> {
    if (!entries.some((entry) => this.#isParted(entry))) return undefined;
    const digests = await this.digests(session);
    const takings = entries.map((entry) =>
      this.#isParted(entry) ? new PartTaking(entry.body as Uint8Array, digests) : undefined,
    );
    const shelf = new LookedUpShelf();
    for (;;) {
      shelf.start();
      const bodies = takings.map((taking) => taking && shelf.undoing(() => taking.take(shelf)));
      if (!shelf.lacksAnything) {
        if (bodies.every((body) => body === undefined)) return undefined;
        const parts = shelf.added.map((part) => ({ ...part, ...toStored(part.bytes) }));
        return { bodies, parts, end: shelf.end };
      }
      await shelf.lookUp(session);
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
 * Answers from what was looked up, and notes what was not. Taking apart is tried until nothing was lacking; what comes of a try that
 * lacked something is of no use but to tell what else to ask for.
 */
class LookedUpShelf implements PartShelf {
  /** By digest; undefined is one that is not there. */
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

  /** What was added for a body that is stored as it is after all is taken back. */
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
    // One that was asked for and is not there is damage; nothing may go on from it.
    if (this.#lists.has(start)) throw new PiecesFlaw(MISSING);
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
