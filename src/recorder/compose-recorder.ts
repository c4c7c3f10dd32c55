// Assembles a recorder from its parts: everything that works on one log, one reading side and one store of keys.

import type { Growth } from "../engines/port.js";
import { Exports } from "../export/exports.js";
import { type KeyStore, Keys } from "../guard/keys.js";
import { allows, type Scope } from "../guard/scopes.js";
import { type WatchClock, Watches } from "../import/watch/watches.js";
import type { AlteredNote } from "../log/altered-note.js";
import { audited } from "../log/audit.js";
import { Capture } from "../log/capture/capture.js";
import type { WriteContext } from "../log/capture/draft.js";
import { GroupCommit } from "../log/capture/group-commit.js";
import { ImportWriter } from "../log/capture/import-writer.js";
import { OnceWriter } from "../log/capture/record-once.js";
import { type OnRecorded, RecordedHooks } from "../log/capture/recorded-hooks.js";
import type { EntryLog } from "../log/port.js";
import type { Sealing } from "../log/seals/sealing.js";
import { Learning, type LearningOptions, ModelLearning } from "../memories/background/learning.js";
import { MemoryWriter } from "../memories/memory-writer.js";
import { parseDailyTokens } from "../memories/propose/model/daily-budget.js";
import { openExtractor } from "../memories/propose/model/extractors.js";
import { type Leases, leaseOf } from "../model/lease.js";
import type { Mask } from "../model/mask.js";
import { orThrow } from "../model/rejection.js";
import { SerialQueue } from "../model/scheduling.js";
import { type Calls, calls as callTable } from "../operations/calls.js";
import { askedWith } from "../operations/operation.js";
import type { StoreWork } from "../operations/recording.js";
import { bindCalls, type Reading } from "../reading/call-table.js";
import { TailHub } from "../reading/tail/hub.js";
import type { TailSource } from "../reading/tail/read-tail.js";
import { importedSessions } from "./imported-sessions.js";
import { Monitoring } from "./monitoring.js";
import { methodsBy, type Operate } from "./operation-methods.js";
import { Recorder, type RecorderParts } from "./recorder.js";
import { StoreAdmin } from "./store-admin.js";
import { Telemetry } from "./telemetry.js";

export interface StoreParts {
  readonly log: EntryLog;
  /** Notes that an altered body was read. */
  readonly altered: AlteredNote;
  readonly reading: Reading;
  readonly tailSource: TailSource;
  readonly keyStore: KeyStore;
  readonly sealing: Sealing;
  readonly writeContext: WriteContext;
  /** Hides secrets in lists. */
  readonly mask: Mask;
  /** Hides them before they are stored. */
  readonly redact?: Mask | undefined;
  /** Notifications from other servers that the log has grown, if there are any. */
  readonly growth?: Growth | undefined;
  /** Which of all processes on the store does what only one should; without it, there are no others. */
  readonly leases?: (() => Leases) | undefined;
  /** Where the progress of watched files is stored; undefined keeps it in memory. */
  readonly bookmarks?: string | undefined;
  /** The clock for watching files; the system's by default. */
  readonly watchClock?: WatchClock | undefined;
  /** Called with recorded entries. */
  readonly onRecorded?: OnRecorded | undefined;
}

