// What a hook reports and a transcript, which may be watched, says too. An event waits a moment for the transcript; what that brings is
// not recorded a second time.

import { contentTexts } from "../../../model/content.js";
import { type EntryInput, isAltered } from "../../../model/entry.js";
import { hookedMessageId, hookedSessionId, SAME_MESSAGE_MS } from "../../../model/hook-ids.js";
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

/** Events that wait for a transcript. */
export class WaitingEvents {
  readonly #waiting = new Set<Waiting>();
  readonly #own = new Set<string>();
  /** One at a time, in order: the same words may be said twice. */
  #recording: Promise<void> = Promise.resolve();

  /** Whether an event is of a session in which this program asked a model: that is not recorded. */
  isOwn({ session_id, kind, role, content }: HookedEntry): boolean {
    if (this.#own.has(session_id)) return true;
    if (session_id === "" || kind !== "message" || role !== "user" || !isOwnRequest(content)) return false;
    if (this.#own.size >= OWN_MAX) this.#own.clear();
    this.#own.add(session_id);
    return true;
  }

  /** @param onError Called where it could not be recorded. */
  add(recorder: Recorder, entry: HookedEntry, onError: (error: unknown) => void): void {
    const created_at = new Date().toISOString();
    const record = (): Promise<void> => {
      this.#waiting.delete(waiting);
      this.#recording = this.#recording.then(() => recordOnce(recorder, { ...entry, created_at })).catch(onError);
      return this.#recording;
    };
    const waiting: Waiting = { record, timer: setTimeout(record, WAIT_MS) };
    waiting.timer.unref();
    this.#waiting.add(waiting);
  }

  /** Records at once what still waits. */
  async flush(): Promise<void> {
    for (const { timer, record } of [...this.#waiting]) {
      clearTimeout(timer);
      void record();
    }
    await this.#recording;
  }
}

async function recordOnce(recorder: Recorder, entry: HookedEntry & { readonly created_at: string }): Promise<void> {
  if (await isRecorded(recorder, entry)) return;
  const id = entry.id ?? (await newMessageId(recorder, entry));
  const { session_id, client, project, created_at } = entry;
  const about = {
    ...{ kind: "session_info", id: hookedSessionId(session_id), session_id, client, project, created_at },
    metadata: { source: { tool: "claude-code", path: "hooks", lacks: HOOKS_LACK } },
  };
  const isFirst = (await recorder.getEntry(about.id)) === undefined && !(await hasSource(recorder, session_id));
  const marker =
    (await recorder.getEntry(about.id)) === undefined ? { ...about, ...(isFirst ? {} : { metadata: {} }) } : undefined;
  const made = { ...entry, id, extra: { hook: true } };
  await recorder.append((marker === undefined ? [made] : [marker, made]) as unknown as EntryInput[]);
}

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
