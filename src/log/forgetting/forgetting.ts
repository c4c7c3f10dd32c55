// Forgetting: finds what is to go in the log itself, appends redactions for it and all that belongs to it, and cleans
// the files.

import { lastingKinds } from "../../model/body.js";
import { idClaim } from "../../model/claims.js";
import { Fault } from "../../model/fault.js";
import { ACTOR_DEFAULT, isPositionText } from "../../model/ids.js";
import { itemAt } from "../../model/item-at.js";
import type { Mask } from "../../model/mask.js";
import { notFound, Rejection, reject } from "../../model/rejection.js";
import { packOwn, type WriteContext } from "../capture/draft.js";
import type { GroupCommit } from "../capture/group-commit.js";
import type { EntryLog, StoredBody } from "../port.js";
import { belongingClaims, feedbackOn, type LogRange, memoriesOf } from "./belonging.js";
import {
  type ForgetRequest,
  type ForgetTarget,
  type Forgotten,
  filterOf,
  parseRetentionRules,
  type Retained,
  type RetentionOptions,
  reasonOf,
  type Scrubbed,
  type ScrubOptions,
} from "./forget-requests.js";
import type { LogFilter, LogLookups } from "./log-lookups.js";
import { findSecrets, type SecretFinding } from "./recorded-secrets.js";

type Find = ErasureRequest["find"];

export class Forgetting {
  readonly #log: EntryLog;
  readonly #calls: LogLookups;
  readonly #nowMs: () => number;
  readonly #erasing: Erasing;

  constructor(parts: ErasingParts) {
    this.#log = parts.log;
    this.#calls = parts.calls;
    this.#nowMs = () => parts.writeContext.nowMs();
    this.#erasing = new Erasing(parts);
  }

  /** Forgets an entry, a session or a project; rejects if nothing is found. */
  async forget({ target, reason, dry_run, actor }: ForgetRequest): Promise<Forgotten | Rejection> {
    const position = target.scope === "entry" ? await this.#positionOf(target.entry) : undefined;
    const refused = position === undefined ? undefined : await this.#refusal(position, target);
    if (refused !== undefined) return refused;
    const find = target.scope === "entry" ? at(position) : this.#inLog(filterOfTarget(target));
    const forgotten = await this.#erasing.erase({ find, scope: target.scope, reason, dry_run, actor });
    return forgotten.entries === 0 ? nothingOf(target) : forgotten;
  }

