// The tree of a session: calls to models, tools and subagents, each inside of what it was made for.
import { sameCallsIn } from "../index/call-steps.js";
import type { TableSession } from "../index/session-table.js";
import { idClaim } from "../model/claims.js";
import { contentText } from "../model/content-parts.js";
import type { Entry } from "../model/entry.js";
import { firstWords } from "../model/first-words.js";
import { isJsonObject } from "../model/json.js";
import { limits } from "../model/limits.js";
import { TimeSlice } from "../model/scheduling.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import { rounded } from "../usage/call-ledger.js";
import { nested, type Span } from "./nesting.js";
import { getSession } from "./session-list.js";
import type { SessionParts } from "./session-reader.js";
import type { SessionTree } from "./session-tree.js";

/** With these the answer stays below 10 MB. */
const ENTRIES_MAX = 10_000;
const SESSIONS_MAX = 1_000;
const TITLE_CHARS = 120;
/** Of a text, as much as is masked for a title: longer than any key that begins it. */
const MASKED_CHARS = 16_384;
const PAGE = 500;
/** Parents that are of another kind are looked up, and theirs: so many generations. */
const LOOKUPS_MAX = 32;

const ranges = [
  { kinds: ["interaction", "response", "tool_call", "error", "decision"] },
  { kinds: ["message"], role: "assistant" },
] as const;

/** What is known of an entry before its place is. */
interface Found extends Span {
  readonly session_id: string;
  readonly parent_id: string;
  readonly tool_call_id: string;
}

export async function treeOf(parts: SessionParts, session_id: string): Promise<SessionTree | undefined> {
  const { index, table, mask } = parts;
  if ((await getSession(index, session_id)) === undefined) return undefined;
  await table.refresh();
  const ids = table.treeOf(session_id);
  const reading = new TreeReading(parts, session_id);
  for (const id of ids.slice(0, SESSIONS_MAX)) await reading.addSession(id);
  if (ids.length > SESSIONS_MAX) reading.is_cut = true;
  await reading.addParents();
  const roots = nested(
    reading.spans((session) => titleOf(session.title || session.first_prompt || session.session_id, mask)),
  );
  return { roots, ...(reading.is_cut ? { is_cut: true } : {}) };
}

class TreeReading {
  is_cut = false;
  readonly #parts: SessionParts;
  readonly #asked: string;
  readonly #entries: EntryReader;
  /** Bodies hold what was sent with every call. */
  readonly #room = { chars: limits.history_read_chars };
  readonly #slice = new TimeSlice();
  readonly #byId = new Map<string, Found>();
  /** Entries that are shown as another one: a message as its interaction, a response too. */
  readonly #sameAs = new Map<string, string>();
  readonly #idAt = new Map<number, string>();
  /** The answer that called a tool, by session and id of the call. */
  readonly #callers = new Map<string, string>();
  readonly #firstIds = new Map<string, string>();
  #spent: Map<number, { tokens: number; cost: number | undefined }> | undefined;

  constructor(parts: SessionParts, asked: string) {
    this.#parts = parts;
    this.#asked = asked;
    this.#entries = new EntryReader(parts);
  }

