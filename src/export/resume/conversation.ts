// A session as a conversation that a coding agent can take up again: what was said on the active branch, call by call with its
// result, and where it was compacted. What could not be kept is counted.
import { oneByOne, readRecords } from "../../import/lines.js";
import { bodyToEntry } from "../../model/body.js";
import type { Entry, EntryOf, Interaction } from "../../model/entry.js";
import type { JsonObject } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import { RecorderError } from "../../model/rejection.js";
import { interactionToItems, messageToItems, toolCallToItems } from "../../sessions/history/items.js";
import { type MessageGroup, repair } from "../../sessions/history/repair.js";
import { Withdrawn } from "../selection.js";

/** The kinds of entries that a conversation is made of. */
export const CONVERSATION_KINDS = [
  ...["message", "tool_call", "interaction", "response", "consolidation", "clear", "withdrawal", "session_info"],
  ...["raw", "redaction"],
] as const;

/** A session of more text than this is not written back: it has to be held in memory. */
const BYTES_MAX = 256 * 1024 * 1024;
/** Deeper than an entry may be: unknown fields were moved into `extra`. */
const LEVELS_MAX = limits.nesting_levels + 4;

export interface SaidStep {
  readonly is: "said";
  readonly group: MessageGroup;
  readonly entry: EntryOf<"message"> | Interaction;
  /** The entries of the results, in the order of the group's calls. */
  readonly results: readonly (Entry | undefined)[];
  /** The user's shell command whose output this is. */
  readonly shell?: EntryOf<"tool_call"> | undefined;
}

export interface CompactionStep {
  readonly is: "compaction";
  readonly entry: EntryOf<"consolidation">;
}

/** Instructions of a system or developer, which most tools bring themselves. */
interface SystemStep {
  readonly is: "system";
  readonly entry: EntryOf<"message">;
}

export type ConversationStep = SaidStep | CompactionStep | SystemStep;

/** What the record holds of the session, and a file of a tool will not have. */
export interface LeftOut {
  /** Calls whose result is not in the record, and results whose call is not. */
  unanswered: number;
  /** Messages before the last clear, which the model was not given any more. */
  cleared: number;
  /** Messages on branches that were left. */
  withdrawn: number;
  /** Entries whose text was longer than an entry may be. */
  shortened: number;
  /** What the tool that wrote it adds to prompts by itself. */
  injected: number;
  /** System messages: the target has its own. */
  system: number;
}

export interface Conversation {
  readonly session_id: string;
  readonly title: string;
  /** The tool that the session came from, by its importer's name; empty for any other client. */
  readonly tool: string;
  readonly cwd: string;
  readonly git_branch: string;
  readonly version: string;
  readonly steps: readonly ConversationStep[];
  /** Records that fit no kind, of the tool that wrote them. */
  readonly raws: readonly EntryOf<"raw">[];
  readonly left_out: LeftOut;
}

/** Reads the lines of an export of one session, in Hansard's own form. */
export async function readConversation(session_id: string, pieces: AsyncIterable<string>): Promise<Conversation> {
  const entries: Entry[] = [];
  let bytes = 0;
  for await (const item of oneByOne(readRecords(asBytes(pieces), LEVELS_MAX))) {
    if ("reason" in item) throw new Error(`line ${item.line} of the export: ${item.reason}`);
    bytes += item.bytes;
    if (bytes > BYTES_MAX) throw tooLarge(session_id);
    const { position, kind, recorded_at, hash, ...body } = item.record as JsonObject & { readonly position: number };
    if (typeof position !== "number" || typeof body.id !== "string") continue;
    const placed = { position, kind: String(kind), recorded_at: String(recorded_at), hash: String(hash) };
    entries.push(bodyToEntry(placed, body));
  }
  return conversationOf(session_id, entries);
}

