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
import { Watches } from "./import/watch/watches.js";
import type { EntryLog } from "./ports/entry-log.js";
import type { KeyStore } from "./ports/key-store.js";
import type { Mask } from "./ports/mask.js";
import type { Growth } from "./ports/store.js";
import type { Reading } from "./read/questions.js";
import { Recorder, type RecorderParts } from "./recorder.js";
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
  /** Where it is kept how far watched files were read; undefined keeps it in memory. */
  readonly bookmarks?: string | undefined;
}

export function composeRecorder(sides: RecorderSides): Recorder {
  const { log, reading, mask, surroundings, growth } = sides;
  const commit = new GroupCommit(log);
  const own = writingParts({ ...sides, commit });
  const keys = new Keys({ store: sides.keyStore, nowMs: surroundings.nowMs, note: own.note, mask });
  const tails = new TailHub({ source: sides.tailSource, log });
  commit.listen(() => reading.grown());
  commit.listen(() => tails.grown());
  growth?.listen(() => commit.announce());
  const watches = new Watches(sides.bookmarks);
  const shared = { reading, keys, tails, nowMs: surroundings.nowMs, watches };
  const vitals = new Vitals({
    ...{ log, reading, commit, tails: () => tails.size },
    isContradicted: () => own.custody.isContradicted(),
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await watches.close();
    growth?.close();
    await tails.close();
    await commit.drained();
    await own.custody.close();
    await reading.close();
    await keys.close();
    await log.close();
  };
  // Every request of a key asks for them; there are as many as keys are in use.
  const partsByKey = new Map<string, RecorderParts>();
  const partsOf = (recorded_by: string): RecorderParts => {
    const known = partsByKey.get(recorded_by);
    const parts =
      known ?? partsWith(writingParts({ ...sides, commit, surroundings: { ...surroundings, recorded_by } }));
    partsByKey.set(recorded_by, parts);
    return parts;
  };
  const partsWith = ({ capture, custody, exports, imports }: WritingParts): RecorderParts => ({
    ...shared,
    ...{ capture, custody, exports, imports, vitals },
    by: partsOf,
    close() {
      closing ??= close();
      return closing;
    },
  });
  return new Recorder(partsWith(own));
}

type WritingParts = ReturnType<typeof writingParts>;

/** All that appends to the log, and so says by whose key. */
function writingParts(sides: RecorderSides & { readonly commit: GroupCommit }) {
  const { log, reading, mask, commit } = sides;
  const capture = new Capture(sides);
  const custody = new Custody(sides);
  const note = custody.note.bind(custody);
  return {
    ...{ capture, custody, note },
    imports: new ImportDoor({ log, capture, commit, is_redacting: sides.redact !== undefined }),
    exports: new Exports({
      ...{ log, reading, mask },
      audited: (pieces, deed, onUnaudited) => audited(pieces, () => note(deed), onUnaudited),
    }),
  };
}
