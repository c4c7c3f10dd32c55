// A file as its importer is given it: by lines, as a document or by tables, whichever the importer declares to read.
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { limits } from "../model/limits.js";
import type { WallClock } from "../model/time.js";
import { readDocument } from "./document.js";
import type { ImportProgress } from "./import-files.js";
import type { Importer, LogState, NearFiles, Opening, Resumption, SourceRecord, TableRow } from "./importer.js";
import type { Account } from "./intake.js";
import { readRecords } from "./lines.js";
import type { OpenedFile } from "./source-files.js";
import type { Tables } from "./tables.js";

/** Lines that are read on where they were left. */
export interface GrowingLines {
  readonly resume: Resumption;
  records(levels?: number): AsyncIterable<Iterable<SourceRecord>>;
}

interface SourceParts {
  readonly opened: Pick<OpenedFile, "size" | "modified_ms" | "chunks">;
  readonly opening: Opening;
  readonly clock: WallClock;
  readonly log: LogState;
  readonly as_new: boolean;
  readonly defers: () => boolean;
  /** Hears how far it is. */
  readonly tell: ((progress: ImportProgress) => void) | undefined;
  readonly account: Account;
  readonly database: Tables | undefined;
  readonly growing?: GrowingLines;
}

/** A source that is read once, from its start to its end. */
const fromStart: Resumption = { known: undefined, note: () => undefined };

export class FileSource {
  readonly #file: string;
  readonly #source: SourceParts;

  constructor(file: string, source: SourceParts) {
    this.#file = file;
    this.#source = source;
  }

  async read(importer: Importer): Promise<ReturnType<Importer["read"]>> {
    const { opened, opening, clock, log, as_new, defers, database } = this.#source;
    const facts = {
      path: this.#file,
      stem: stemOf(this.#file),
      modified_ms: opened.modified_ms,
      opening,
      clock,
      log,
      as_new,
      defers,
      near: nearFiles(this.#file),
    };
    if (importer.reads === "lines") {
      const { growing } = this.#source;
      const records = (levels?: number) => growing?.records(levels) ?? readRecords(this.#chunks(), levels);
      return importer.read({ ...facts, resume: growing?.resume ?? fromStart, records });
    }
    if (importer.reads === "document") {
      const document = await readDocument(() => this.#chunks(), opened.size);
      const header = (names: readonly string[]) => document.header(names);
      return importer.read({ ...facts, header, values: (path) => document.values(path) });
    }
    const rows = (query: string, ...values: readonly (string | number)[]) => this.#rows(query, values);
    return importer.read({ ...facts, tables: database?.tables ?? {}, rows });
  }

  /** The file's bytes, counted as they are read, so that batches are cut by them and a person sees how far it is. */
  #chunks(): AsyncIterable<Buffer> | undefined {
    const { opened, account } = this.#source;
    const chunks = opened.chunks();
    if (chunks === undefined) return undefined;
    const tell = (): void => this.#tell();
    return (async function* counted() {
      for await (const chunk of chunks) {
        yield chunk;
        account.bytes += chunk.length;
        tell();
      }
    })();
  }

  *#rows(query: string, values: readonly (string | number)[]): Generator<TableRow> {
    const { account, database } = this.#source;
    for (const row of database?.rows(query, ...values) ?? []) {
      for (const value of Object.values(row)) {
        if (typeof value === "string" || value instanceof Uint8Array) account.bytes += value.length;
      }
      this.#tell();
      yield row;
    }
  }

  #tell(): void {
    const { account, opened, tell } = this.#source;
    const { added, existing } = account;
    // A long document is read twice, and unpacked bytes are more than the file has.
    const bytes = Math.min(account.bytes, opened.size ?? account.bytes);
    tell?.({ file: this.#file, bytes, bytes_total: opened.size, added, existing });
  }
}

/** The name without folder and ending; a file that was rotated away is called as it was before. */
function stemOf(file: string): string {
  if (file === "-") return "stdin";
  const name = basename(file).replace(/(?<=\.(?:jsonl?|ndjson|log))\.\d+$/, "");
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

/** What a record names may be anything; nothing outside of three levels up is looked at. */
function nearFiles(file: string): NearFiles {
  const folder = resolve(dirname(file));
  const outermost = resolve(folder, "../../..");
  const within = (path: string): string | undefined => {
    const full = resolve(folder, path);
    return file !== "-" && full.startsWith(outermost.endsWith(sep) ? outermost : outermost + sep) ? full : undefined;
  };
  return {
    async read(path) {
      const full = within(path);
      const found = full === undefined ? undefined : await stat(full).catch(() => undefined);
      if (full === undefined || found?.isFile() !== true || found.size > limits.request_bytes) return undefined;
      return readFile(full, "utf8").catch(() => undefined);
    },
    async list(path) {
      const full = within(path);
      return full === undefined ? [] : (await readdir(full).catch((): string[] => [])).sort();
    },
  };
}
