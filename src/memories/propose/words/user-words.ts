// The rules on words as a fold over what was said, in the order of the log. What a user says counts once the session is known to be a
// person's at work: two typed messages, and a call that touches a file or a shell. Strict sentences are proposed then; others once
// they were said in two sessions.

import { LruCache } from "../../../model/lru-cache.js";
import type { Proposal } from "../../../model/memory.js";
import type { PassedOverWords } from "../../review/memory-answers.js";
import { jaccard } from "../../text/stems.js";
import { ruleClasses } from "../rule-classes.js";
import { isSubagent, type SaidFinding, type WordsStep } from "./said.js";

const TYPED_MIN = 2;
const SESSIONS_KEPT = 5_000;
/** Of one session so many sentences wait until it is known to be a person's. */
const WAITING_MAX = 50;
/** Sentences that were said once, the oldest are dropped. */
const ONCE_MAX = 2_000;
const SAME_MIN = 0.7;
const EXPLAINED_MAX = 1_000;

interface Heard extends SaidFinding {
  readonly session_id: string;
  readonly project: string;
}

interface Session {
  typed: number;
  works_on_files: boolean;
  is_unattended: boolean;
  waiting: Heard[];
}

export class UserWords {
  readonly #proposesSentences: boolean;
  readonly #sessions = new LruCache<Session>(SESSIONS_KEPT);
  #once: Heard[] = [];
  /** What would be proposed if sentences were. */
  readonly #left: Heard[] = [];

  /** @param sentences Whether sentences are proposed, and not only headings. */
  constructor({ sentences }: { readonly sentences: boolean }) {
    this.#proposesSentences = sentences;
  }

  /** What is to be proposed now. */
  add(step: WordsStep): readonly Proposal[] {
    const session = this.#sessions.get(step.session_id) ?? newSession(step.session_id);
    if (step.session_id !== "") this.#sessions.set(step.session_id, session);
    if (step.is === "mark") {
      session.works_on_files ||= step.works_on_files === true;
      session.is_unattended ||= step.is_unattended === true;
      return this.#release(session);
    }
    session.typed += Number(step.is_typed);
    const { session_id, project } = step;
    const heard = step.findings.map((finding) => ({ ...finding, session_id, project }));
    const ofUser = heard.filter(({ by }) => by === "user");
    session.waiting.push(...ofUser.slice(0, Math.max(0, WAITING_MAX - session.waiting.length)));
    const ofAssistant = heard.filter(({ by }) => by === "assistant").flatMap((one) => this.#propose(one));
    return [...ofAssistant, ...this.#release(session)];
  }

  /** What was found and is not proposed, with the reason. */
  passedOver(): readonly PassedOverWords[] {
    const waiting = [...this.#sessions.values()].flatMap((session) => {
      const reason = flawOf(session);
      return reason === undefined ? [] : session.waiting.map((one) => explained(one, reason));
    });
    const once = this.#once.map((one) =>
      explained(one, "It was said in one session; it is proposed once it is said in another."),
    );
    const left = this.#left.map((one) =>
      explained(one, "Sentences are proposed only if that is switched on (--words)."),
    );
    return [...left, ...waiting, ...once].slice(0, EXPLAINED_MAX);
  }

  #release(session: Session): readonly Proposal[] {
    if (session.waiting.length === 0 || flawOf(session) !== undefined) return [];
    const { waiting } = session;
    session.waiting = [];
    return waiting.flatMap((one) => this.#propose(one));
  }

  #propose(heard: Heard): readonly Proposal[] {
    if (!this.#proposesSentences && heard.class !== "heading") {
      if (ruleClasses[heard.class].sessions === 1 && this.#left.length < EXPLAINED_MAX) this.#left.push(heard);
      return [];
    }
    if (ruleClasses[heard.class].sessions === 1) return [proposalOf(heard, [heard])];
    const stems = new Set(heard.stems);
    const isSame = (other: Heard): boolean =>
      other.project === heard.project && other.by === heard.by && jaccard(stems, new Set(other.stems)) >= SAME_MIN;
    const before = this.#once.filter((other) => other.session_id !== heard.session_id && isSame(other));
    const isRepeated = this.#once.some((other) => other.session_id === heard.session_id && isSame(other));
    if (!isRepeated) this.#once.push(heard);
    if (this.#once.length > ONCE_MAX) this.#once = this.#once.slice(-ONCE_MAX);
    const [first] = before;
    return first === undefined || isRepeated ? [] : [proposalOf(heard, [heard, first])];
  }
}

function newSession(session_id: string): Session {
  return { typed: 0, works_on_files: false, is_unattended: isSubagent(session_id), waiting: [] };
}

/** Why a session's words do not count; undefined where they do. */
function flawOf({ typed, works_on_files, is_unattended }: Session): string | undefined {
  if (is_unattended) return "Another agent or a script wrote it: nobody types into the session.";
  if (typed < TYPED_MIN) return "The session has one message of a person.";
  return works_on_files ? undefined : "The session has no call that touches a file or a shell.";
}

function explained({ class: name, evidence, content }: Heard, reason: string): PassedOverWords {
  return { entry_id: evidence.entry_id, content, reason, class: name };
}

/** @internal Exported for tests. */
export function proposalOf(
  { class: name, type, content, project }: Pick<Heard, "class" | "type" | "content" | "project">,
  said: readonly Pick<Heard, "evidence">[],
): Proposal {
  const { source } = ruleClasses[name];
  const evidence = said.map((one) => one.evidence);
  return { type, content, source, evidence, project, tags: [name], generation: "" };
}
