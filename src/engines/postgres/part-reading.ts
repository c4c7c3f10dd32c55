// Reads bodies in parts: their lists with one round trip, all texts with another. Also finds which bodies use which
// parts.

import type { Orphan } from "../../log/port.js";
import { NOT_RECORDED } from "../../model/chain.js";
import { itemAt } from "../../model/item-at.js";
import type { PartDigests } from "../parts/cutting.js";
import {
  collectUsedParts,
  expand,
  hasMatchingDigest,
  joinPieces,
  type Loaded,
  MISSING,
  type PartSource,
  type UsedParts,
} from "../parts/joining.js";
import { type BodyPiece, type PartRef, PiecesError, readPieces } from "../parts/pieces.js";
import type { Connections, Session } from "./driver.js";
import { toFault } from "./faults.js";
import {
  type DigestedPart,
  deletePartsStatement,
  digestedPartsStatement,
  fromStored,
  loadListsStatement,
  loadTextsStatement,
  type PartRow,
  partDigestsStatement,
  type SplitRow,
  splitBodiesStatement,
  splitBodyStatement,
  type TextsTogether,
} from "./parts.js";

export interface SplitBody {
  readonly taken: Buffer;
  /** How many bytes it has in whole. */
  readonly whole_bytes: number | null;
}

export type WholeBody = { readonly body: Buffer } | { readonly flaw: string };

/** Loaded parts by start. */
class LoadedParts implements PartSource {
  readonly #bytes = new Map<number, Buffer>();

  note(rows: readonly PartRow[]): void {
    for (const [nth, bytes] of fromStored(rows).entries()) {
      if (bytes !== undefined) this.#bytes.set(itemAt(rows, nth).start, bytes);
    }
  }

