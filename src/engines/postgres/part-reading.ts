// Puts bodies in parts together: their lists are loaded in one round trip, all texts that these lead to in another.

import { NOT_RECORDED } from "../../model/chain.js";
import { itemAt } from "../../model/item-at.js";
import { expand, joinPieces, type Loaded, MISSING, type PartSource } from "../parts/part-joining.js";
import { type PartRef, type Piece, PiecesFlaw, readPieces } from "../parts/pieces.js";
import type { Connections, Session } from "./connection.js";
import { toFault } from "./faults.js";
import { fromStored } from "./part-bytes.js";
import { loadListsStatement, loadTextsStatement, type PartRow, type TextsTogether } from "./part-statements.js";

export interface TakenBody {
  readonly taken: Buffer;
  /** How many bytes it has in whole. */
  readonly whole_bytes: number | null;
}

export type WholeBody = { readonly body: Buffer } | { readonly flaw: string };

/** Parts that were loaded, by where they begin. */
export class LoadedParts implements PartSource {
  readonly #bytes = new Map<number, Buffer>();

  note(rows: readonly PartRow[]): void {
    for (const [nth, bytes] of fromStored(rows).entries()) {
      if (bytes !== undefined) this.#bytes.set(itemAt(rows, nth).start, bytes);
    }
  }

  /**
   * Loads the lists that these refer to, and all that they go on from. The statement goes by a column that saves a round trip for
   * each; the lists themselves decide.
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
    // No room is made for what is not as long as it should be.
    this.note(
      rows.filter(({ start, bytes, whole_bytes }) => (whole_bytes ?? bytes.length) === bytesByStart.get(start)),
    );
  }

  /** The parts that this one refers to. */
  refsOf(start: number): readonly PartRef[] {
    const bytes = this.#bytes.get(start);
    return bytes === undefined ? [] : refsIn(bytes);
  }

  bytesOf({ start, bytes: count }: PartRef): Buffer {
    const bytes = this.#bytes.get(start);
    if (bytes?.length !== count) throw new PiecesFlaw(MISSING);
    return bytes;
  }

  load(texts: readonly PartRef[]): ReadonlyMap<number, Loaded> {
    return new Map(texts.map((text) => [text.start, { bytes: this.bytesOf(text), from: 0 }]));
  }

  #lacking(refs: readonly PartRef[]): readonly number[] {
    return [...new Set(refs.map(({ start }) => start).filter((start) => !this.#bytes.has(start)))];
  }
}

/** One row for all of them: a body has hundreds, and each row costs more than its bytes. */
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

/** What cannot be read refers to nothing; joining it tells why. */
function refsIn(taken: Buffer): readonly PartRef[] {
  try {
    return readPieces(taken).pieces.filter((piece): piece is PartRef => !Buffer.isBuffer(piece));
  } catch (error) {
    if (error instanceof PiecesFlaw) return [];
    throw error;
  }
}

/**
 * Rows with what their bodies are in whole. A body may be erased, and its parts with it, after its row was read: what does not fit
 * together is read again in one state of the store, and only then it is damage.
 */
export async function readWhole<R>(
  connections: Connections,
  read: (session: Session) => Promise<readonly R[]>,
  takenIn: (row: R) => TakenBody | undefined,
): Promise<readonly (readonly [row: R, whole: WholeBody | undefined])[]> {
  const rows = await readJoined(connections, read, takenIn);
  if (!rows.some(([, whole]) => whole !== undefined && "flaw" in whole)) return rows;
  return atOneMoment(connections, (session) => readJoined(session, read, takenIn));
}

/** Several statements that see one state of the store. */
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
  takenIn: (row: R) => TakenBody | undefined,
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

/** A length that is not the one it says it has would let a read take more than it may. */
function expandedBody(parts: LoadedParts, body: TakenBody): readonly Piece[] | { readonly flaw: string } {
  return unlessFlawed(() => {
    const pieces = expand(parts, body.taken);
    const bytes = pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.bytes), 0);
    if (bytes !== body.whole_bytes) throw new PiecesFlaw("it has another length than it says");
    return pieces;
  });
}

function unlessFlawed<T>(work: () => T): T | { readonly flaw: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof PiecesFlaw) return { flaw: `${NOT_RECORDED}: ${error.message}` };
    throw error;
  }
}
