// Reads the log for the passes: what rules propose from it, and which memories its turns used.

import type { EntryIndex } from "../index/port.js";
import type { EntryLog, StoredBody } from "../log/port.js";
import { bodyToEntry } from "../model/body.js";
import { completionClaim } from "../model/claims.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { parseJsonObject } from "../model/json.js";
import type { Mask } from "../model/mask.js";
import { isFromUser, readRole } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import type { MemoriesById } from "./memory-cache.js";
import type { PassRange, ProposalStep, RulesFound, TurnUses, UsesStep } from "./pass-steps.js";
import { stepsIn } from "./propose/commands/runs.js";
import { type WordsStep, wordsIn } from "./propose/words/said.js";
import type { TurnUsesReader } from "./reinforce/turn-uses.js";
import type { SessionProjects } from "./session-projects.js";
import { saidThrough } from "./text/quoted-entry.js";
import type { Stems } from "./text/stems.js";

type Log = Pick<EntryLog, "readBodies" | "find">;

const STEP_ENTRIES = 200;
const STEP_BYTES = 4 * 1024 * 1024;
/** The kinds that tell whether a person types into a session, and how many of them are read. */
const MARKING = ["session_info", "message", "interaction", "tool_call"];
const MARKS_MAX = 1_000;
/** What is recorded later than this after it happened counts as imported. */
const LIVE_MS = 60 * 60 * 1000;

interface PassReaderParts {
  readonly index: Pick<EntryIndex, "sessionPositions">;
  readonly entries: EntryReader;
  readonly turns: TurnReader;
  readonly uses: TurnUsesReader;
  readonly projects: SessionProjects;
  readonly mask: Mask;
  readonly stems: Stems;
}

export class PassReader {
  readonly #index: PassReaderParts["index"];
  readonly #entries: EntryReader;
  readonly #turns: TurnReader;
  readonly #uses: TurnUsesReader;
  readonly #projects: SessionProjects;
  readonly #mask: Mask;
  readonly #stems: Stems;

  constructor(parts: PassReaderParts) {
    this.#index = parts.index;
    this.#entries = parts.entries;
    this.#projects = parts.projects;
    this.#mask = parts.mask;
    this.#stems = parts.stems;
    this.#turns = parts.turns;
    this.#uses = parts.uses;
  }