  /**
   * Loads these lists and all lists they continue. The `follows` column saves a round trip for each; the lists
   * themselves decide.
   */
  async loadLists(session: Session, takens: readonly Buffer[]): Promise<void> {
    for (let next = takens; next.length > 0; ) {
      const starts = this.#lacking(next.flatMap(refsIn).filter(({ form }) => form === "list"));
      if (starts.length === 0) return;
      const rows = await session.query<PartRow>(loadListsStatement, [starts]);
      this.note(rows);
      next = rows.flatMap(({ start }) => this.#bytes.get(start) ?? []);
    }
  }

  async loadTexts(session: Session, refs: readonly PartRef[]): Promise<void> {
    const starts = this.#lacking(refs);
    if (starts.length === 0) return;
    const bytesByStart = new Map(refs.map(({ start, bytes }) => [start, bytes]));
    const rows = await textRows(session, starts);
    // Parts of the wrong length are ignored.
    this.note(
      rows.filter(({ start, bytes, whole_bytes }) => (whole_bytes ?? bytes.length) === bytesByStart.get(start)),
    );
  }

  /** The parts that a list refers to. */
  refsOf(start: number): readonly PartRef[] {
    const bytes = this.#bytes.get(start);
    return bytes === undefined ? [] : refsIn(bytes);
  }

  bytesOf({ start, bytes: count }: PartRef): Buffer {
    const bytes = this.#bytes.get(start);
    if (bytes?.length !== count) throw new PiecesError(MISSING);
    return bytes;
  }

  load(texts: readonly PartRef[]): ReadonlyMap<number, Loaded> {
    return new Map(texts.map((text) => [text.start, { bytes: this.bytesOf(text), from: 0 }]));
  }

  #lacking(refs: readonly PartRef[]): readonly number[] {
    return [...new Set(refs.map(({ start }) => start).filter((start) => !this.#bytes.has(start)))];
  }
}

/** One row for all: a body has hundreds, and each row costs more than its bytes. */
async function textRows(session: Session, starts: readonly number[]): Promise<readonly PartRow[]> {
  const [together] = await session.query<TextsTogether>(loadTextsStatement, [starts]);
  if (together?.bytes == null) return [];
  const { bytes } = together;
  const [found, lengths, wholes] = [together.starts, together.lengths, together.wholes].map(numbersOf) as [
    readonly number[],
    readonly number[],
    readonly number[],
  ];
  let at = 0;
  return found.map((start, nth) => {
    const from = at;
    at += itemAt(lengths, nth);
    const whole = itemAt(wholes, nth);
    return { start, bytes: bytes.subarray(from, at), whole_bytes: whole < 0 ? null : whole };
  });
}

function numbersOf(text: string | null): readonly number[] {
  return JSON.parse(`[${text ?? ""}]`) as readonly number[];
}

/** Unreadable bytes refer to nothing; joining them reports why. */
function refsIn(taken: Buffer): readonly PartRef[] {
  try {
    return readPieces(taken).pieces.filter((piece): piece is PartRef => !Buffer.isBuffer(piece));
  } catch (error) {
    if (error instanceof PiecesError) return [];
    throw error;
  }
}

/**
 * Rows with their joined bodies. A body may be erased, with its parts, after its row was read: what does not fit is
 * read again on one snapshot, and only then counts as damage.
 */
export async function readWhole<R>(
  connections: Connections,
  read: (session: Session) => Promise<readonly R[]>,
  takenIn: (row: R) => SplitBody | undefined,
): Promise<readonly (readonly [row: R, whole: WholeBody | undefined])[]> {
  const rows = await readJoined(connections, read, takenIn);
  if (!rows.some(([, whole]) => whole !== undefined && "flaw" in whole)) return rows;
  return atOneMoment(connections, (session) => readJoined(session, read, takenIn));
}

/** Runs several statements on one snapshot. */
export async function atOneMoment<T>(connections: Connections, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await connections.transact(async (session) => {
      await session.query({ text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" });
      return work(session);
    });
  } catch (error) {
    throw toFault(error, connections.address);
  }
}

async function readJoined<R>(
  session: Session,
  read: (session: Session) => Promise<readonly R[]>,
  takenIn: (row: R) => SplitBody | undefined,
): Promise<readonly (readonly [row: R, whole: WholeBody | undefined])[]> {
  const rows = (await read(session)).map((row) => ({ row, body: takenIn(row) }));
  const takens = rows.flatMap(({ body }) => (body === undefined ? [] : [body.taken]));
  if (takens.length === 0) return rows.map(({ row }) => [row, undefined]);
  const parts = new LoadedParts();
  await parts.loadLists(session, takens);
  const expanded = rows.map(({ row, body }) => ({ row, pieces: body && expandedBody(parts, body) }));
  const refs = expanded.flatMap(({ pieces }) => (pieces === undefined || "flaw" in pieces ? [] : pieces));
  await parts.loadTexts(
    session,
    refs.filter((piece): piece is PartRef => !Buffer.isBuffer(piece)),
  );
  return expanded.map(({ row, pieces }) => {
    if (pieces === undefined || "flaw" in pieces) return [row, pieces];
    return [row, unlessFlawed(() => ({ body: joinPieces(parts, pieces) }))];
  });
}

/** A body with the wrong length would make a read exceed its limit. */
function expandedBody(parts: LoadedParts, body: SplitBody): readonly BodyPiece[] | { readonly flaw: string } {
  return unlessFlawed(() => {
    const pieces = expand(parts, body.taken);
    const bytes = pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.bytes), 0);
    if (bytes !== body.whole_bytes) throw new PiecesError("it has another length than it says");
    return pieces;
  });
}

function unlessFlawed<T>(work: () => T): T | { readonly flaw: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof PiecesError) return { flaw: `${NOT_RECORDED}: ${error.message}` };
    throw error;
  }
}

const BODIES_PAGE = 5_000;
const PARTS_PAGE = 5_000;
const PARTS_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Deletes the parts that only these bodies used, and tells whether there were any. The bodies were erased in this same
 * transaction, which locks the head, so no references can be added meanwhile.
 */
export async function releaseParts(session: Session, erased: readonly Buffer[]): Promise<boolean> {
  if (erased.length === 0) return false;
  const parts = new LoadedParts();
  await parts.loadLists(session, erased);
  const unheld: UsedParts = new Map();
  for (const taken of erased) collectUsedParts(parts, taken, unheld);
  for await (const { used } of usedParts(session)) {
    for (const start of used.keys()) unheld.delete(start);
    if (unheld.size === 0) return false;
  }
  if (unheld.size > 0) await session.query(deletePartsStatement, [[...unheld.keys()]]);
  return unheld.size > 0;
}