  async addSession(session_id: string): Promise<void> {
    const positions: number[] = [];
    for (const range of ranges) positions.push(...(await this.#positions(session_id, range)));
    positions.sort((left, right) => left - right);
    const left = Math.max(0, ENTRIES_MAX - this.#byId.size);
    if (positions.length > left) this.is_cut = true;
    const read = positions.slice(0, left);
    if (session_id !== this.#asked) {
      const [first] = await this.#parts.index.sessionPositions({ session_id, order: "asc", limit: 1 });
      const [entry] = first === undefined ? [] : await this.#entries.read([first]);
      this.#firstIds.set(session_id, entry?.id ?? "");
    }
    if (read.length === 0) return;
    await this.#read(read);
    await this.#joinCalls(session_id, read);
  }

  async #positions(session_id: string, range: (typeof ranges)[number]): Promise<readonly number[]> {
    const found: number[] = [];
    for (let above = 0; found.length <= ENTRIES_MAX; ) {
      const page = await this.#parts.index.sessionPositions({
        session_id,
        order: "asc",
        above,
        limit: PAGE,
        ...range,
      });
      found.push(...page);
      above = page.at(-1) ?? 0;
      if (page.length < PAGE) break;
      if (this.#slice.isOver) await this.#slice.next();
    }
    return found;
  }

  async #read(positions: readonly number[]): Promise<void> {
    this.#spent ??= await this.#spentByPosition();
    for (let at = 0; at < positions.length; at += PAGE) {
      for await (const entries of this.#entries.readInParts(positions.slice(at, at + PAGE), this.#room)) {
        for (const entry of entries) {
          this.#add(entry);
          if (this.#slice.isOver) await this.#slice.next();
        }
      }
    }
    if (this.#room.chars <= 0) this.is_cut = true;
  }

  async #spentByPosition(): Promise<Map<number, { tokens: number; cost: number | undefined }>> {
    const sessions = new Set(this.#parts.table.treeOf(this.#asked));
    const calls = await this.#parts.ledger.calls();
    return new Map(
      calls
        .filter((call) => sessions.has(call.session_id) && !call.is_implausible)
        .map(({ position, comparable: [given = 0, wrote = 0], cost }) => [position, { tokens: given + wrote, cost }]),
    );
  }

  #add(entry: Entry): void {
    const { id, position, session_id, parent_id, kind } = entry;
    this.#idAt.set(position, id);
    if (entry.kind === "response") {
      this.#sameAs.set(id, entry.interaction_id);
      return;
    }
    for (const call of callIdsOf(entry)) this.#callers.set(callKey(session_id, call), id);
    const node = {
      entry_id: id,
      kind,
      title: titleOf(wordsOf(entry), this.#parts.mask),
      duration_ms: durationOf(entry) ?? null,
      tokens: 0,
      cost: null,
    };
    this.#byId.set(id, {
      node,
      session_id,
      parent_id,
      tool_call_id: entry.kind === "tool_call" ? entry.tool_call_id : "",
      created_ms: Date.parse(entry.created_at),
      position,
      parent: undefined,
    });
  }

