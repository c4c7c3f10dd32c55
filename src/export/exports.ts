// Exports of an open store: the chosen entries as text, each export written down before its first piece is handed out.

import type { RowKey, RowQuery, SessionRange } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import type { Mask } from "../model/mask.js";
import type { SessionSummary } from "../sessions/session-summary.js";
import { type ExportQuery, targetOf } from "./export-query.js";

/** Who exports, and the name under which several calls are one deed. */
export interface ExportDeed {
  readonly actor: string;
  readonly id: string | undefined;
}

/** Told that an export is not in the record, because the store cannot be written, and why. */
export type OnUnaudited = (fault: Fault) => void;

/** What an export asks the reading side for. */
interface ExportReads {
  positions(query: RowQuery): Promise<readonly RowKey[]>;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** The summary with nothing masked. */
  recordedSummary(session_id: string): Promise<SessionSummary | undefined>;
}

export interface ExportsParts {
  readonly log: EntryLog;
  readonly calls: ExportReads;
  readonly mask: Mask;
  /** Hands the pieces on once it is written down that somebody exports. */
  readonly audited: (
    pieces: AsyncGenerator<string>,
    note: { readonly action: "export"; readonly target: string } & ExportDeed,
    onUnaudited: OnUnaudited | undefined,
  ) => AsyncGenerator<string, void, undefined>;
}

export class Exports {
  readonly #parts: ExportsParts;

  constructor(parts: ExportsParts) {
    this.#parts = parts;
  }

  async *entries(
    query: ExportQuery,
    deed: ExportDeed,
    onUnaudited?: OnUnaudited,
  ): AsyncGenerator<string, void, undefined> {
    const { log, calls, mask, audited } = this.#parts;
    // Loaded when it is first needed: the formats of exports lean on those of imports, and no other call wants them.
    const { exportEntries } = await import("./export-entries.js");
    const pieces = exportEntries(
      {
        log,
        mask,
        positions: (wish) => calls.positions(wish),
        sessionPositions: (range) => calls.sessionPositions(range),
        sessionSummary: (of) => calls.recordedSummary(of),
      },
      query,
    );
    yield* audited(pieces, { action: "export", target: targetOf(query), ...deed }, onUnaudited);
  }
}
