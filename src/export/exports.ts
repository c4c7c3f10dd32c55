// Exports of an open store: the chosen entries as text, each export written down before its first piece is handed out.

import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import type { Mask } from "../model/mask.js";
import type { Asking } from "../reading/questions.js";
import { type ExportQuery, targetOf } from "./export-query.js";

/** Who exports, and the name under which several calls are one deed. */
export interface ExportDeed {
  readonly actor: string;
  readonly id: string | undefined;
}

/** Told that an export is not in the record, because the store cannot be written, and why. */
export type OnUnaudited = (fault: Fault) => void;

export interface ExportsParts {
  readonly log: EntryLog;
  readonly reading: Asking;
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
    const { log, reading, mask, audited } = this.#parts;
    // Loaded when it is first needed: the formats of exports lean on those of imports, and no other call wants them.
    const { exportEntries } = await import("./export-entries.js");
    const pieces = exportEntries(
      {
        log,
        mask,
        positions: (wish) => reading.ask("positions", wish),
        sessionPositions: (range) => reading.ask("sessionPositions", range),
        sessionSummary: (of) => reading.ask("recordedSummary", of),
      },
      query,
    );
    yield* audited(pieces, { action: "export", target: targetOf(query), ...deed }, onUnaudited);
  }
}
