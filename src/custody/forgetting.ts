// Forgetting: finds all that belongs to what is to go, and appends the redaction that takes it with it.
import type { GroupCommit } from "../capture/group-commit.js";
import type { Surroundings } from "../capture/pack.js";
import { idClaim } from "../model/claims.js";
import { Fault } from "../model/fault.js";
import { isPositionText } from "../model/ids.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { isReservedKind } from "../model/kinds.js";
import { Rejection, reject } from "../model/rejection.js";
import type { RowFilter, RowKey } from "../ports/entry-index.js";
import type { EntryLog, StoredBody } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import type { Asking } from "../read/questions.js";
import { packOwn } from "./audit.js";
import { belongingClaims } from "./belonging.js";
import { type ForgetOptions, type ForgetTarget, parseForgetWish } from "./forget-wish.js";
import type { Forgotten, Retained, RetentionOptions, Scrubbed, ScrubOptions } from "./forgotten.js";
import { filterOf, parseRetentionRules, reasonOf } from "./retention.js";
import { findSecrets } from "./scrubbing.js";

const ACTOR_DEFAULT = "person";
/** So many are named by one redaction: erasing them keeps captures waiting for about a second. */
const POSITIONS_MAX = 100_000;
const PAGE = 10_000;
const BODIES_AT_ONCE = 200;

export class Forgetting {
  readonly #log: EntryLog;
  readonly #reading: Asking;
  readonly #commit: Pick<GroupCommit, "append">;
  readonly #surroundings: Surroundings;

  constructor(parts: {
    readonly log: EntryLog;
    readonly reading: Asking;
    readonly commit: Pick<GroupCommit, "append">;
    readonly surroundings: Surroundings;
  }) {
    this.#log = parts.log;
    this.#reading = parts.reading;
    this.#commit = parts.commit;
    this.#surroundings = parts.surroundings;
  }

  /** Forgets an entry, a session or a project; a rejection where there is nothing of it. */
  async forget(options: ForgetOptions): Promise<Forgotten | Rejection> {
    const wish = parseForgetWish(options);
    if (wish instanceof Rejection) return wish;
    const { target, reason, dry_run } = wish;
    const { actor = ACTOR_DEFAULT } = options;
    const refused = await this.#refusal(target);
    if (refused !== undefined) return refused;
    const find = (): Promise<readonly number[]> => this.#find(target);
    const forgotten = await this.#erase({ find, scope: target.scope, reason, dry_run, actor });
    return forgotten.entries === 0 ? nothingOf(target) : forgotten;
  }