async function* asBytes(pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

function tooLarge(session_id: string): RecorderError {
  return new RecorderError({
    code: "history_too_large",
    field: "session_id",
    message: `session ${session_id} holds more than ${BYTES_MAX / 1024 / 1024} MB`,
    hint: "`hansard history --max-messages` gives its newest messages.",
  });
}

/** The conversation that these entries of one session, in order of position, make up. */
function conversationOf(session_id: string, entries: readonly Entry[]): Conversation {
  const left_out: LeftOut = { unanswered: 0, cleared: 0, withdrawn: 0, shortened: 0, injected: 0, system: 0 };
  const cleared = entries.findLast(({ kind }) => kind === "clear")?.position ?? 0;
  const hasMessages = entries.some(({ kind }) => kind === "message");
  const withdrawn = Withdrawn.among(entries);
  const completed = hasMessages ? entries : withResponses(entries);
  const kept: Entry[] = [];
  for (const entry of completed) {
    const isSaid = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
    if (!isSaid && entry.kind !== "consolidation") continue;
    if (hasMessages && entry.kind === "interaction") continue;
    if (entry.position <= cleared) left_out.cleared += entry.kind === "message" ? 1 : 0;
    else if (isSaid && withdrawn.leavesOut(entry)) left_out.withdrawn += entry.kind === "message" ? 1 : 0;
    else {
      if (entry.extra.truncated !== undefined) left_out.shortened += 1;
      kept.push(entry);
    }
  }
  return {
    session_id,
    ...factsOf(entries),
    steps: stepsOf(kept, left_out),
    raws: entries.filter((entry) => entry.kind === "raw"),
    left_out,
  };
}

function stepsOf(entries: readonly Entry[], left_out: LeftOut): readonly ConversationStep[] {
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
  const items = entries.flatMap((entry) => {
    if (entry.kind === "message") return messageToItems(entry);
    if (entry.kind === "tool_call") return toolCallToItems(entry);
    return entry.kind === "interaction" ? interactionToItems(entry) : [];
  });
  const groups = repair(items, { include_pending: false, drops_blank_users: true });
  const steps: { readonly position: number; readonly step: ConversationStep }[] = [];
  const before = shellsBefore(entries);
  let answered = 0;
  for (const group of groups) {
    const entry = byPosition.get(group.from?.position ?? 0);
    if (entry?.kind !== "message" && entry?.kind !== "interaction") continue;
    const results = group.calls.map(({ result }) => byPosition.get(result?.from?.position ?? 0));
    answered += group.calls.length;
    const shell = entry.kind === "message" && entry.injected === "output" ? before.get(entry) : undefined;
    steps.push({ position: entry.position, step: { is: "said", group, entry, results, shell } });
  }
  for (const item of items) {
    const entry = item.type === "system" ? byPosition.get(item.from?.position ?? 0) : undefined;
    if (entry?.kind === "message") steps.push({ position: entry.position, step: { is: "system", entry } });
  }
  for (const entry of entries) {
    if (entry.kind === "consolidation") steps.push({ position: entry.position, step: { is: "compaction", entry } });
  }
  const called = items.flatMap((item) => (item.type === "assistant" ? item.calls.map(({ id }) => id) : []));
  const known = new Set(called);
  const orphans = items.filter((item) => item.type === "result" && !known.has(item.call_id));
  left_out.unanswered = called.length - answered + orphans.length;
  // A stable sort: the question and the answer of an interaction have one position.
  return steps.sort((a, b) => a.position - b.position).map(({ step }) => step);
}

/** The shell command of the user right before each entry. */
function shellsBefore(entries: readonly Entry[]): ReadonlyMap<Entry, EntryOf<"tool_call">> {
  const shells = new Map<Entry, EntryOf<"tool_call">>();
  for (const [at, entry] of entries.entries()) {
    const previous = entries[at - 1];
    if (previous?.kind === "tool_call" && previous.tool === "!") shells.set(entry, previous);
  }
  return shells;
}

/** Interactions with the responses that were recorded later. */
function withResponses(entries: readonly Entry[]): readonly Entry[] {
  const responses = new Map(
    entries.flatMap((entry) => (entry.kind === "response" ? [[entry.interaction_id, entry]] : [])),
  );
  return entries.map((entry) => {
    const completion = entry.kind === "interaction" ? responses.get(entry.id) : undefined;
    if (entry.kind !== "interaction" || completion === undefined) return entry;
    return { ...entry, response: completion.response, model: completion.model || entry.model };
  });
}

/** Title and place; the folder is the first one, where tools look for the session. */
function factsOf(entries: readonly Entry[]): Pick<Conversation, "title" | "tool" | "cwd" | "git_branch" | "version"> {
  const infos = entries.filter((entry) => entry.kind === "session_info");
  const texts = (name: string): readonly string[] =>
    infos.flatMap(({ metadata }) => (typeof metadata[name] === "string" ? [metadata[name] as string] : []));
  const sources = infos.flatMap(({ metadata }) => {
    const { source } = metadata as { readonly source?: { readonly tool?: unknown } };
    return typeof source?.tool === "string" ? [source.tool] : [];
  });
  return {
    title: infos.findLast(({ title }) => title !== "")?.title ?? "",
    tool: sources[0] ?? "",
    cwd: texts("cwd")[0] ?? "",
    git_branch: texts("git_branch").at(-1) ?? "",
    version: texts("version").at(-1) ?? "",
  };
}
