// The outline of a session: its turns, where its context changed, its children and files, and a map of its entries. Read from
// pieces of it, so a session of any length opens without its entries.
import {
  type OutlineBreak,
  type OutlineFile,
  type OutlinePiece,
  piecesOf,
  positionsIn,
  TurnJoiner,
  turnNumberAt,
} from "../index/outline-fold.js";
import { MARKS, type Mark, type OutlineBin, outlineBins } from "../index/outline-marks.js";
import { relativeTo, type SessionRow } from "../index/session-fold.js";
import { formatTime } from "../model/time.js";
import type { CountedCall } from "../usage/call-ledger.js";
import { rounded } from "../usage/call-ledger.js";
import { getSession } from "./session-list.js";
import { type SessionOutline, turnColumns } from "./session-outline.js";
import type { SessionParts } from "./session-reader.js";

const BINS = 200;
const FILES_MAX = 500;
const CHILDREN_MAX = 500;
const BREAKS_MAX = 1_000;

type TurnRow = SessionOutline["turns"]["rows"][number];

export async function outlineOf(parts: SessionParts, session_id: string): Promise<SessionOutline | undefined> {
  const { index, table, ledger, mask } = parts;
  const session = await getSession(index, session_id);
  if (session === undefined) return undefined;
  await table.refresh();
  const joiner = new TurnJoiner();
  const files = new FileSums(session);
  const breaks: OutlineBreak[] = [];
  const bins = new Bins(session);
  for await (const piece of piecesOf(index, session_id)) {
    joiner.add(piece);
    bins.add(piece);
    for (const one of piece.breaks) if (breaks.length < BREAKS_MAX) breaks.push(one);
    for (const file of piece.files) files.add(file);
  }
  const calls = (await ledger.calls()).filter((call) => call.session_id === session_id && !call.is_implausible);
  const spent = spentByTurn(calls, joiner.turns);
  const rows = joiner.turns.map((turn, nth): TurnRow => {
    const own = spent.get(nth + 1);
    return [
      turn.position,
      turn.at_ms - session.first_ms,
      mask.text(turn.prompt),
      turn.tool_calls,
      turn.failures,
      own?.tokens ?? 0,
      own?.cost === undefined ? null : toCents(own.cost),
      turn.active_ms,
    ];
  });
  const children = table.childrenOf(session_id);
  const bySession = await ledger.bySession();
  return {
    session_id,
    first_at: formatTime(session.first_ms),
    last_at: formatTime(session.last_ms),
    turns: { columns: turnColumns, rows },
    breaks: breaks.map(({ at_ms, ...one }) => ({ ...one, at: formatTime(at_ms) })),
    children: children.slice(0, CHILDREN_MAX).flatMap((id) => {
      const child = table.get(id);
      if (child === undefined) return [];
      const costs = table.treeOf(id).flatMap((each) => bySession.get(each)?.cost ?? []);
      return {
        session_id: id,
        title: mask.text(child.title || child.first_prompt),
        first_at: formatTime(child.first_ms),
        first_position: child.first_position,
        entries: child.entries,
        failures: child.failures,
        active_ms: child.active_ms,
        ...(costs.length === 0 ? {} : { cost_total: rounded(costs.reduce((sum, cost) => sum + cost, 0)) }),
      };
    }),
    children_count: children.length,
    files: files.greatest(FILES_MAX).map(({ last_ms: _, path, ...file }) => ({ path: mask.text(path), ...file })),
    files_count: files.size,
    by_kind: session.by_kind,
    bins: bins.answer(),
  };
}

/** A hundredth of a cent is as exact as a turn need be. */
function toCents(cost: number): number {
  return Number(cost.toFixed(4));
}

/** Tokens and cost by the number of the turn; 0 has what came before the first. */
function spentByTurn(
  calls: readonly CountedCall[],
  turns: TurnJoiner["turns"],
): ReadonlyMap<number, { readonly tokens: number; readonly cost?: number }> {
  const spent = new Map<number, { tokens: number; cost?: number }>();
  for (const { position, comparable, cost } of calls) {
    const number = turnNumberAt(turns, position);
    const own = spent.get(number) ?? { tokens: 0 };
    own.tokens += (comparable[0] ?? 0) + (comparable[1] ?? 0);
    if (cost !== undefined) own.cost = (own.cost ?? 0) + cost;
    spent.set(number, own);
  }
  return spent;
}

/** The files of a session, below its working directory where they are there. */
class FileSums {
  readonly #cwd: string;
  readonly #byPath = new Map<string, { -readonly [K in keyof OutlineFile]: OutlineFile[K] }>();

  constructor({ cwd }: Pick<SessionRow, "cwd">) {
    this.#cwd = cwd;
  }

  add(file: OutlineFile): void {
    const path = relativeTo(this.#cwd, file.path);
    const own = this.#byPath.get(path);
    if (own === undefined) this.#byPath.set(path, { ...file, path });
    else {
      own.reads += file.reads;
      own.writes += file.writes;
      own.last_position = Math.max(own.last_position, file.last_position);
      own.last_ms = Math.max(own.last_ms, file.last_ms);
    }
  }

  get size(): number {
    return this.#byPath.size;
  }

  /** Those that were changed most first, then those that were read most. */
  greatest(count: number): readonly OutlineFile[] {
    return [...this.#byPath.values()]
      .sort(
        (left, right) =>
          right.writes - left.writes || right.reads - left.reads || right.last_position - left.last_position,
      )
      .slice(0, count);
  }
}

/** Counts of a session's entries by ranges of position. */
class Bins {
  readonly #first: number;
  readonly #size: number;
  readonly #rows: number[][];

  constructor({ first_position, last_position }: SessionRow) {
    this.#first = first_position;
    this.#size = Math.max(1, Math.ceil((last_position - first_position + 1) / BINS));
    const count = Math.ceil((last_position - first_position + 1) / this.#size);
    this.#rows = Array.from({ length: count }, () => outlineBins.map(() => 0));
  }

  add(piece: OutlinePiece): void {
    for (const [nth, position] of positionsIn(piece).entries()) {
      const row = this.#rows[Math.floor((position - this.#first) / this.#size)];
      const column = COLUMN_BY_BIN.get(MARKS[piece.marks.charAt(nth) as Mark].bin);
      if (row !== undefined && column !== undefined) row[column] = (row[column] ?? 0) + 1;
    }
  }

  answer(): SessionOutline["bins"] {
    return { first_position: this.#first, positions: this.#size, columns: outlineBins, rows: this.#rows };
  }
}

const COLUMN_BY_BIN = new Map<OutlineBin, number>(outlineBins.map((name, nth) => [name, nth]));