  /** Forgets what is older than the rules allow, one rule after the other. */
  async retain(options: RetentionOptions): Promise<Retained | Rejection> {
    const { dry_run = false, actor = ACTOR_DEFAULT } = options;
    const rules = parseRetentionRules(options.rules);
    if (rules instanceof Rejection) return rules;
    const done: Retained["rules"][number][] = [];
    for (const rule of rules) {
      const filter = filterOf(rule, this.#surroundings.nowMs());
      const find = (): Promise<readonly number[]> => this.#select(filter);
      done.push({
        ...rule,
        ...(await this.#erase({ find, scope: "retention", reason: reasonOf(rule), dry_run, actor })),
      });
    }
    return { dry_run, rules: done };
  }

  /** Looks for entries that hold secrets, and forgets them unless it is a dry run. */
  async scrub(options: ScrubOptions, mask: Mask): Promise<Scrubbed> {
    const { dry_run = false, actor = ACTOR_DEFAULT, reason = "it held a secret" } = options;
    const findings = await findSecrets(this.#log, mask);
    const find = async (): Promise<readonly number[]> => findings.map(({ position }) => position);
    return { ...(await this.#erase({ find, scope: "scrub", reason, dry_run, actor })), findings };
  }

  /**
   * Erases what is found and what belongs to it. What was appended while it was looked for, before the redaction, is found
   * by looking again; what comes after the redaction stays.
   */
  async #erase(wish: {
    readonly find: () => Promise<readonly number[]>;
    readonly scope: string;
    readonly reason: string;
    readonly dry_run: boolean;
    readonly actor: string;
  }): Promise<Forgotten> {
    const kindByPosition = new Map<number, string>();
    let redaction: number | null = null;
    for (;;) {
      const found = await this.#withBelongings(await wish.find());
      const fresh = [...found].filter(([position]) => redaction === null || position < redaction);
      for (const [position, kind] of fresh) kindByPosition.set(position, kind);
      if (fresh.length === 0 || wish.dry_run) break;
      const positions = fresh.map(([position]) => position).toSorted((left, right) => left - right);
      for (let used = 0; used < positions.length; used += POSITIONS_MAX) {
        const placed = await this.#redact({ ...wish, positions: positions.slice(used, used + POSITIONS_MAX) });
        redaction ??= placed;
      }
    }
    const left = redaction === null ? [] : [await this.#log.purge(), await this.#reading.ask("purgeIndex")];
    const positions = [...kindByPosition.keys()].toSorted((left, right) => left - right);
    return {
      dry_run: wish.dry_run,
      entries: positions.length,
      by_kind: countKinds(kindByPosition.values()),
      positions,
      redaction,
      left: left.filter((words) => words !== undefined),
    };
  }

  /** Every position that the filter selects, page by page. */
  async #select(filter: RowFilter): Promise<readonly number[]> {
    const positions: number[] = [];
    let after: RowKey | undefined;
    do {
      const page = await this.#reading.ask("positions", { filter, limit: PAGE, ...(after && { after }) });
      for (const { position } of page) positions.push(position);
      after = page.length < PAGE ? undefined : page.at(-1);
    } while (after !== undefined);
    return positions;
  }

  async #refusal(target: ForgetTarget): Promise<Rejection | undefined> {
    if (target.scope !== "entry") return undefined;
    const [position] = await this.#find(target);
    const [stored] = position === undefined ? [] : await this.#log.getBodies([position]);
    if (stored === undefined || !isReservedKind(stored.kind)) return undefined;
    const message = `entry ${target.entry} is what the log itself wrote down (${stored.kind}), and stays`;
    return reject({ code: "kind_reserved", field: "entry", message });
  }

  async #find(target: ForgetTarget): Promise<readonly number[]> {
    if (target.scope === "session") return this.#select({ session_id: target.session_id });
    if (target.scope === "project") return this.#select({ project: target.project });
    if (isPositionText(target.entry)) return Number.isSafeInteger(Number(target.entry)) ? [Number(target.entry)] : [];
    const [position] = await this.#log.find([idClaim(target.entry)]);
    return position === undefined ? [] : [position];
  }

  /** Those that still have a body, with their kinds, and what belongs to them. */
  async #withBelongings(positions: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const kinds = new Map<number, string>();
    let wanted = positions;
    while (wanted.length > 0) {
      const belonging: number[] = [];
      for (let used = 0; used < wanted.length; used += BODIES_AT_ONCE) {
        const stored = await this.#log.getBodies(wanted.slice(used, used + BODIES_AT_ONCE));
        const there = stored.flatMap((one) => (one === undefined || isGone(one) ? [] : [one]));
        for (const { position, kind } of there) if (!isReservedKind(kind)) kinds.set(position, kind);
        const bodies = there.flatMap(bodyOf);
        const claimed = await this.#log.find(bodies.flatMap(({ kind, body }) => belongingClaims(kind, body)));
        const thought = await this.#reading.ask(
          "feedbackOn",
          bodies.map(({ body }) => String(body.id)),
        );
        for (const position of [...claimed, ...thought])
          if (position !== undefined && !kinds.has(position)) belonging.push(position);
      }
      wanted = belonging.filter((position) => !kinds.has(position));
    }
    return kinds;
  }

  /** One unit, so that no body is gone without the entry that says so, and nobody erases without being written down. */
  async #redact(wish: {
    readonly positions: readonly number[];
    readonly reason: string;
    readonly scope: string;
    readonly actor: string;
  }): Promise<number> {
    const { positions, reason, scope, actor } = wish;
    const redaction = packOwn("redaction", { positions, reason, scope }, this.#surroundings);
    const note = packOwn("audit", { action: "forget", actor, target: redaction.id }, this.#surroundings);
    const outcome = await this.#commit.append([redaction.entry, note.entry]);
    if ("taken" in outcome)
      throw new Fault("store_failed", "an id that was just made is taken", { hint: "Try again." });
    return outcome.placed[0]?.position as number;
  }
}

function isGone({ body, flaw }: StoredBody): boolean {
  return body === undefined && flaw === undefined;
}

function bodyOf(stored: StoredBody): readonly { readonly kind: string; readonly body: JsonObject }[] {
  try {
    const body: unknown = JSON.parse(stored.body ?? "");
    return isJsonObject(body) ? [{ kind: stored.kind, body }] : [];
  } catch {
    // A damaged body can be forgotten like any other; what belonged to it nobody knows any more.
    return [];
  }
}

function countKinds(kinds: Iterable<string>): { readonly [kind: string]: number } {
  const counts: { [kind: string]: number } = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function nothingOf(target: ForgetTarget): Rejection {
  if (target.scope === "entry") {
    const message = `there is no entry ${JSON.stringify(target.entry.slice(0, 128))}, or it was forgotten before`;
    return reject({ code: "entry_not_found", field: "entry", message });
  }
  if (target.scope === "session") {
    return reject({ code: "session_not_found", field: "session_id", message: "the session has no entries" });
  }
  return reject({ code: "project_not_found", field: "project", message: "the project has no entries" });
}