  async proposals(log: Log, range: PassRange): Promise<ProposalStep> {
    const { entries: read, ...come } = await readRange(log, range);
    const entries = await Promise.all(read.map((entry) => this.#placed(entry)));
    const steps = entries.flatMap((entry) => (entry.kind === "tool_call" ? stepsIn(entry, this.#mask) : []));
    return { ...come, ...foundIn(entries, this.#stems), steps };
  }

  /** An entry without a project, in that of its session's calls. */
  async #placed<E extends Entry>(entry: E): Promise<E> {
    if (entry.project !== "" || entry.session_id === "") return entry;
    const project = await this.#projects.of(entry.session_id);
    return project === "" ? entry : { ...entry, project };
  }

  /** Of one interaction, and of the response that completed it; undefined where there is none. */
  async proposalsOfInteraction(log: Log, id: string): Promise<RulesFound | undefined> {
    const entry = await this.#entries.getById(id);
    if (entry === undefined || "erased" in entry || entry.kind !== "interaction") return undefined;
    const [position] = await log.find([completionClaim(id)]);
    const [response] = position === undefined ? [] : await this.#entries.read([position]);
    // A later response is quoted from its own entry.
    const own = response === undefined ? entry : { ...entry, response: "", response_summary: "" };
    const found = foundIn([own, ...(response === undefined ? [] : [response])], this.#stems);
    return { ...found, words: [...(await this.#sessionMarks(entry)), ...found.words] };
  }

  /** What the rest of a session says about who types into it, without its sentences. */
  async #sessionMarks({ id, session_id }: Entry): Promise<readonly WordsStep[]> {
    if (session_id === "") return [];
    const range = { session_id, order: "asc", after: 0, limit: MARKS_MAX, kinds: MARKING } as const;
    const positions = await this.#index.sessionPositions(range);
    const steps: WordsStep[] = [];
    for (let at = 0; at < positions.length; at += STEP_ENTRIES) {
      for (const other of await this.#entries.read(positions.slice(at, at + STEP_ENTRIES))) {
        const { step } = wordsIn(other, this.#stems);
        if (step !== undefined && other.id !== id) steps.push(step.is === "said" ? { ...step, findings: [] } : step);
      }
    }
    return steps;
  }

  async uses(log: Log, range: PassRange, memories: MemoriesById): Promise<UsesStep> {
    const { entries, ...come } = await readRange(log, range);
    const turns: TurnUses[] = [];
    const waiting: string[] = [];
    for (const start of entries.filter(isFromUser)) {
      const uses = await this.usesOfTurn(start.id, memories, range.now_ms);
      if (uses === "waiting") waiting.push(start.id);
      else if (uses !== undefined && uses.uses.length > 0) turns.push(uses);
    }
    return { ...come, turns, waiting };
  }

  /** Undefined where no turn begins with this entry; waiting where a time is given and the turn is not over then. */
  async usesOfTurn(id: string, memories: MemoriesById, now_ms?: number): Promise<TurnUses | "waiting" | undefined> {
    const start = await this.#entries.getById(id);
    if (start === undefined || "erased" in start || !isFromUser(start)) return undefined;
    const turn = await this.#turns.turn(start);
    if (now_ms !== undefined && !this.#turns.isOver(turn, now_ms)) return "waiting";
    const { project, client } = start;
    return { turn_id: id, project, client, uses: await this.#uses.usesIn(turn, memories) };
  }
}

function foundIn(entries: readonly Entry[], stems: Stems): RulesFound {
  const found = entries.map((entry) => wordsIn(entry, stems));
  const count = (isOne: (entry: Entry) => boolean): number => entries.filter(isOne).length;
  return {
    proposals: found.flatMap(({ decision }) => decision ?? []),
    words: found.flatMap(({ step }) => step ?? []),
    passed_over: found.flatMap(({ passed_over }) => passed_over),
    looked_at: {
      entries: entries.length,
      users: count(isFromUser),
      assistants: count(isAnswer),
      decisions: count(({ kind }) => kind === "decision"),
      tool_calls: count(({ kind }) => kind === "tool_call"),
    },
  };
}

function isAnswer(entry: Entry): boolean {
  if (entry.kind === "interaction" || entry.kind === "response") return entry.response !== "";
  return entry.kind === "message" && readRole(entry.role) === "assistant";
}

async function readRange(
  log: Log,
  range: PassRange,
): Promise<{ readonly through: number; readonly is_end: boolean; readonly entries: readonly Entry[] }> {
  const { after, through = Number.POSITIVE_INFINITY } = range;
  const read = await log.readBodies({ after, limit: STEP_ENTRIES, bytes_max: STEP_BYTES });
  const stored = read.filter(({ position }) => position <= through);
  const last = stored.at(-1);
  const entries = stored.flatMap((one) => toEntry(one) ?? []).filter((entry) => isWanted(entry, range));
  return { through: last?.position ?? after, is_end: last === undefined, entries };
}

/** Undefined for a damaged body. */
function toEntry(stored: StoredBody): Entry | undefined {
  const body = parseJsonObject(stored.body);
  return body === undefined || typeof body.id !== "string" ? undefined : bodyToEntry(stored, body);
}

function isWanted(entry: Entry, { project, session_id, is_live }: PassRange): boolean {
  if (project !== "" && entry.project !== project) return false;
  if (session_id !== "" && entry.session_id !== session_id) return false;
  const laterMs = (parseTime(entry.recorded_at) ?? 0) - (parseTime(entry.created_at) ?? 0);
  return !is_live || Math.abs(laterMs) < LIVE_MS;
}

/** An interaction with its response, or a user's message and all that follows up to the next one. */
export interface ConversationTurn {
  readonly id: string;
  readonly session_id: string;
  readonly project: string;
  readonly first: number;
  readonly last: number;
  readonly entries: readonly Entry[];
  /** Whether the user has spoken again, or the turn has more entries than are read. */
  readonly is_followed: boolean;
}

/** A turn without a new entry for so long is over. */
const OVER_MS = 30 * 60 * 1000;
/** Of a longer turn only the beginning is read. */
const ENTRIES_MAX = 500;
/** Each may be as large as an entry can be, and most turns are short. */
const READ_AT_ONCE = 8;

export class TurnReader {
  readonly #index: Pick<EntryIndex, "sessionPositions">;
  readonly #entries: Pick<EntryReader, "read" | "getById">;

  constructor(parts: {
    readonly index: Pick<EntryIndex, "sessionPositions">;
    readonly entries: Pick<EntryReader, "read" | "getById">;
  }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** The turn that begins with this entry, as far as it is recorded. */
  async turn(start: Entry): Promise<ConversationTurn> {
    const { id, session_id, project, position } = start;
    const begun = { id, session_id, project, first: position };
    if (start.kind !== "message") {
      const last = await saidThrough(start, this.#entries);
      return { ...begun, last, entries: await this.#entries.read([position]), is_followed: false };
    }
    const { entries, is_followed } = await this.#following(start);
    return { ...begun, last: entries.at(-1)?.position ?? position, entries: [start, ...entries], is_followed };
  }

  /** Whether nothing more can be expected of it. */
  isOver({ entries, is_followed }: ConversationTurn, now_ms: number): boolean {
    const [start] = entries;
    const last = entries.at(-1);
    if (start === undefined || last === undefined || is_followed) return true;
    if (start.kind === "interaction" && (start.response !== "" || start.error !== "")) return true;
    return now_ms - (parseTime(last.recorded_at) ?? 0) >= OVER_MS;
  }

  /** Up to the user's next words. */
  async #following({
    session_id,
    position,
  }: EntryOf<"message">): Promise<Pick<ConversationTurn, "entries" | "is_followed">> {
    const range = { session_id, order: "asc", after: position, limit: ENTRIES_MAX, kinds: SPOKEN } as const;
    const positions = await this.#index.sessionPositions(range);
    const entries: Entry[] = [];
    for (let at = 0; at < positions.length; at += READ_AT_ONCE) {
      const read = await this.#entries.read(positions.slice(at, at + READ_AT_ONCE));
      const next = read.findIndex(isFromUser);
      entries.push(...(next === -1 ? read : read.slice(0, next)));
      if (next !== -1) return { entries, is_followed: true };
    }
    return { entries, is_followed: positions.length === ENTRIES_MAX };
  }
}

/** The kinds of a turn of messages; an interaction is a turn of its own. */
const SPOKEN = ["message", "tool_call", "error", "decision"];
