// Outlines of sessions as documents: turns, compactions, files and one mark per entry, for each range of positions. So the
// shape of a session of any length is read without its entries. A reader joins the pieces of one session.
import { firstWords } from "../model/first-words.js";
import type { JsonObject } from "../model/json.js";
import type { Fold } from "./fold.js";
import { MARKS, markOf } from "./outline-marks.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";
import { activeBetween, eventOf, factsIn, joined, promptOf, type TurnEvent, type TurnPrompt } from "./turns.js";

/** A document for each range of positions, with all sessions that have entries there. */
const OUTLINES = "outlines";
/** Positions per document: small enough to rewrite with every entry. */
const BLOCK_POSITIONS = 128;
/** The paths of one piece of a session; more are left out. */
const PATHS_MAX = 400;
const PATH_CHARS_MAX = 32_768;
/** As much of a prompt as an outline shows. */
const PROMPT_WORDS = 80;

/** A turn, or a part of one; stored as a list, because there are many. */
export interface OutlineTurn {
  readonly position: number;
  readonly at_ms: number;
  readonly prompt: string;
  readonly asked: TurnPrompt;
  readonly tool_calls: number;
  readonly failures: number;
  readonly active_ms: number;
}

/** A place at which the model's context changed. */
export interface OutlineBreak {
  readonly kind: "consolidation" | "clear";
  readonly position: number;
  readonly at_ms: number;
  readonly tokens_before?: number;
}

export interface OutlineFile {
  readonly path: string;
  readonly reads: number;
  readonly writes: number;
  readonly last_position: number;
  readonly last_ms: number;
}

/** The part of a session within one range of positions. */
export interface OutlinePiece {
  /** Positions of its entries: a first one and how many follow each other, pair by pair. */
  readonly runs: readonly number[];
  /** A mark for each of them. */
  readonly marks: string;
  /** The part before its first prompt goes on with the turn of the piece before. */
  readonly lead: Pick<OutlineTurn, "tool_calls" | "failures" | "active_ms">;
  readonly turns: readonly OutlineTurn[];
  readonly breaks: readonly OutlineBreak[];
  readonly files: readonly OutlineFile[];
  /** The first event, for the turn that goes on, and the last one. */
  readonly last_event?: TurnEvent;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** A piece as it is stored: lists of values, without what is empty, because every entry rewrites those of its range. */
type StoredPiece = readonly [
  runs: readonly number[],
  marks: string,
  first_ms: number,
  last_ms: number,
  last_event: TurnEvent | "",
  lead: readonly [tool_calls: number, failures: number, active_ms: number] | 0,
  turns: readonly StoredTurn[],
  others?: { readonly breaks?: readonly OutlineBreak[]; readonly files?: readonly StoredFile[] },
];

type StoredTurn = readonly [
  position: number,
  at_ms: number,
  prompt: string,
  asks: number,
  by: number,
  tool_calls: number,
  failures: number,
  active_ms: number,
];

type StoredFile = readonly [path: string, reads: number, writes: number, last_position: number, last_ms: number];

interface Body {
  readonly pieces: readonly (readonly [session_id: string, piece: StoredPiece])[];
}

const BY_MESSAGE = 1;
const BY_INTERACTION = 2;

function toStored(piece: OutlinePiece): StoredPiece {
  const { runs, marks, first_ms, last_ms, last_event = "", lead, breaks, files } = piece;
  const { tool_calls, failures, active_ms } = lead;
  const stored = [
    ...([runs, marks, first_ms, last_ms, last_event] as const),
    tool_calls + failures + active_ms === 0 ? (0 as const) : ([tool_calls, failures, active_ms] as const),
    piece.turns.map(
      ({ position, at_ms, prompt, asked: { asks, by }, ...turn }): StoredTurn => [
        ...([position, at_ms, prompt, asks] as const),
        (by.message ? BY_MESSAGE : 0) + (by.interaction ? BY_INTERACTION : 0),
        ...([turn.tool_calls, turn.failures, turn.active_ms] as const),
      ],
    ),
  ] as const;
  if (breaks.length === 0 && files.length === 0) return stored;
  const others = {
    ...(breaks.length === 0 ? {} : { breaks }),
    ...(files.length === 0
      ? {}
      : {
          files: files.map(
            (file): StoredFile => [file.path, file.reads, file.writes, file.last_position, file.last_ms],
          ),
        }),
  };
  return [...stored, others];
}

function fromStored([runs, marks, first_ms, last_ms, last_event, lead, turns, others]: StoredPiece): OutlinePiece {
  const [tool_calls, failures, active_ms] = lead === 0 ? [0, 0, 0] : lead;
  return {
    ...{ runs, marks, first_ms, last_ms },
    ...(last_event === "" ? {} : { last_event }),
    lead: { tool_calls, failures, active_ms },
    turns: turns.map(([position, at_ms, prompt, asks, by, ...sums]) => ({
      ...{ position, at_ms, prompt },
      asked: { asks, by: { message: (by & BY_MESSAGE) !== 0, interaction: (by & BY_INTERACTION) !== 0 } },
      ...{ tool_calls: sums[0], failures: sums[1], active_ms: sums[2] },
    })),
    breaks: others?.breaks ?? [],
    files: (others?.files ?? []).map(([path, reads, writes, last_position, last]) => ({
      ...{ path, reads, writes, last_position, last_ms: last },
    })),
  };
}

export const outlineFold: Fold = {
  collection: OUTLINES,
  keysOf: ({ position, session_id }) => (session_id === "" ? [] : [String(blockOf(position))]),
  add: addRows,
  rowsIn: (document) => piecesIn(document).reduce((sum, [, [, marks]]) => sum + marks.length, 0),
  isDone: (key, position) => Number(key) < blockOf(position),
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: OUTLINES, keys: [key] });
    const positions = document === undefined ? [] : piecesIn(document).flatMap(([, [runs]]) => positionsIn({ runs }));
    return positions
      .filter((position) => position > after)
      .sort((left, right) => left - right)
      .slice(0, limit);
  },
};

