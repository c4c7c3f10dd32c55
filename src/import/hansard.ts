// Hansard's own export. A complete log is restored into an empty store with its positions, times and hashes; in any
// other store its entries get new positions.

import { itemAt } from "../model/item-at.js";
import { isJsonObject, isNestedWithin, type JsonObject, type JsonValue, jsonEquals } from "../model/json.js";
import { isCaptureKind } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { type ExportedEntry, formFlaw, isHeader, parseLine, verifyExport } from "./export-check.js";
import { ExportedMemories } from "./exported-memories.js";
import { hashedId } from "./identity.js";
import type {
  EntryCopy,
  ImportedEntry,
  ImportSource,
  ImportStep,
  LineImporter,
  LogState,
  Opening,
  RejectedStep,
} from "./importer.js";
import { EXPORTED_LEVELS_MAX, oneByOne } from "./lines.js";

const FORMAT = "hansard";

export const hansardImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isHeader(record) || parseLine(record) !== undefined),
  async check(records) {
    const found = await verifyExport(records, { skips_bad_lines: true });
    if (found.ok) return undefined;
    return `line ${found.line}: ${found.reason}; nothing was imported (--as-new imports what can be read, at new positions)`;
  },
  read,
};

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const placing = new Placing();
  const memories = new ExportedMemories();
  let restoring: Restoring | undefined;
  for await (const item of oneByOne(source.records(EXPORTED_LEVELS_MAX))) {
    if ("reason" in item) {
      yield item;
    } else if (isHeader(item.record)) {
      // With `as_new`, nothing was checked before.
      const flaw = formFlaw(item.record);
      if (flaw !== undefined) {
        yield { line: item.line, reason: flaw };
        return;
      }
      // What a person decided there is decided here only if the log is one's own.
      const keepsPlaces = item.record.whole === true && !source.as_new;
      const isTrusted = keepsPlaces && (source.restores || !(await hasMemories(source)));
      restoring = isTrusted ? await Restoring.start(source.log, String(item.record.log_id)) : undefined;
    } else {
      const { line } = item;
      const entry = parseLine(item.record);
      if (entry === undefined) {
        yield { line, reason: "the line is not an entry of an export" };
        continue;
      }
      if (restoring === undefined) memories.take(line, entry);
      yield* restoring?.take(line, entry, placing) ?? placing.take(line, entry);
    }
  }
  yield* memories.steps();
}

async function hasMemories(source: ImportSource): Promise<boolean> {
  for await (const item of oneByOne(source.records(EXPORTED_LEVELS_MAX))) {
    if ("record" in item && typeof item.record.kind === "string" && item.record.kind.startsWith("memory_")) return true;
  }
  return false;
}

/** Restores entries at their old positions, unless another program writes to the log meanwhile. */
class Restoring {
  readonly #log: LogState;
  readonly #logId: string;
  readonly #present: number;
  #isBroken = false;

  private constructor(log: LogState, logId: string, present: number) {
    this.#log = log;
    this.#logId = logId;
    this.#present = present;
  }

  /** Only an empty log can become the copy of another; one with its id is a copy that was begun before. */
  static async start(log: LogState, logId: string): Promise<Restoring | undefined> {
    const { log_id, position } = await log.head();
    return position === 0 || log_id === logId ? new Restoring(log, logId, position) : undefined;
  }

  async *take(line: number, entry: ExportedEntry, placing: Placing): AsyncGenerator<ImportStep> {
    if (this.#isBroken) {
      yield* placing.take(line, entry);
      return;
    }
    const session_id = typeof entry.fields?.session_id === "string" ? entry.fields.session_id : "";
    const onPlaced = (at: number): void => placing.note(entry.position, at);
    if (entry.position > this.#present) {
      const onRefused = (): ImportStep => {
        this.#isBroken = true;
        return placing.step(line, entry);
      };
      yield { line, copy: toCopy(entry), log_id: this.#logId, session_id, onPlaced, onRefused };
      return;
    }
    const stored = await this.#log.hashAt(entry.position);
    if (stored !== undefined && Buffer.compare(stored, entry.hash) === 0) {
      onPlaced(entry.position);
      yield { line, present: true, session_id };
    } else {
      this.#isBroken = true;
      yield* placing.take(line, entry);
    }
  }
}

function toCopy(entry: ExportedEntry): EntryCopy {
  const { fields: _, flaw: __, salt, body, ...chained } = entry;
  return salt === undefined || body === undefined ? chained : { ...chained, salt, body };
}

function lostReason(flaw: string): string {
  return `the entry was damaged before it was exported: ${flaw}`;
}

/** The same id must have the same content, apart from a time that the log added itself. */
function otherContent(stored: JsonObject | undefined, body: JsonObject): string | undefined {
  if (stored === undefined) return undefined;
  const present = withinLimit(stored);
  if (jsonEquals({ ...present, created_at: present.created_at ?? body.created_at }, body)) return undefined;
  return `id ${body.id} is already used for other content`;
}

/** Unknown fields are nested deeper in `extra` than when they were captured; the deepest can be imported only as text. */
function withinLimit(body: JsonObject): JsonObject {
  const { extra } = body;
  // The body and `extra` are levels too.
  const levels = limits.nesting_levels - 2;
  if (!isJsonObject(extra) || isNestedWithin(extra, levels + 1)) return body;
  const pairs = Object.entries(extra).map(([name, value]): [string, JsonValue] => {
    return [name, isNestedWithin(value, levels) ? value : JSON.stringify(value)];
  });
  return { ...body, extra: Object.fromEntries(pairs) };
}

/** Gives entries new positions: they keep ids and times, and positions they name are adjusted. */
class Placing {
  readonly #positions = new PositionMap();

