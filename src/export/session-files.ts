// One session in the format of nanobot, or of Timmy.
import type { StoredForm, ToLine } from "../import/line-form.js";
import { nanobotLine } from "../import/nanobot.js";
import { timmyLine } from "../import/timmy.js";
import type { EntryLog, Head, StoredEntry } from "../log/port.js";
import { parseBody } from "../model/body.js";
import { asRecorded } from "../model/chain.js";
import { completionClaim } from "../model/claims.js";
import type { Entry } from "../model/entry.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { parseTime, type WallClock } from "../model/time.js";
import { isResponseTo, notItsResponse } from "../search/lists/entry-reader.js";
import type { SessionSummary } from "../sessions/session-summary.js";
import type { ExportQuery } from "./exports.js";
import { type ExportParts, readable, selectEntries, Withdrawn } from "./selection.js";

interface SessionExport {
  readonly query: ExportQuery;
  readonly head: Head;
}

export async function* exportTimmy(parts: ExportParts, options: SessionExport): AsyncGenerator<string> {
  for await (const { line } of sessionLines(parts, options, timmyLine)) yield line;
}

/** Two passes: the header says how many of the messages are consolidated, and it comes first. */
export async function* exportNanobot(parts: ExportParts, options: SessionExport): AsyncGenerator<string> {
  const session_id = options.query.filter.session_id as string;
  const summary = await parts.sessionSummary(session_id);
  if (summary === undefined) return;
  const boundary = await boundaryOf(parts, summary);
  let last_consolidated = 0;
  for await (const { position } of sessionLines(parts, options, nanobotLine)) {
    if (position > boundary) break;
    last_consolidated += 1;
  }
  const header = await headerOf(parts, summary, options.query.clock);
  yield `${JSON.stringify({ ...header, last_consolidated })}\n`;
  for await (const { line } of sessionLines(parts, options, nanobotLine)) yield line;
}

/** nanobot has no marker for a cleared session: what came before counts as consolidated. */
async function boundaryOf(parts: ExportParts, summary: SessionSummary): Promise<number> {
  const { session_id, consolidated_through } = summary;
  const newest = { session_id, order: "desc", limit: 1, kinds: ["clear"] } as const;
  const [cleared = 0] = await parts.sessionPositions(newest);
  return Math.max(cleared, consolidated_through);
}

/** The header with which the session was imported, if it was, updated. */
async function headerOf(parts: ExportParts, summary: SessionSummary, clock: WallClock): Promise<JsonObject> {
  const { session_id, title, title_source, parent, metadata, first_at, last_at } = summary;
  const native = await nativeHeader(parts, session_id);
  const updated_ms = clock.parse(native.updated_at);
  const last_ms = parseTime(last_at) as number;
  return {
    _type: "metadata",
    key: session_id,
    created_at: clock.format(parseTime(first_at) as number),
    ...native,
    updated_at: updated_ms !== undefined && updated_ms >= last_ms ? (native.updated_at ?? null) : clock.format(last_ms),
    metadata: native.metadata === null && Object.keys(metadata).length === 0 ? null : metadata,
    ...(title_source === "given" ? { title } : {}),
    ...(parent === "" ? {} : { parent }),
  };
}

async function nativeHeader(parts: ExportParts, session_id: string): Promise<JsonObject> {
  const newest = { session_id, order: "desc", limit: 100, kinds: ["session_info"] } as const;
  for (const position of await parts.sessionPositions(newest)) {
    const [stored] = await parts.log.get([position]);
    const entry = stored === undefined ? undefined : readable(asRecorded(stored));
    const native = entry?.extra.native_record;
    if (isJsonObject(native) && native._type === "metadata") return native;
  }
  return {};
}

async function* sessionLines(
  parts: ExportParts,
  { query, head }: SessionExport,
  toLine: ToLine,
): AsyncGenerator<{ readonly position: number; readonly line: string }> {
  const { filter, clock } = query;
  // In a session without messages the interactions are the conversation.
  const messages = { session_id: filter.session_id as string, order: "asc", limit: 1, kinds: ["message"] } as const;
  const hasMessages = (await parts.sessionPositions(messages)).length > 0;
  const withdrawn = await Withdrawn.in(parts, messages.session_id);
  for await (const stored of selectEntries(parts, { filter, head })) {
    const entry = readable(stored);
    if (entry === undefined || withdrawn.leavesOut(entry)) continue;
    const form = formOf(stored, entry);
    const forms = form.kind === "interaction" && !hasMessages ? await turnOf(parts, form) : [form];
    for (const one of forms) {
      const line = toLine(one, clock);
      if (line !== undefined) yield { position: stored.position, line: `${JSON.stringify(line)}\n` };
    }
  }
}

function formOf(stored: StoredEntry, entry: Entry): StoredForm {
  const body = parseBody(stored.position, stored.body as Uint8Array);
  return { id: entry.id, kind: stored.kind, created_ms: parseTime(entry.created_at) as number, body };
}

/** An interaction as the two messages that it reads as. */
async function turnOf(parts: ExportParts, form: StoredForm): Promise<readonly StoredForm[]> {
  const { id, created_ms, body } = form;
  const message = (role: string, content: unknown): JsonObject => ({ role, content: String(content) });
  const prompt = { id, kind: "message", created_ms, body: message("user", body.prompt) };
  const own = typeof body.response === "string" && body.response !== "" ? form : undefined;
  const answer = own ?? (await completionOf(parts.log, id));
  if (answer === undefined) return [prompt];
  const answerId = answer === own ? `${id}.response` : answer.id;
  return [prompt, { ...answer, id: answerId, kind: "message", body: message("assistant", answer.body.response ?? "") }];
}

async function completionOf(log: EntryLog, id: string): Promise<StoredForm | undefined> {
  const [position] = await log.find([completionClaim(id)]);
  const [stored] = position === undefined ? [] : await log.get([position]);
  const recorded = stored === undefined ? undefined : asRecorded(stored);
  const entry = recorded === undefined ? undefined : readable(recorded);
  if (recorded === undefined || entry === undefined) return undefined;
  if (!isResponseTo(id, entry)) throw notItsResponse(recorded.position, id);
  return formOf(recorded, entry);
}
