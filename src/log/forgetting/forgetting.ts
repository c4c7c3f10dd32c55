// Forgetting: what is to go, by whichever rule, is found in the log itself, and then erased.

import { lastingKinds } from "../../model/body.js";
import { idClaim } from "../../model/claims.js";
import { isPositionText } from "../../model/ids.js";
import type { Mask } from "../../model/mask.js";
import { notFound, Rejection, reject } from "../../model/rejection.js";
import type { EntryLog } from "../port.js";
import { Erasing, type ErasingParts, type ErasingWish } from "./erasing.js";
import type { ForgetRequest, ForgetTarget } from "./forget-options.js";
import type { Forgotten, Retained, RetentionOptions, Scrubbed, ScrubOptions } from "./forgotten.js";
import type { LogFilter, LogLookups } from "./log-lookups.js";
import { filterOf, parseRetentionRules, reasonOf } from "./retention.js";
import { findSecrets, type SecretFinding } from "./scrubbing.js";

const ACTOR_DEFAULT = "person";

type Find = ErasingWish["find"];

export class Forgetting {
  readonly #log: EntryLog;
  readonly #calls: LogLookups;
  readonly #nowMs: () => number;
  readonly #erasing: Erasing;

  constructor(parts: ErasingParts) {
    this.#log = parts.log;
    this.#calls = parts.calls;
    this.#nowMs = () => parts.surroundings.nowMs();
    this.#erasing = new Erasing(parts);
  }

  /** Forgets an entry, a session or a project; a rejection where there is nothing of it. */
  async forget({ target, reason, dry_run, actor }: ForgetRequest): Promise<Forgotten | Rejection> {
    const position = target.scope === "entry" ? await this.#positionOf(target.entry) : undefined;
    const refused = position === undefined ? undefined : await this.#refusal(position, target);
    if (refused !== undefined) return refused;
    const find = target.scope === "entry" ? at(position) : this.#inLog(filterOfTarget(target));
    const forgotten = await this.#erasing.erase({ find, scope: target.scope, reason, dry_run, actor });
    return forgotten.entries === 0 ? nothingOf(target) : forgotten;
  }

  /** Forgets what is older than the rules allow, one rule after the other. */
  async retain(options: RetentionOptions): Promise<Retained | Rejection> {
    const { dry_run = false, actor = ACTOR_DEFAULT } = options;
    const rules = parseRetentionRules(options.rules);
    if (rules instanceof Rejection) return rules;
    const done: Retained["rules"][number][] = [];
    for (const rule of rules) {
      const find = this.#inLog(filterOf(rule, this.#nowMs()));
      const wish = { find, scope: "retention", reason: reasonOf(rule), dry_run, actor };
      done.push({ ...rule, ...(await this.#erasing.erase(wish)) });
    }
    return { dry_run, rules: done };
  }

  /** Looks for entries that hold secrets, and forgets them unless it is a dry run. */
  async scrub(options: ScrubOptions, mask: Mask): Promise<Scrubbed> {
    const { dry_run = false, actor = ACTOR_DEFAULT, reason = "it held a secret" } = options;
    const findings: SecretFinding[] = [];
    const find: Find = async (stretch) => {
      const found = await findSecrets(this.#log, mask, stretch);
      findings.push(...found);
      return found.map(({ position }) => position);
    };
    return { ...(await this.#erasing.erase({ find, scope: "scrub", reason, dry_run, actor })), findings };
  }

  /** The index would be quicker, and may lack what is to go. */
  #inLog(filter: LogFilter): Find {
    return (stretch) => this.#calls.selectFromLog({ filter, ...stretch });
  }

  async #positionOf(entry: string): Promise<number | undefined> {
    if (isPositionText(entry)) return Number.isSafeInteger(Number(entry)) ? Number(entry) : undefined;
    const [position] = await this.#log.find([idClaim(entry)]);
    return position;
  }

  async #refusal(position: number, target: ForgetTarget): Promise<Rejection | undefined> {
    const [stored] = await this.#log.getBodies([position]);
    if (target.scope !== "entry" || stored === undefined || !lastingKinds.includes(stored.kind)) return undefined;
    const message = `entry ${target.entry} is what the log itself wrote down (${stored.kind}), and stays`;
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