  /** An answer that was recorded twice is one node. */
  async #joinCalls(session_id: string, positions: readonly number[]): Promise<void> {
    const [from = 0, through = 0] = [positions[0], positions.at(-1)];
    const { interactionOf } = await sameCallsIn(this.#parts.index, { session_id, from, through });
    for (const [message, interaction] of interactionOf) {
      const [id, other] = [this.#idAt.get(message), this.#idAt.get(interaction)];
      if (id !== undefined && other !== undefined) this.#sameAs.set(id, other);
    }
  }

  /** Prompts, and spans that are neither a call nor a tool, where something names them as its parent. */
  async addParents(): Promise<void> {
    const sessions = new Set(this.#parts.table.treeOf(this.#asked));
    const sought = new Set<string>();
    for (let round = 0; round < LOOKUPS_MAX; round += 1) {
      const missing = [...this.#byId.values()].flatMap(({ parent_id }) =>
        parent_id === "" || sought.has(parent_id) || this.#resolved(parent_id) !== undefined ? [] : [parent_id],
      );
      const ids = [...new Set(missing)].slice(0, ENTRIES_MAX * 2 - this.#byId.size);
      if (ids.length === 0) return;
      for (let at = 0; at < ids.length; at += PAGE) {
        const some = ids.slice(at, at + PAGE);
        for (const id of some) sought.add(id);
        const found = await this.#parts.log.find(some.map((id) => idClaim(id)));
        const positions = found.filter((position) => position !== undefined);
        const rows = await this.#parts.index.rowsAt(positions);
        await this.#read(rows.filter((row) => sessions.has(row.session_id)).map(({ position }) => position));
      }
    }
  }

  #resolved(id: string): Found | undefined {
    return this.#byId.get(this.#sameAs.get(id) ?? id);
  }

  /** With parents, and with what each call took. */
  spans(titled: (session: TableSession) => string): readonly Span[] {
    const shown = [...this.#byId.values()].filter((span) => this.#resolved(span.node.entry_id) === span);
    const own = new Map(shown.map((span) => [span, { ...span.node }]));
    for (const [position, { tokens, cost }] of this.#spent ?? []) {
      const span = this.#resolved(this.#idAt.get(position) ?? "");
      const node = span === undefined ? undefined : own.get(span);
      if (node === undefined) continue;
      node.tokens += tokens;
      if (cost !== undefined) node.cost = rounded((node.cost ?? 0) + cost);
    }
    const spans = new Map(shown.map((span) => [span, { ...span, node: own.get(span) ?? span.node } as Span]));
    const sessions = this.#sessionSpans(titled);
    for (const found of shown) {
      const span = spans.get(found) as Span;
      const above = this.#resolved(found.parent_id);
      const session = sessions.get(found.session_id);
      if (above !== undefined && above.session_id !== found.session_id && session !== undefined) {
        session.parent ??= spans.get(above);
        span.parent = session;
      } else span.parent = spans.get(above ?? this.#callerOf(found) ?? found) ?? session;
      if (span.parent === span) span.parent = session;
    }
    const tools = shown.filter(({ node }) => node.kind === "tool_call");
    for (const [session_id, span] of sessions) {
      const parent = this.#parts.table.get(session_id)?.parent ?? "";
      const tool = span.parent ?? spans.get(runningAt(tools, parent, span.created_ms) as Found);
      span.parent = tool ?? sessions.get(parent);
    }
    return [...spans.values(), ...sessions.values()];
  }

  #callerOf({ session_id, tool_call_id }: Found): Found | undefined {
    if (tool_call_id === "") return undefined;
    return this.#resolved(this.#callers.get(callKey(session_id, tool_call_id)) ?? "");
  }

  #sessionSpans(titled: (session: TableSession) => string): ReadonlyMap<string, Span> {
    const spans = new Map<string, Span>();
    for (const [session_id, entry_id] of this.#firstIds) {
      const session = this.#parts.table.get(session_id);
      if (session === undefined) continue;
      const node = { entry_id, session_id, kind: "session", title: titled(session), duration_ms: null };
      spans.set(session_id, {
        node: { ...node, tokens: 0, cost: null },
        created_ms: session.first_ms,
        position: session.first_position,
        parent: undefined,
      });
    }
    return spans;
  }
}

/** The tool that ran when a subagent began: of several, the one that ran shortest. A tool is recorded when it begins or ends. */
function runningAt(tools: readonly Found[], session_id: string, at_ms: number): Found | undefined {
  let found: Found | undefined;
  for (const tool of tools) {
    const { duration_ms } = tool.node;
    if (tool.session_id !== session_id || duration_ms === null) continue;
    const isRunning = Math.abs(at_ms - tool.created_ms) <= duration_ms;
    if (isRunning && duration_ms < (found?.node.duration_ms ?? Number.POSITIVE_INFINITY)) found = tool;
  }
  return found;
}

function callKey(session_id: string, tool_call_id: string): string {
  return JSON.stringify([session_id, tool_call_id]);
}

function durationOf(entry: Entry): number | undefined {
  if (entry.kind === "interaction") return entry.latency_ms;
  return entry.kind === "tool_call" ? entry.duration_ms : undefined;
}

/** The tool calls in an answer. */
function callsOf(entry: Entry): readonly unknown[] {
  if (entry.kind === "interaction") return Array.isArray(entry.extra.tool_calls) ? entry.extra.tool_calls : [];
  if (entry.kind !== "message") return [];
  const blocks = Array.isArray(entry.content) ? entry.content : [];
  return [...entry.tool_calls, ...blocks.filter((block) => isJsonObject(block) && block.type === "tool_use")];
}

function callIdsOf(entry: Entry): readonly string[] {
  return callsOf(entry).flatMap((call) => (isJsonObject(call) && typeof call.id === "string" ? [call.id] : []));
}

function wordsOf(entry: Entry): string {
  switch (entry.kind) {
    case "interaction":
      return entry.prompt || entry.model;
    case "tool_call":
      return entry.tool;
    case "error":
      return entry.error;
    case "decision":
      return entry.decision;
    case "message":
      return contentText(entry.content).trim() || calledTools(entry) || entry.role;
    default:
      return nameIn(entry.extra) ?? entry.kind;
  }
}

function calledTools(entry: Entry): string {
  const names = callsOf(entry).flatMap((call) => {
    if (!isJsonObject(call)) return [];
    return nameIn(call) ?? (isJsonObject(call.function) ? (nameIn(call.function) ?? []) : []);
  });
  return names.join(", ");
}

function nameIn(value: object): string | undefined {
  const { name } = value as { readonly name?: unknown };
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Masked before it is cut: no secret is cut in two and shown. */
function titleOf(text: string, mask: SessionParts["mask"]): string {
  return firstWords(mask.text(text.slice(0, MASKED_CHARS)), TITLE_CHARS);
}
