// Hansard's own export. A whole log goes into an empty store as it was, with its positions, times and hashes; into any
// other store its entries are placed anew.
import { chainHash, commitmentOf, GENESIS_HASH, HASH_BYTES, SALT_BYTES } from "../model/chain.js";
import { claimsOf } from "../model/claims.js";
import { isJsonObject, isNestedWithin, type JsonObject, type JsonValue, jsonEquals } from "../model/json.js";
import { isCaptureKind, isReservedKind } from "../model/kinds.js";
import { limits } from "../model/limits.js";
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
import { EXPORTED_LEVELS_MAX } from "./lines.js";
import { PositionMap } from "./position-map.js";

const FORMAT = "hansard";
const VERSION = 1;

export const hansardImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isHeader(record) || parseLine(record) !== undefined),
  read,
};

function isHeader(record: JsonObject): boolean {
  return typeof record.hansard === "number" && typeof record.log_id === "string";
}

/** A line taken apart: the chain's part, and the body as its bytes were, unless they are gone. */
interface ExportedEntry {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly hash: Uint8Array;
  readonly salt: Uint8Array | undefined;
  readonly commitment: Uint8Array;
  readonly body: JsonObject | undefined;
  readonly bytes: Uint8Array | undefined;
  /** Why there is no body, where it was not erased. */
  readonly flaw: string | undefined;
}

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const placing = new Placing();
  let restoring: Restoring | undefined;
  let header: JsonObject | undefined;
  let last = { line: 0, position: 0 };
  for await (const item of source.records(EXPORTED_LEVELS_MAX)) {
    if ("reason" in item) {
      yield item;
    } else if (isHeader(item.record)) {
      header = item.record;
      if (Number(header.hansard) > VERSION) {
        yield { line: item.line, reason: `the export has form ${header.hansard}; this version reads form ${VERSION}` };
        return;
      }
      restoring = header.whole === true ? await Restoring.start(source.log, String(header.log_id)) : undefined;
    } else {
      const { line } = item;
      const entry = parseLine(item.record);
      if (entry === undefined) {
        yield { line, reason: "the line is not an entry of an export" };
        continue;
      }
      last = { line, position: entry.position };
      yield* restoring?.take(line, entry, placing) ?? placing.take(line, entry);
    }
  }
  if (header?.whole === true && typeof header.position === "number" && last.position < header.position) {
    const reason = `the file ends at position ${last.position}; the log had ${header.position} entries`;
    yield { line: last.line, reason };
  }
}

function parseLine(record: JsonObject): ExportedEntry | undefined {
  const { position, kind, recorded_at, hash, salt, commitment, erased, flaw, ...body } = record;
  if (!Number.isSafeInteger(position) || typeof kind !== "string" || typeof recorded_at !== "string") return undefined;
  const hashBytes = bytesOf(hash, HASH_BYTES);
  if (hashBytes === undefined || !(isCaptureKind(kind) || isReservedKind(kind))) return undefined;
  const envelope = { position: position as number, kind, recorded_at, hash: hashBytes };
  const saltBytes = bytesOf(salt, SALT_BYTES);
  if (saltBytes !== undefined && typeof body.id === "string") {
    const bytes = Buffer.from(JSON.stringify(body));
    return { ...envelope, salt: saltBytes, body, bytes, commitment: commitmentOf(saltBytes, bytes), flaw: undefined };
  }
  const left = bytesOf(commitment, HASH_BYTES);
  if (left === undefined) return undefined;
  const lost = { salt: undefined, body: undefined, bytes: undefined, commitment: left };
  return { ...envelope, ...lost, flaw: typeof flaw === "string" ? flaw : undefined };
}

function bytesOf(hex: unknown, count: number): Uint8Array | undefined {
  return typeof hex === "string" && /^[0-9a-f]+$/.test(hex) && hex.length === 2 * count
    ? Buffer.from(hex, "hex")
    : undefined;
}

/** Puts entries at their old places for as long as they fit. */
class Restoring {
  readonly #log: LogState;
  readonly #logId: string;
  readonly #present: number;
  #position = 0;
  #hash: Uint8Array = GENESIS_HASH;
  #isBroken = false;

  private constructor(log: LogState, logId: string, present: number) {
    this.#log = log;
    this.#logId = logId;
    this.#present = present;
  }

  /** Only an empty log can become the copy of another; one that carries its id is a copy that was begun before. */
  static async start(log: LogState, logId: string): Promise<Restoring | undefined> {
    const { log_id, position } = await log.head();
    return position === 0 || log_id === logId ? new Restoring(log, logId, position) : undefined;
  }