  note(from: number, to: number): void {
    this.#positions.set(from, to);
  }

  *take(line: number, entry: ExportedEntry): Generator<ImportStep> {
    yield this.step(line, entry);
  }

  step(line: number, entry: ExportedEntry): ImportStep {
    const { position, kind, recorded_at, fields: body } = entry;
    if (body === undefined) {
      const erased = "the entry was erased; nothing is left to import";
      return { line, reason: entry.flaw === undefined ? erased : lostReason(entry.flaw) };
    }
    const dated = { ...withinLimit(body), created_at: body.created_at ?? recorded_at };
    if (kind === "consolidation" || kind === "withdrawal") {
      return { line, deferred: () => this.#moved({ ...dated, kind, id: String(body.id) }) };
    }
    const onPlaced = (at: number): void => this.note(position, at);
    const onExisting = (stored: JsonObject | undefined): RejectedStep | undefined => {
      const reason = otherContent(stored, dated);
      return reason === undefined ? undefined : { line, reason };
    };
    if (isCaptureKind(kind)) return { line, entry: { ...dated, kind, id: String(body.id) }, onPlaced, onExisting };
    // What a log recorded about itself is not true of this log: it is stored as a raw record.
    const id = hashedId(FORMAT, [kind, body, recorded_at]);
    const raw = { kind: "raw", id, created_at: dated.created_at, source: FORMAT, record: { kind, ...body } };
    return { line, entry: raw, onPlaced };
  }

  /** 0 is not a position: nothing was dropped. */
  #through(named: number): number | undefined {
    return named === 0 ? 0 : this.#positions.atOrBelow(named);
  }

  /** The new position of a named position; a consolidation ends at the last entry before it. */
  #moved(entry: ImportedEntry): readonly ImportedEntry[] | string {
    const field = entry.kind === "withdrawal" ? "withdraws" : "through";
    const named = Number(entry[field]);
    const at = field === "withdraws" ? this.#positions.at(named) : this.#through(named);
    if (at === undefined) return `it names position ${named}, which is not in this file`;
    const { kept } = entry;
    const placed = { ...entry, [field]: at };
    if (!Array.isArray(kept)) return [placed];
    return [{ ...placed, kept: kept.flatMap((position) => this.#positions.at(Number(position)) ?? []) }];
  }
}

/** New positions of imported entries by their old ones, stored as ranges, since most entries move together. */

interface Run {
  readonly from: number;
  readonly to: number;
  length: number;
}

class PositionMap {
  readonly #runs: Run[] = [];

  /** Positions ascend, as in an export; one that does not is ignored. */
  set(from: number, to: number): void {
    const last = this.#runs.at(-1);
    if (last !== undefined && from < last.from + last.length) return;
    if (last !== undefined && from === last.from + last.length && to === last.to + last.length) last.length += 1;
    else this.#runs.push({ from, to, length: 1 });
  }

  /** The new position. */
  at(from: number): number | undefined {
    const run = this.#runAtOrBelow(from);
    return run !== undefined && from < run.from + run.length ? run.to + from - run.from : undefined;
  }

  /** The new position of the greatest known position that is not above this one. */
  atOrBelow(from: number): number | undefined {
    const run = this.#runAtOrBelow(from);
    return run === undefined ? undefined : run.to + Math.min(from - run.from, run.length - 1);
  }

  #runAtOrBelow(from: number): Run | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (itemAt(this.#runs, middle).from <= from) low = middle + 1;
      else high = middle;
    }
    return this.#runs[low - 1];
  }
}
