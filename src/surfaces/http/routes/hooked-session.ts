// What a hook reports and a transcript, which may be watched, says too. Where a transcript is read, an event waits a moment for it, and
// what that brings is not recorded a second time. Anywhere else it is recorded at once: what waits is lost if the server is killed.

import { contentTexts } from "../../../model/content.js";
import { type EntryInput, isAltered } from "../../../model/entry.js";
import { hookedMessageId, hookedSessionId, SAME_MESSAGE_MS } from "../../../model/hook-ids.js";
import { isJsonObject } from "../../../model/json.js";
import { isOwnRequest } from "../../../model/own-requests.js";
import { readRole } from "../../../model/roles.js";
import type { Recorder } from "../../../recorder/recorder.js";

/** A watched transcript is read within 2 s of a line being complete. */
const WAIT_MS = 3_000;
/** How many of a session's newest entries are looked through. */
const LOOKED_AT = 50;
const REPEATS_MAX = 1_000;
const OWN_MAX = 1_000;

export interface HookedEntry {
  readonly kind: string;
  readonly session_id: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

interface Waiting {
  readonly record: () => Promise<void>;
  readonly timer: NodeJS.Timeout;
}

/** Events that wait for a transcript, where there is one to wait for. */
export class WaitingEvents {
  readonly #watches: boolean;
  readonly #waiting = new Set<Waiting>();
  readonly #own = new Set<string>();
  /** One at a time, in order: the same words may be said twice. */
  #recording: Promise<void> = Promise.resolve();

  constructor(watches: boolean) {
    this.#watches = watches;
  }

  /** Whether an event is of a session in which this program asked a model: that is not recorded. */
  isOwn({ session_id, kind, role, content }: HookedEntry): boolean {
    if (this.#own.has(session_id)) return true;
    if (session_id === "" || kind !== "message" || role !== "user" || !isOwnRequest(content)) return false;
    if (this.#own.size >= OWN_MAX) this.#own.clear();
    this.#own.add(session_id);
    return true;
  }

  /**
   * Resolves when it is on disk, or waits for the transcript.
   *
   * @param onError Called where it could not be recorded.
   */
  add(recorder: Recorder, entry: HookedEntry, onError: (error: unknown) => void): Promise<void> {
    const dated = { ...entry, created_at: new Date().toISOString() };
    return this.#next(async () => {
      if (!this.#watches && !(await isFromTranscript(recorder, entry.session_id))) return recordOnce(recorder, dated);
      const record = (): Promise<void> => {
        this.#waiting.delete(waiting);
        return this.#next(() => recordOnce(recorder, dated), onError);
      };
      const waiting: Waiting = { record, timer: setTimeout(record, WAIT_MS) };
      waiting.timer.unref();
      this.#waiting.add(waiting);
    }, onError);
  }

  /** Records at once what still waits. */
  async flush(): Promise<void> {
    await this.#recording;
    for (const { timer, record } of [...this.#waiting]) {
      clearTimeout(timer);
      void record();
    }
    await this.#recording;
  }

  #next(step: () => Promise<void>, onError: (error: unknown) => void): Promise<void> {
    this.#recording = this.#recording.then(step).catch(onError);
    return this.#recording;
  }
}

/** Whether an importer brought the session, or the one whose subagent it is: its source then says what the transcript lacks. */
export async function isFromTranscript(recorder: Recorder, session_id: string): Promise<boolean> {
  const [parent = ""] = session_id.split("/agent-", 1);
  for (const id of new Set([session_id, parent])) {
    const source = id === "" ? undefined : (await recorder.session(id).summary())?.metadata.source;
    if (isJsonObject(source) && Array.isArray(source.lacks) && source.path !== HOOKS_PATH) return true;
  }
  return false;
}

async function recordOnce(recorder: Recorder, entry: HookedEntry & { readonly created_at: string }): Promise<void> {
  if (await isRecorded(recorder, entry)) return;
  const id = entry.id ?? (await newMessageId(recorder, entry));
  const { session_id, client, project, created_at } = entry;
  const about = {
    ...{ kind: "session_info", id: hookedSessionId(session_id), session_id, client, project, created_at },
    metadata: { source: { tool: "claude-code", path: HOOKS_PATH, lacks: HOOKS_LACK } },
  };
  const isFirst = (await recorder.getEntry(about.id)) === undefined && !(await hasSource(recorder, session_id));
  const marker =
    (await recorder.getEntry(about.id)) === undefined ? { ...about, ...(isFirst ? {} : { metadata: {} }) } : undefined;
  const made = { ...entry, id, extra: { hook: true } };
  await recorder.append((marker === undefined ? [made] : [marker, made]) as unknown as EntryInput[]);
}

const HOOKS_PATH = "hooks";
const HOOKS_LACK = ["system prompt", "rules files", "tool definitions", "answers before the last"];

/** A transcript that was imported earlier says better what it lacks. */
async function hasSource(recorder: Recorder, session_id: string): Promise<boolean> {
  return (await recorder.session(session_id).summary())?.metadata.source !== undefined;
}

async function isRecorded(recorder: Recorder, entry: HookedEntry & { readonly created_at: string }): Promise<boolean> {
  if (entry.id !== undefined) return (await recorder.getEntry(entry.id)) !== undefined;
  const { session_id, role, content } = entry;
  const { entries } = await recorder.session(session_id).entries({ order: "desc", limit: LOOKED_AT });
  const at = Date.parse(entry.created_at);
  return entries.some((row) => {
    if (isAltered(row) || row.kind !== "message" || row.extra.hook === true || readRole(row.role) !== role)
      return false;
    const isNear = Math.abs(Date.parse(row.created_at) - at) <= SAME_MESSAGE_MS;
    return isNear && contentTexts(row.content).join("\n") === content;
  });
}

async function newMessageId(recorder: Recorder, { session_id, role, content }: HookedEntry): Promise<string> {
  const said = { session_id, role: String(role), text: String(content) };
  for (let nth = 0; nth < REPEATS_MAX; nth += 1) {
    const id = hookedMessageId(said, nth);
    if ((await recorder.getEntry(id)) === undefined) return id;
  }
  return hookedMessageId(said, Date.now());
}