  async *take(line: number, entry: ExportedEntry, placing: Placing): AsyncGenerator<ImportStep> {
    const flaw = this.#isBroken ? undefined : this.#flawOf(entry);
    if (flaw !== undefined) {
      this.#isBroken = true;
      yield { line, reason: `${flaw}; from here on entries are placed anew` };
      // What was changed is not worth keeping; what only lacks a neighbour is whole.
      if (entry.position <= this.#position + 1) return;
    }
    if (this.#isBroken) {
      yield* placing.take(line, entry);
      return;
    }
    this.#position = entry.position;
    this.#hash = entry.hash;
    const session_id = typeof entry.body?.session_id === "string" ? entry.body.session_id : "";
    const placed = (at: number): void => placing.note(entry.position, at);
    if (entry.position > this.#present) {
      // It keeps its place, or nothing after it could; that its body is missing is said here and by every verify.
      if (entry.flaw !== undefined) yield { line, reason: lostReason(entry.flaw) };
      const refused = (): ImportStep => {
        this.#isBroken = true;
        return placing.step(line, entry);
      };
      yield { line, copy: toCopy(entry), log_id: this.#logId, session_id, placed, refused };
      return;
    }
    const stored = await this.#log.hashAt(entry.position);
    if (stored !== undefined && Buffer.compare(stored, entry.hash) === 0) {
      placed(entry.position);
      yield { line, present: true, session_id };
    } else {
      this.#isBroken = true;
      yield* placing.take(line, entry);
    }
  }

  #flawOf(entry: ExportedEntry): string | undefined {
    if (entry.position !== this.#position + 1) return `position ${this.#position + 1} is missing before this line`;
    if (Buffer.compare(chainHash({ ...entry, previous: this.#hash }), entry.hash) === 0) return undefined;
    return "the entry is not the one that was exported: its hash does not fit";
  }
}

function toCopy(entry: ExportedEntry): EntryCopy {
  const { position, kind, recorded_at, commitment, hash, salt, body, bytes } = entry;
  const chained = { position, kind, recorded_at, commitment, hash };
  if (salt === undefined || body === undefined || bytes === undefined) return { ...chained, claims: [] };
  return { ...chained, salt, body: bytes, claims: claimsOf(kind, body) };
}

function lostReason(flaw: string): string {
  return `the entry was damaged before it was exported: ${flaw}`;
}

/** The same id must stand for the same content; a time that the log added itself is no part of it. */
function otherContent(stored: JsonObject | undefined, body: JsonObject): string | undefined {
  if (stored === undefined) return undefined;
  const present = withinLimit(stored);
  if (jsonEquals({ ...present, created_at: present.created_at ?? body.created_at }, body)) return undefined;
  return `id ${body.id} is taken here by other content`;
}

/** Fields that no kind knows lie deeper in `extra` than they were given; the deepest can be placed anew only as text. */
function withinLimit(body: JsonObject): JsonObject {
  const { extra } = body;
  // The body and `extra` are levels themselves.
  const levels = limits.nesting_levels - 2;
  if (!isJsonObject(extra) || isNestedWithin(extra, levels + 1)) return body;
  const pairs = Object.entries(extra).map(([name, value]): [string, JsonValue] => {
    return [name, isNestedWithin(value, levels) ? value : JSON.stringify(value)];
  });
  return { ...body, extra: Object.fromEntries(pairs) };
}

/** Gives entries new places: they keep ids and times, and a consolidation is led to the new place of what it names. */
class Placing {
  readonly #positions = new PositionMap();

  note(from: number, to: number): void {
    this.#positions.set(from, to);
  }

  *take(line: number, entry: ExportedEntry): Generator<ImportStep> {
    yield this.step(line, entry);
  }

  step(line: number, entry: ExportedEntry): ImportStep {
    const { position, kind, recorded_at, body } = entry;
    if (body === undefined) {
      const erased = "the entry was erased; nothing is left of it to place anew";
      return { line, reason: entry.flaw === undefined ? erased : lostReason(entry.flaw) };
    }
    const dated = { ...withinLimit(body), created_at: body.created_at ?? recorded_at };
    if (kind === "consolidation") {
      return { line, later: () => this.#consolidation({ ...dated, kind, id: String(body.id) }, body.through) };
    }
    const placed = (at: number): void => this.note(position, at);
    const beyond = (stored: JsonObject | undefined): RejectedStep | undefined => {
      const reason = otherContent(stored, dated);
      return reason === undefined ? undefined : { line, reason };
    };
    if (isCaptureKind(kind)) return { line, entry: { ...dated, kind, id: String(body.id) }, placed, beyond };
    // What a log writes about itself is said about that log, and here only kept.
    const id = hashedId(FORMAT, [kind, body, recorded_at]);
    const raw = { kind: "raw", id, created_at: dated.created_at, source: FORMAT, record: { kind, ...body } };
    return { line, entry: raw, placed };
  }

  #consolidation(entry: ImportedEntry, through: unknown): ImportedEntry | string {
    const at = this.#positions.atOrBelow(Number(through));
    return at === undefined ? `position ${through}, which it names, is not in this file` : { ...entry, through: at };
  }
}
