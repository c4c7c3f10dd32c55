// Merges what several entries say about one call to a model, so each call is counted once: a transcript, a copy of one, and the
// recorded request.
import type { CallTelling } from "../index/call-fold.js";
import { type Counting, tokenNames } from "../model/usage.js";

/** A call to a model as it is counted. */
export interface ModelCall {
  /** Of the first entry that tells of it. */
  readonly position: number;
  /** The earliest recorded time. */
  readonly created_ms: number;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  readonly user: string;
  readonly model: string;
  /** In the order of `tokenNames`. */
  readonly tokens: readonly number[];
  readonly counting?: Counting;
  /** The first tool that the answer calls. */
  readonly tool?: string;
}

interface Group {
  tellings: CallTelling[];
  /** The call as it was counted last; absent since another entry told of it. */
  counted?: ModelCall | undefined;
  /** The provider's ids, as far as they are known yet; a call has one of each. */
  message?: string | undefined;
  request?: string | undefined;
  /** The group that this one was found to be the same as. */
  into?: Group;
}

/** A message of a call stands near its request, and of these so many are remembered. */
const NEAR = 256;
const WAITING_MAX = 20_000;

/** What identifies a call, the most reliable first. */
const identities = ["of", "message", "request"] as const;

/** Takes records of calls in order of position, and returns calls in the order in which they first occur; rests come last. */
export class CallMerger {
  readonly #groups: Group[] = [];
  #hasRests = false;
  readonly #known = {
    of: new Map<string, Group>(),
    message: new Map<string, Group>(),
    request: new Map<string, Group>(),
  };
  /** By session and key: records whose other one has not come yet. */
  readonly #waiting = new Map<string, readonly Waiter[]>();
  /** Calls whose ids others have as well, by both of their ids. */
  readonly #contested = new Map<string, Group>();

  add(telling: CallTelling): void {
    if (telling.rest === true) this.#hasRests = true;
    let group: Group = { tellings: [telling], message: telling.message, request: telling.request };
    let isContested = false;
    for (const identity of identities) {
      const other = rootOf(this.#known[identity].get(telling[identity] ?? ""));
      if (other === undefined) continue;
      if (isOneCall(group, other)) group = merged(other, group);
      else isContested = true;
    }
    if (isContested) group = this.#contest(telling, group);
    group = this.#joinNear(telling, group);
    if (group.tellings[0] === telling) this.#groups.push(group);
    for (const identity of identities) {
      const id = telling[identity];
      // The first call of an id keeps it.
      if (id !== undefined && !this.#known[identity].has(id)) this.#known[identity].set(id, group);
    }
  }

  /** The other record of the same call, which may lack the provider's id: by the ids of its tool calls, or by its text. */
  #joinNear(telling: CallTelling, own: Group): Group {
    const { same, session_id, position } = telling;
    if (same === undefined || session_id === undefined) return own;
    const keys = same.calls ?? [same.said ?? ""];
    const names = keys.map((key) => JSON.stringify([session_id, key]));
    for (const name of names) {
      const other = this.#waiting.get(name)?.find((waiter) => isOtherRecord(waiter, telling));
      const group = rootOf(other?.group);
      if (other === undefined || group === undefined || !isOneCall(own, group)) continue;
      for (const key of other.names) {
        this.#waiting.set(
          key,
          (this.#waiting.get(key) ?? []).filter((waiter) => waiter !== other),
        );
      }
      return merged(group, own);
    }
    const waiter: Waiter = { telling, group: own, names };
    for (const name of names) {
      const near = (this.#waiting.get(name) ?? []).filter(({ telling: one }) => position - one.position <= NEAR);
      this.#waiting.set(name, [...near, waiter]);
    }
    for (const [name] of this.#waiting) {
      if (this.#waiting.size <= WAITING_MAX) break;
      this.#waiting.delete(name);
    }
    return own;
  }

  #contest({ message, request }: CallTelling, own: Group): Group {
    const both = JSON.stringify([message, request]);
    const other = rootOf(this.#contested.get(both));
    const group = other !== undefined && isOneCall(own, other) ? merged(other, own) : own;
    this.#contested.set(both, group);
    return group;
  }

  *counted(): Generator<ModelCall> {
    const counted = new Set<string>();
    const rests: ModelCall[] = [];
    for (const group of this.#groups) {
      if (group.into !== undefined) continue;
      group.counted ??= toCall(group.tellings);
      const call = group.counted;
      if (call === undefined) continue;
      if (group.tellings[0]?.rest === true) {
        rests.push(call);
        continue;
      }
      if (this.#hasRests) counted.add(nameOf(call));
      yield call;
    }
    // What a total had left over may be a call that was recorded by other means.
    for (const rest of rests) if (!counted.has(nameOf(rest))) yield rest;
  }
}

/** A record of a call whose other record may follow. */
interface Waiter {
  readonly telling: CallTelling;
  readonly group: Group;
  readonly names: readonly string[];
}

/** Two calls may say the same; that they also take as many tokens is no accident. */
function isOtherRecord({ telling: one }: Waiter, other: CallTelling): boolean {
  const isNear = other.position - one.position <= NEAR && one.same?.is_message !== other.same?.is_message;
  const isSameCount = one.tokens === undefined || other.tokens === undefined || outputOf(one) === outputOf(other);
  return isNear && isSameCount;
}

function nameOf({ session_id, tokens }: ModelCall): string {
  return JSON.stringify([session_id, tokens]);
}

function rootOf(group: Group | undefined): Group | undefined {
  let root = group;
  while (root?.into !== undefined) root = root.into;
  return root;
}

/** Two answers are two calls, although somebody gave both the same id of a request; likewise the other way round. */
function isOneCall(one: Group, other: Group): boolean {
  return (["message", "request"] as const).every(
    (id) => one[id] === undefined || other[id] === undefined || one[id] === other[id],
  );
}

/** The earlier group takes the other in. */
function merged(one: Group, other: Group): Group {
  if (one === other) return one;
  const [first, later] = positionOf(one) < positionOf(other) ? [one, other] : [other, one];
  // The common case: a single, newer record.
  if (positionOf(later) > (first.tellings.at(-1)?.position ?? 0)) {
    // One by one: there may be more than a call takes arguments.
    for (const telling of later.tellings) first.tellings.push(telling);
  } else first.tellings = [...first.tellings, ...later.tellings].sort((left, right) => left.position - right.position);
  first.message ??= later.message;
  first.request ??= later.request;
  later.tellings = [];
  later.into = first;
  first.counted = undefined;
  later.counted = undefined;
  return first;
}

function positionOf({ tellings }: Group): number {
  return tellings[0]?.position ?? 0;
}

/** Undefined where no record has token counts. */
function toCall(tellings: readonly CallTelling[]): ModelCall | undefined {
  const whole = tellings.length === 1 ? tellings[0] : greatest(sourcesOf(tellings));
  if (whole?.tokens === undefined) return undefined;
  const first = (name: "session_id" | "project" | "client" | "user" | "model"): string =>
    tellings.find((telling) => telling[name] !== undefined)?.[name] ?? "";
  const tool = tellings.find((telling) => telling.tool !== undefined)?.tool;
  return {
    position: tellings[0]?.position ?? 0,
    created_ms: tellings.reduce((earliest, { created_ms }) => Math.min(earliest, created_ms), Number.MAX_SAFE_INTEGER),
    session_id: first("session_id"),
    project: first("project"),
    client: first("client"),
    user: first("user"),
    // The provider names the exact model with its count; the request may only name a family.
    model: whole.model ?? first("model"),
    tokens: whole.tokens,
    ...(whole.counting === undefined ? {} : { counting: whole.counting }),
    ...(tool === undefined ? {} : { tool }),
  };
}

type Source = Pick<CallTelling, "tokens" | "model" | "counting">;

/** What each source says: a response replaces its interaction's record, and the continuation of a message adds to it. */
function sourcesOf(tellings: readonly CallTelling[]): readonly Source[] {
  const byEntry = new Map<string | number, Source>();
  // A transcript that tells of one call in several messages does so in one session.
  const lastIn = new Map<string, number>();
  for (const { of, session_id = "", position, tokens, model, counting, adds } of tellings) {
    const entry = of ?? (adds ? (lastIn.get(session_id) ?? position) : position);
    if (!adds) lastIn.set(session_id, position);
    const before = byEntry.get(entry);
    const sum = adds ? plus(before?.tokens, tokens) : (tokens ?? before?.tokens);
    byEntry.set(entry, {
      ...before,
      ...(sum === undefined ? {} : { tokens: sum }),
      ...(model === undefined ? {} : { model }),
      ...(counting === undefined ? {} : { counting }),
    });
  }
  return [...byEntry.values()];
}

const OUTPUT = tokenNames.indexOf("output_tokens");

/** Of several counts of one call the one with most output is complete: others were made while it was still answering. */
function greatest(sources: readonly Source[]): Source | undefined {
  let found: Source | undefined;
  for (const source of sources) {
    if (source.tokens === undefined) continue;
    if (found === undefined || outputOf(source) > outputOf(found)) found = source;
  }
  return found;
}

function outputOf({ tokens }: Source): number {
  return tokens?.[OUTPUT] ?? 0;
}

function plus(one: readonly number[] | undefined, other: readonly number[] | undefined): readonly number[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.map((count, at) => count + (other[at] ?? 0));
}
