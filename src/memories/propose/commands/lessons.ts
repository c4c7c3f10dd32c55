// The rules on commands: a fold over tool calls in the order of the log. Each class looks at calls and keeps what it has seen; a
// lesson is proposed once its condition holds, and again when another session shows it.

import { LruCache } from "../../../model/lru-cache.js";
import type { Proposal } from "../../../model/memory.js";
import type { PassedOverWords } from "../../review/memory-answers.js";
import { ruleClasses } from "../rule-classes.js";
import type { Lesson, LessonClass } from "./lesson.js";
import { ProgramLessons } from "./missing-programs.js";
import { PathLessons } from "./path-lessons.js";
import { ProjectCommands } from "./project-commands.js";
import { RepairLessons } from "./repairs.js";
import type { CommandStep } from "./runs.js";

/** A fix is looked for in so many calls. */
const RECENT_MAX = 12;
const SESSIONS_KEPT = 1_000;
/** Lessons whose proposals are remembered, and passed over lessons that are explained. */
const PROPOSED_KEPT = 20_000;
const EXPLAINED_MAX = 1_000;

interface CommandProposal {
  readonly proposal: Proposal;
  /** Call it once the proposal was made. */
  readonly done: () => void;
}

export class CommandLessons {
  readonly #classes: readonly LessonClass[] = [
    new ProgramLessons(),
    new RepairLessons(),
    new PathLessons(),
    new ProjectCommands(),
  ];
  readonly #recentBySession = new LruCache<CommandStep[]>(SESSIONS_KEPT);
  /** By lesson: its weight when it was proposed last. */
  readonly #proposed = new LruCache<number>(PROPOSED_KEPT);

  add(step: CommandStep): void {
    if (step.is === "named") {
      for (const each of this.#classes) each.add(step, []);
      return;
    }
    const recent = this.#recentBySession.get(step.session_id) ?? [];
    if (step.is !== "other") for (const each of this.#classes) each.add(step, recent);
    recent.unshift(step);
    recent.length = Math.min(recent.length, RECENT_MAX);
    this.#recentBySession.set(step.session_id, recent);
  }

  /** What is new since the last proposal. */
  newProposals(): readonly CommandProposal[] {
    return this.#lessons().flatMap((lesson) => {
      const key = `${lesson.project}\n${lesson.class}\n${lesson.key}`;
      if (lesson.waits !== undefined || (this.#proposed.get(key) ?? 0) >= lesson.weight) return [];
      return [{ proposal: proposalOf(lesson), done: () => void this.#proposed.set(key, lesson.weight) }];
    });
  }

  /** What was seen and is not proposed, with the reason. */
  passedOver(): readonly PassedOverWords[] {
    return this.#lessons()
      .flatMap(({ waits, content, class: name, evidence }) =>
        waits === undefined ? [] : [{ entry_id: evidence[0]?.entry_id ?? "", content, reason: waits, class: name }],
      )
      .slice(0, EXPLAINED_MAX);
  }

  #lessons(): readonly Lesson[] {
    return this.#classes.flatMap((each) => [...each.lessons()]);
  }
}

function proposalOf({ class: name, type, project, content, evidence }: Lesson): Proposal {
  const { source } = ruleClasses[name];
  return { type, content, source, evidence: evidence.slice(0, EVIDENCE_MAX), project, tags: [name], generation: "" };
}

const EVIDENCE_MAX = 8;
