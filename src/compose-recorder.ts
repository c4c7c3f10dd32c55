// Puts the parts of a recorder together: everything that works on one log, one reading side and one store of keys.
import { Capture } from "./capture/capture.js";
import { GroupCommit } from "./capture/group-commit.js";
import { ImportDoor } from "./capture/import-door.js";
import type { Surroundings } from "./capture/pack.js";
import { audited } from "./custody/audit.js";
import { Custody } from "./custody/custody.js";
import type { Sealing } from "./custody/sealing.js";
import { Exports } from "./export/exports.js";
import { Keys } from "./guard/keys.js";
import type { EntryLog } from "./ports/entry-log.js";
import type { KeyStore } from "./ports/key-store.js";
import type { Mask } from "./ports/mask.js";
import type { Growth } from "./ports/store.js";
import type { Reading } from "./read/questions.js";
import { Recorder } from "./recorder.js";
import { TailHub } from "./tail/hub.js";
import type { TailSource } from "./tail/source.js";
import { Vitals } from "./vitals.js";

export interface RecorderSides {
  readonly log: EntryLog;
  readonly reading: Reading;
  readonly tailSource: TailSource;
  readonly keyStore: KeyStore;
  readonly sealing: Sealing;
  readonly surroundings: Surroundings;
  /** Hides secrets in what is listed. */
  readonly mask: Mask;
  /** Hides them before they are stored. */
  readonly redact?: Mask | undefined;
  /** Word from other servers that the log has grown, where there are any. */
  readonly growth?: Growth | undefined;
}

export function composeRecorder(sides: RecorderSides): Recorder {
  const { log, reading, mask, surroundings, growth } = sides;
  const commit = new GroupCommit(log);
  const capture = new Capture({ ...sides, commit });
  const custody = new Custody({ ...sides, commit });
  const note = custody.note.bind(custody);
  const keys = new Keys({ store: sides.keyStore, nowMs: surroundings.nowMs, note, mask });
  const tails = new TailHub({ source: sides.tailSource, log });
  commit.listen(() => reading.grown());
  commit.listen(() => tails.grown());
  growth?.listen(() => commit.announce());
  return new Recorder({
    reading,
    capture,
    custody,
    keys,
    tails,
    nowMs: surroundings.nowMs,
    imports: new ImportDoor({ log, capture, commit, is_redacting: sides.redact !== undefined }),
    exports: new Exports({ log, reading, mask, audited: (pieces, deed) => audited(pieces, () => note(deed)) }),
    vitals: new Vitals({ log, reading, commit, tails: () => tails.size }),
    async close() {
      growth?.close();
      await tails.close();
      await commit.drained();
      await reading.close();
      await keys.close();
      await log.close();
    },
  });
}