function blockOf(position: number): number {
  return Math.floor(position / BLOCK_POSITIONS);
}

/** Only this fold writes this collection. */
function piecesIn({ body }: IndexDocument): Body["pieces"] {
  return (body as object as Body).pieces;
}

/** The positions of a piece's entries, in order. */
export function positionsIn({ runs }: Pick<OutlinePiece, "runs">): readonly number[] {
  const positions: number[] = [];
  for (let at = 0; at < runs.length; at += 2) {
    for (let nth = 0; nth < (runs[at + 1] ?? 0); nth += 1) positions.push((runs[at] ?? 0) + nth);
  }
  return positions;
}

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const pieces = new Map<string, StoredPiece | PieceBuilder>(document === undefined ? [] : piecesIn(document));
  for (const row of rows) {
    let own = pieces.get(row.session_id);
    if (!(own instanceof PieceBuilder)) {
      own = new PieceBuilder(own === undefined ? undefined : fromStored(own));
      pieces.set(row.session_id, own);
    }
    own.add(row);
  }
  const stored = [...pieces].map(
    ([id, piece]) => [id, piece instanceof PieceBuilder ? toStored(piece.piece()) : piece] as const,
  );
  const body: Body = { pieces: stored };
  const position = rows.at(-1)?.position ?? 0;
  return { collection: OUTLINES, key, sort: Number(key), position, labels: [], body: body as object as JsonObject };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class PieceBuilder {
  readonly #runs: number[];
  #marks: string;
  readonly #lead: Writable<OutlinePiece["lead"]>;
  readonly #turns: Writable<OutlineTurn>[];
  readonly #breaks: OutlineBreak[];
  readonly #files: Map<string, Writable<OutlineFile>>;
  #pathChars = 0;
  #lastEvent: TurnEvent | undefined;
  readonly #firstMs: number | undefined;
  #lastMs: number | undefined;
  #begunMs: number | undefined;

  constructor(piece: OutlinePiece | undefined) {
    this.#runs = [...(piece?.runs ?? [])];
    this.#marks = piece?.marks ?? "";
    this.#lead = { ...(piece?.lead ?? { tool_calls: 0, failures: 0, active_ms: 0 }) };
    this.#turns = (piece?.turns ?? []).map((turn) => ({ ...turn }));
    this.#breaks = [...(piece?.breaks ?? [])];
    this.#files = new Map((piece?.files ?? []).map((file) => [file.path, { ...file }]));
    for (const path of this.#files.keys()) this.#pathChars += path.length;
    this.#lastEvent = piece?.last_event;
    this.#firstMs = piece?.first_ms;
    this.#lastMs = piece?.last_ms;
  }

  add(row: EntryRow): void {
    const { position, created_ms } = row;
    this.#place(position);
    const event = eventOf(row);
    const mark = markOf(row, event);
    this.#marks += mark;
    // The time before a prompt belongs to the turn that it ends.
    const before = this.#turns.at(-1) ?? this.#lead;
    if (this.#lastMs !== undefined) before.active_ms += activeBetween(this.#lastMs, created_ms);
    this.#begin(row);
    const turn = this.#turns.at(-1) ?? this.#lead;
    this.#begunMs ??= created_ms;
    this.#lastMs = created_ms;
    if (row.kind === "tool_call") turn.tool_calls += 1;
    if (MARKS[mark].failed) turn.failures += 1;
    this.#lastEvent = event ?? this.#lastEvent;
    this.#break(row);
    for (const [path, how] of factsIn(row).files ?? []) this.#touch(path, how, row);
  }

  #place(position: number): void {
    const at = this.#runs.length - 2;
    const [first = 0, length = 0] = this.#runs.slice(Math.max(at, 0));
    if (at >= 0 && first + length === position) this.#runs[at + 1] = length + 1;
    else this.#runs.push(position, 1);
  }

  #begin(row: EntryRow): void {
    const asked = promptOf(row);
    if (asked === undefined) return;
    const open = this.#turns.at(-1);
    const same = joined(open?.asked, asked, this.#lastEvent);
    if (open !== undefined && same !== undefined) {
      open.asked = same;
      return;
    }
    const { position, created_ms: at_ms } = row;
    const prompt = firstWords(factsIn(row).prompt ?? "", PROMPT_WORDS);
    this.#turns.push({ position, at_ms, prompt, asked, tool_calls: 0, failures: 0, active_ms: 0 });
  }

  #break({ kind, position, created_ms: at_ms, facts }: EntryRow): void {
    if (kind !== "consolidation" && kind !== "clear") return;
    const before = facts?.tokens_before;
    this.#breaks.push({ kind, position, at_ms, ...(typeof before === "number" ? { tokens_before: before } : {}) });
  }

  #touch(path: string, how: "read" | "write", { position, created_ms }: EntryRow): void {
    let file = this.#files.get(path);
    if (file === undefined) {
      if (this.#files.size >= PATHS_MAX || this.#pathChars + path.length > PATH_CHARS_MAX) return;
      this.#pathChars += path.length;
      file = { path, reads: 0, writes: 0, last_position: position, last_ms: created_ms };
      this.#files.set(path, file);
    }
    if (how === "read") file.reads += 1;
    else file.writes += 1;
    file.last_position = position;
    file.last_ms = created_ms;
  }

  piece(): OutlinePiece {
    return {
      runs: this.#runs,
      marks: this.#marks,
      lead: this.#lead,
      turns: this.#turns,
      breaks: this.#breaks,
      files: [...this.#files.values()],
      ...(this.#lastEvent === undefined ? {} : { last_event: this.#lastEvent }),
      first_ms: this.#firstMs ?? this.#begunMs ?? 0,
      last_ms: this.#lastMs ?? 0,
    };
  }
}

// Reading.

/** Blocks per page; other work runs in between. */
const PAGE = 64;
const POSITIONS_AT_ONCE = 10_000;

/** The pieces of one session, in order. */
export async function* piecesOf(
  index: Pick<EntryIndex, "getDocuments" | "sessionPositions">,
  session_id: string,
): AsyncGenerator<OutlinePiece> {
  const blocks = new Set<number>();
  for (let after = 0; ; ) {
    const range = { session_id, order: "asc", after, limit: POSITIONS_AT_ONCE } as const;
    const positions = await index.sessionPositions(range);
    for (const position of positions) blocks.add(blockOf(position));
    after = positions.at(-1) ?? 0;
    if (positions.length < POSITIONS_AT_ONCE) break;
  }
  const keys = [...blocks].map(String);
  for (let at = 0; at < keys.length; at += PAGE) {
    const documents = await index.getDocuments({ collection: OUTLINES, keys: keys.slice(at, at + PAGE) });
    for (const document of [...documents].sort((left, right) => left.sort - right.sort)) {
      for (const [id, piece] of piecesIn(document)) if (id === session_id) yield fromStored(piece);
    }
    await othersFirst();
  }
}

/** The pieces of all sessions, the newest positions first. */
export async function* allPieces(
  index: Pick<EntryIndex, "listDocuments">,
): AsyncGenerator<readonly (readonly [session_id: string, piece: OutlinePiece])[]> {
  for (let beyond: { readonly sort: number } | undefined; ; ) {
    const query = { collection: OUTLINES, order: "desc", limit: PAGE } as const;
    const page = await index.listDocuments(beyond === undefined ? query : { ...query, beyond });
    for (const document of page) yield piecesIn(document).map(([id, piece]) => [id, fromStored(piece)] as const);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    beyond = { sort: last.sort };
    await othersFirst();
  }
}

/** Turns joined over the pieces of one session. */
export class TurnJoiner {
  readonly turns: Writable<OutlineTurn>[] = [];
  #lastEvent: TurnEvent | undefined;
  #lastMs: number | undefined;

  add(piece: OutlinePiece): void {
    const open = this.turns.at(-1);
    if (open !== undefined) {
      addTo(open, piece.lead);
      if (this.#lastMs !== undefined) open.active_ms += activeBetween(this.#lastMs, piece.first_ms);
    }
    for (const [nth, turn] of piece.turns.entries()) {
      const before = nth === 0 ? open : undefined;
      const same = joined(before?.asked, turn.asked, this.#lastEvent);
      if (before !== undefined && same !== undefined) {
        before.asked = same;
        addTo(before, turn);
      } else this.turns.push({ ...turn });
    }
    this.#lastEvent = piece.last_event ?? this.#lastEvent;
    this.#lastMs = piece.last_ms;
  }
}

function addTo(turn: Writable<OutlineTurn>, part: OutlinePiece["lead"]): void {
  turn.tool_calls += part.tool_calls;
  turn.failures += part.failures;
  turn.active_ms += part.active_ms;
}

/** Finds the turn that an entry belongs to; each session is read once. */
export class TurnFinder {
  readonly #index: Pick<EntryIndex, "getDocuments" | "sessionPositions">;
  readonly #bySession = new Map<string, Promise<readonly OutlineTurn[]>>();

  constructor(index: Pick<EntryIndex, "getDocuments" | "sessionPositions">) {
    this.#index = index;
  }

  /** Undefined before the first prompt. */
  async turnAt(
    session_id: string,
    position: number,
  ): Promise<{ readonly number: number; readonly prompt: string } | undefined> {
    if (session_id === "") return undefined;
    let turns = this.#bySession.get(session_id);
    if (turns === undefined) {
      turns = turnsOf(this.#index, session_id);
      this.#bySession.set(session_id, turns);
    }
    const found = await turns;
    const number = turnNumberAt(found, position);
    const turn = found[number - 1];
    return turn === undefined ? undefined : { number, prompt: turn.prompt };
  }
}

/** The number of the turn that a position belongs to, from 1; 0 before the first. */
export function turnNumberAt(turns: readonly OutlineTurn[], position: number): number {
  let [low, high] = [0, turns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function turnsOf(
  index: Pick<EntryIndex, "getDocuments" | "sessionPositions">,
  session_id: string,
): Promise<readonly OutlineTurn[]> {
  const joiner = new TurnJoiner();
  for await (const piece of piecesOf(index, session_id)) joiner.add(piece);
  return joiner.turns;
}

function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