export function composeRecorder(opened: StoreParts): Recorder {
  const { log, reading, mask, writeContext, growth } = opened;
  const calls: Calls = bindCalls(callTable, (name, query) => reading.ask(name, query));
  const operate: Operate = (operation, { query, form }) => reading.ask(operation.name, query, form);
  const store = { ...opened, calls, operate };
  const commit = new GroupCommit(log);
  const queue = new SerialQueue();
  const recorded = new RecordedHooks();
  if (store.onRecorded !== undefined) recorded.add(store.onRecorded);
  const own = writingParts({ ...store, commit, queue, recorded });
  const keys = new Keys({ store: store.keyStore, nowMs: writeContext.nowMs, note: own.note, mask });
  const tails = new TailHub({ source: store.tailSource, log });
  commit.listen(() => reading.grown());
  commit.listen((how) => tails.grown(how));
  growth?.listen(() => commit.announce());
  const watches = new Watches(store.bookmarks, store.watchClock);
  const telemetry = new Telemetry({
    calls,
    writer: own.once,
    nowMs: writeContext.nowMs,
    isPressed: () => commit.load.is_pressed,
    openLease: () => leaseNamed("traces"),
  });
  commit.listen(() => telemetry.grown());
  const shared = {
    calls,
    keys,
    tails,
    watches,
    nowMs: writeContext.nowMs,
    learn: (options: LearningOptions) => learn(options),
  };
  const monitoring = new Monitoring({
    log,
    altered: store.altered,
    calls,
    commit,
    recorded,
    tails: () => tails.size,
    isContradicted: () => own.admin.isContradicted(),
  });
  let leases: Leases | undefined;
  const leaseNamed = (name: string) => {
    leases ??= store.leases?.();
    return leases === undefined ? undefined : leaseOf(leases, name);
  };
  let learning: Learning | undefined;
  let modelLearning: ModelLearning | undefined;
  const learn = (options: LearningOptions): void => {
    if (learning !== undefined) return;
    const { model, look_ms = LOOK_MS, onTrouble } = options;
    const daily_tokens = orThrow(parseDailyTokens(options.daily_tokens));
    // Refused before anything begins.
    const extractor = model === undefined ? undefined : openExtractor(model);
    const parts = {
      passes: own.memories.passes,
      nowMs: writeContext.nowMs,
      isPressed: () => commit.load.is_pressed,
    };
    learning = new Learning(
      { ...parts, lease: leaseNamed("learning"), headPosition: async () => (await log.head()).position },
      options,
    );
    commit.listen(() => learning?.grown());
    learning.grown();
    if (extractor === undefined) return;
    const lease = leaseNamed("model");
    modelLearning = new ModelLearning({
      ...parts,
      lease,
      extractor,
      daily_tokens,
      entries_min: options.entries_min,
      look_ms,
      onTrouble,
    });
  };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await watches.close();
    growth?.close();
    await telemetry.close();
    await learning?.close();
    await modelLearning?.close();
    await tails.close();
    await commit.drained();
    await own.admin.close();
    await reading.close();
    await keys.close();
    await log.close();
  };
  const partsOf = (recorded_by: string, scope: Scope): RecorderParts => {
    const own = { writeContext: { ...writeContext, recorded_by }, reads_nothing: scope === "capture" };
    return partsWith(writingParts({ ...store, commit, queue, recorded, ...own }), allows(scope, "capture"));
  };
  const partsWith = (
    { capture, admin, exports, imports, memories, once }: WritingParts,
    may_note = true,
  ): RecorderParts => ({
    ...shared,
    capture,
    telemetry: {
      take: (body) => telemetry.take(body, once),
      assemble: (options) => telemetry.assemble(options),
      remap: (options) => telemetry.remap(options),
    },
    admin,
    exports,
    imports,
    passes: memories,
    async operate(operation, asked) {
      const work: StoreWork = {
        memories,
        forget: async (request) => orThrow(await admin.forget(request)),
        verify: async () => orThrow(await admin.verify()),
      };
      if (operation.needs === "store") return operation.answer(work, asked.query);
      const answer = await operate(operation, asked);
      if (may_note && asked.is_unnoted !== true) await operation.note?.append(work, asked.query, answer as never);
      return answer;
    },
    monitoring,
    by: partsOf,
    close() {
      closing ??= close();
      return closing;
    },
  });
  return new Recorder(partsWith(own));
}

/** How often to look for sessions that a model could read. */
const LOOK_MS = 5 * 60 * 1000;

type WritingParts = ReturnType<typeof writingParts>;

/** Everything that appends to the log, and so records a key. */
function writingParts(
  store: StoreParts & {
    readonly calls: Calls;
    readonly operate: Operate;
    readonly commit: GroupCommit;
    readonly queue: SerialQueue;
    readonly recorded: RecordedHooks;
    readonly reads_nothing?: boolean;
  },
) {
  const { log, calls, mask, commit, writeContext } = store;
  const capture = new Capture(store);
  const admin = new StoreAdmin(store);
  const note = admin.note.bind(admin);
  const operations = methodsBy((operation, options) =>
    store.operate(operation, askedWith(operation, options, writeContext.nowMs())),
  );
  const writer = new ImportWriter({ log, capture, commit, is_redacting: store.redact !== undefined });
  const imported = { find: (claims: readonly string[]) => log.find(claims), operations, note };
  return {
    capture,
    once: new OnceWriter(store),
    admin,
    note,
    memories: new MemoryWriter({
      ...store,
      calls: {
        ...calls,
        ...operations,
      },
      openExtractor,
      forget: (entry) =>
        admin.forget({
          target: { scope: "entry", entry },
          reason: "its evidence was forgotten meanwhile",
          dry_run: false,
          actor: "hansard",
        }),
    }),
    imports: Object.assign(writer, {
      sessions: importedSessions({ ...imported, append: (entries) => writer.append(entries) }),
    }),
    exports: new Exports({
      log,
      calls,
      mask,
      // A page without a seal is still worth reading.
      seal: () => admin.seal().catch(() => undefined),
      nowMs: writeContext.nowMs,
      audited: (pieces, deed, onUnaudited) => audited(pieces, () => note(deed), onUnaudited),
    }),
  };
}