/** Positions of all bodies that share parts with this entry, itself included; none if it is stored whole. */
export async function positionsSharing(session: Session, position: number): Promise<readonly number[]> {
  const [own] = await session.query<SplitRow>(splitBodyStatement, [position]);
  if (own === undefined) return [];
  const parts = new LoadedParts();
  const shared: UsedParts = new Map();
  await parts.loadLists(session, [own.body]);
  collectUsedParts(parts, own.body, shared);
  const positions: number[] = [];
  for await (const page of pagesOfBodies(session)) {
    await parts.loadLists(
      session,
      page.map(({ body }) => body),
    );
    for (const { position: other, body } of page) {
      const used: UsedParts = new Map();
      collectUsedParts(parts, body, used);
      if ([...used.keys()].some((start) => shared.has(start))) positions.push(other);
    }
  }
  return positions;
}

/** Parts that no entry uses, and parts with a wrong digest. */
export async function findOrphanPart(session: Session, digests: PartDigests): Promise<Orphan | undefined> {
  const all: UsedParts = new Map();
  const firstUsers = new Map<number, number>();
  for await (const { position, used } of usedParts(session)) {
    for (const [start, part] of used) {
      all.set(start, part);
      if (!firstUsers.has(start)) firstUsers.set(start, position);
    }
  }
  for (let after = -1; ; ) {
    const page = await session.query<DigestedPart>(digestedPartsStatement, [after, PARTS_PAGE, PARTS_PAGE_BYTES]);
    const source = await loadPage(session, page, all);
    const digestAt = await digestsBefore(session, page, source);
    for (const { start, digest } of page) {
      const part = all.get(start);
      if (part === undefined) {
        return { position: 0, reason: `no entry uses the stored part at ${start}` };
      }
      if (!hasMatchingDigest({ source, digests }, { part, digest: bytesOfDigest(digest) }, digestAt)) {
        return {
          position: firstUsers.get(start) as number,
          reason: "a part of its body is stored under a wrong digest",
        };
      }
    }
    const last = page.at(-1);
    if (last === undefined) return undefined;
    after = last.start;
  }
}

/** Loads the parts of a page and the texts of its lists. */
async function loadPage(session: Session, page: readonly DigestedPart[], all: UsedParts): Promise<LoadedParts> {
  const parts = new LoadedParts();
  parts.note(page);
  const lists = page.filter(({ start }) => all.get(start)?.form === "list");
  const texts = lists.flatMap(({ start }) => parts.refsOf(start)).filter(({ form }) => form === "text");
  await parts.loadTexts(session, texts);
  return parts;
}

async function digestsBefore(
  session: Session,
  page: readonly DigestedPart[],
  parts: LoadedParts,
): Promise<(start: number) => Buffer | undefined> {
  const starts = page.flatMap(({ start, follows }) => (follows === null ? [] : parts.refsOf(start).slice(0, 1)));
  type Row = { readonly start: number; readonly digest: string };
  const rows = await session.query<Row>(partDigestsStatement, [starts.map(({ start }) => start)]);
  const digestByStart = new Map(rows.map(({ start, digest }) => [start, bytesOfDigest(digest)]));
  return (start) => digestByStart.get(start);
}

function bytesOfDigest(digest: string): Buffer {
  return Buffer.from(digest.replaceAll("-", ""), "hex");
}

/** The parts of each body that no earlier one used; known lists are not read again. */
async function* usedParts(
  session: Session,
): AsyncGenerator<{ readonly position: number; readonly used: UsedParts }, void> {
  const known = new Set<number>();
  for await (const page of pagesOfBodies(session)) {
    const parts = new LoadedParts();
    await parts.loadLists(
      session,
      page.map(({ body }) => body),
    );
    for (const { position, body } of page) {
      const used: UsedParts = new Map();
      collectUsedParts(parts, body, used, known);
      yield { position, used };
    }
  }
}

async function* pagesOfBodies(session: Session): AsyncGenerator<readonly SplitRow[], void> {
  for (let after = 0; ; ) {
    const page = await session.query<SplitRow>(splitBodiesStatement, [after, BODIES_PAGE]);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.position;
  }
}