  /** Applies retention rules, one after the other. */
  async retain(options: RetentionOptions): Promise<Retained | Rejection> {
    const { dry_run = false, actor = ACTOR_DEFAULT } = options;
    const rules = parseRetentionRules(options.rules);
    if (rules instanceof Rejection) return rules;
    const done: Retained["rules"][number][] = [];
    for (const rule of rules) {
      const find = this.#inLog(filterOf(rule, this.#nowMs()));
      const request = { find, scope: "retention", reason: reasonOf(rule), dry_run, actor };
      done.push({ ...rule, ...(await this.#erasing.erase(request)) });
    }
    return { dry_run, rules: done };
  }

  /** Finds entries with secrets, and forgets them unless it is a dry run. */
  async scrub(options: ScrubOptions, mask: Mask): Promise<Scrubbed> {
    const { dry_run = false, actor = ACTOR_DEFAULT, reason = "it held a secret" } = options;
    const findings: SecretFinding[] = [];
    const find: Find = async (range) => {
      const found = await findSecrets(this.#log, mask, range);
      findings.push(...found);
      return found.map(({ position }) => position);
    };
    return { ...(await this.#erasing.erase({ find, scope: "scrub", reason, dry_run, actor })), findings };
  }

  /** Searches the log: the index would be faster, but may lack entries. */
  #inLog(filter: LogFilter): Find {
    return (range) => this.#calls.selectFromLog({ filter, ...range });
  }

  async #positionOf(entry: string): Promise<number | undefined> {
    if (isPositionText(entry)) return Number.isSafeInteger(Number(entry)) ? Number(entry) : undefined;
    const [position] = await this.#log.find([idClaim(entry)]);
    return position;
  }

  async #refusal(position: number, target: ForgetTarget): Promise<Rejection | undefined> {
    const [stored] = await this.#log.getBodies([position]);
    if (target.scope !== "entry" || stored === undefined || !lastingKinds.includes(stored.kind)) return undefined;
    const message = `entry ${target.entry} was written by the log itself (${stored.kind}) and cannot be forgotten`;
    return reject({ code: "kind_reserved", field: "entry", message });
  }
}

function at(position: number | undefined): Find {
  return async ({ after, through }) =>
    position !== undefined && position > after && position <= through ? [position] : [];
}

function filterOfTarget(target: Exclude<ForgetTarget, { readonly scope: "entry" }>): LogFilter {
  return target.scope === "session" ? { session_id: target.session_id } : { project: target.project };
}

function nothingOf(target: ForgetTarget): Rejection {
  if (target.scope === "entry") {
    return notFound("entry", target.entry, { field: "entry", orElse: ", or it was forgotten before" });
  }
  if (target.scope === "session") {
    return reject({ code: "session_not_found", field: "session_id", message: "the session has no entries" });
  }
  return reject({ code: "project_not_found", field: "project", message: "the project has no entries" });
}

interface ErasureRequest {
  /** What is to go within a range; it must give the same answer when repeated. */
  readonly find: (range: LogRange) => Promise<readonly number[]>;
  readonly scope: string;
  readonly reason: string;
  readonly dry_run: boolean;
  readonly actor: string;
}

interface ErasingParts {
  readonly log: EntryLog;
  readonly calls: LogLookups;
  readonly commit: Pick<GroupCommit, "append">;
  readonly writeContext: WriteContext;
}

/** Positions per redaction: erasing them delays captures for about a second. */
const POSITIONS_MAX = 100_000;
const BODIES_AT_ONCE = 200;

type KindsByPosition = ReadonlyMap<number, string>;

/** What was erased so far. */
interface ErasureProgress {
  readonly kinds: Map<number, string>;
  redaction: number | null;
  readonly left: string[];
}

class Erasing {
  readonly #log: EntryLog;
  readonly #calls: LogLookups;
  readonly #commit: Pick<GroupCommit, "append">;
  readonly #writeContext: WriteContext;

  constructor(parts: ErasingParts) {
    this.#log = parts.log;
    this.#calls = parts.calls;
    this.#commit = parts.commit;
    this.#writeContext = parts.writeContext;
  }

  /**
   * Erases what is found and what belongs to it. Entries recorded meanwhile, before the redaction, are found by
   * searching that range again; later ones stay. So it searches twice, and no more.
   */
  async erase(request: ErasureRequest): Promise<Forgotten> {
    const { position } = await this.#log.head();
    const whole = { after: 0, through: position };
    const found = await this.#withBelongings(await request.find(whole), whole);
    if (request.dry_run) return toForgotten(request, { kinds: new Map(found.kinds), redaction: null, left: [] });
    const deed: ErasureProgress = { kinds: new Map(), redaction: null, left: [] };
    const isIndexMismatched = await this.#isIndexMismatched([...found.kinds.keys()]);
    await this.#redactAll(deed, request, found.kinds);
    const { redaction } = deed;
    if (redaction === null) return toForgotten(request, deed);
    const belated = (await this.#log.find(found.awaited)).filter((one) => one !== undefined && one < redaction);
    const meanwhile = { after: position, through: redaction - 1 };
    const late = [...(await request.find(meanwhile)), ...(belated as readonly number[])];
    const rest = await this.#withBelongings(late, meanwhile, deed.kinds);
    await this.#redactAll(deed, request, rest.kinds);
    deed.left.push(...(await this.#clean(isIndexMismatched)));
    return toForgotten(request, deed);
  }

  /**
   * Entries that have a body, with their kinds, and what belongs to them or, within the range, to what has gone; and
   * claims of what may still be recorded.
   */
  async #withBelongings(
    positions: readonly number[],
    range: LogRange,
    gone: KindsByPosition = new Map(),
  ): Promise<{ readonly kinds: KindsByPosition; readonly awaited: readonly string[] }> {
    const kinds = new Map<number, string>();
    const awaited: string[] = [];
    let wanted = positions;
    while (wanted.length > 0) {
      const belonging: number[] = [];
      for (const page of pagesOf(wanted, BODIES_AT_ONCE)) {
        const there = (await this.#log.getBodies(page)).filter(hasBody);
        for (const { position, kind } of there) if (!lastingKinds.includes(kind)) kinds.set(position, kind);
        const claims = there.flatMap(belongingClaims);
        for (const [at, position] of (await this.#log.find(claims)).entries()) {
          if (position === undefined) awaited.push(itemAt(claims, at));
          else belonging.push(position);
        }
      }
      wanted = belonging.filter((position) => !kinds.has(position));
    }
    for (const [position, kind] of await this.#saidAbout(kinds, gone, range)) kinds.set(position, kind);
    return { kinds, awaited };
  }

  /**
   * Feedback on what goes or has gone, memories that quote it, and the same for those, until nothing more is found.
   * They follow what they name, so earlier entries are skipped.
   */
  async #saidAbout(going: KindsByPosition, gone: KindsByPosition, range: LogRange): Promise<KindsByPosition> {
    const said = new Map<number, string>();
    const all = [going, gone, said];
    const has = (position: number): boolean => all.some((kinds) => kinds.has(position));
    for (let known = -1; known < said.size; ) {
      known = said.size;
      let first = Number.POSITIVE_INFINITY;
      for (const kinds of all) for (const position of kinds.keys()) first = Math.min(first, position);
      const after = Math.max(range.after, first - 1);
      if (after >= range.through) break;
      const parts = { log: this.#log, calls: this.#calls, range: { ...range, after } };
      for (const position of await feedbackOn(has, parts)) said.set(position, "feedback");
      const responses = [...going].flatMap(([position, kind]) => (kind === "response" ? [position] : []));
      for (const [position, kind] of await memoriesOf({ has, responses }, parts)) said.set(position, kind);
    }
    return said;
  }

  /**
   * Whether index rows of what goes are wrong. The index uses its rows to find what else to erase, so a wrong index
   * must be rebuilt.
   */
  async #isIndexMismatched(positions: readonly number[]): Promise<boolean> {
    try {
      for (const page of pagesOf(positions, BODIES_AT_ONCE)) {
        if ((await this.#calls.mismatchedRows(page)).length > 0) return true;
      }
    } catch (error) {
      // A broken index must not keep anything from being forgotten.
      if (!(error instanceof Fault)) throw error;
    }
    return false;
  }

  /** Once a redaction has erased something, a later fault must not report that nothing was done. */
  async #redactAll(deed: ErasureProgress, request: ErasureRequest, kinds: KindsByPosition): Promise<void> {
    const positions = inOrder(kinds.keys());
    let done = 0;
    for (const page of pagesOf(positions, POSITIONS_MAX)) {
      try {
        const redaction = await this.#redact(request, page);
        deed.redaction ??= redaction;
      } catch (error) {
        if (deed.redaction === null || !(error instanceof Fault)) throw error;
        const rest = positions.length - done;
        deed.left.push(`${rest} more could not be forgotten (${error.message}); repeat it once that is fixed`);
        return;
      }
      await this.#assertGone(page);
      for (const position of page) deed.kinds.set(position, kinds.get(position) as string);
      done += page.length;
    }
  }

  /** One unit: nothing is erased without the entry that says so, and without an audit entry. */
  async #redact(
    { reason, scope, actor }: Pick<ErasureRequest, "reason" | "scope" | "actor">,
    positions: readonly number[],
  ): Promise<number> {
    const redaction = packOwn("redaction", { positions, reason, scope }, this.#writeContext);
    const note = packOwn("audit", { action: "forget", actor, target: redaction.id }, this.#writeContext);
    const outcome = await this.#commit.append([redaction.entry, note.entry]);
    if ("taken" in outcome)
      throw new Fault("store_failed", "a newly generated id is already taken", { hint: "Try again." });
    return outcome.placed[0]?.position as number;
  }

  /** A tampered database may keep bodies; repeating the redaction would not help. */
  async #assertGone(positions: readonly number[]): Promise<void> {
    for (const page of pagesOf(positions, BODIES_AT_ONCE)) {
      const [kept] = (await this.#log.getBodies(page)).filter(hasBody);
      if (kept === undefined) continue;
      throw new Fault("store_corrupt", `entry ${kept.position} still exists although a redaction names it`, {
        hint: "Something in the database keeps it: run `hansard verify`, and look for triggers that are not Hansard's.",
      });
    }
  }

  /** The entries are forgotten by now: leftovers in files are reported in words, and are no failure. */
  async #clean(isIndexMismatched: boolean): Promise<readonly string[]> {
    const left: string[] = [];
    const attempt = async (where: string, work: () => Promise<string | undefined>): Promise<void> => {
      try {
        const words = await work();
        if (words !== undefined) left.push(words);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        left.push(
          `the files of the ${where} may still contain deleted text until the next start or deletion (${error.message})`,
        );
      }
    };
    await attempt("log", () => this.#log.purge());
    await attempt("index", async () => {
      if (isIndexMismatched) await this.#calls.rebuildIndex();
      return this.#calls.purgeIndex();
    });
    return left;
  }
}

function hasBody(stored: StoredBody | undefined): stored is StoredBody {
  return stored !== undefined && (stored.body !== undefined || stored.flaw !== undefined);
}

function toForgotten({ dry_run }: ErasureRequest, { kinds, redaction, left }: ErasureProgress): Forgotten {
  const by_kind: { [kind: string]: number } = {};
  for (const kind of kinds.values()) by_kind[kind] = (by_kind[kind] ?? 0) + 1;
  return { dry_run, entries: kinds.size, by_kind, positions: inOrder(kinds.keys()), redaction, left };
}

function inOrder(positions: Iterable<number>): readonly number[] {
  return [...positions].toSorted((left, right) => left - right);
}

function* pagesOf<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
