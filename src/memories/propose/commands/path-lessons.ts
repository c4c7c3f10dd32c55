// Paths that agents get wrong: unquoted ones, files that are one folder further down, and files that cannot be read whole.

import { LruCache } from "../../../model/lru-cache.js";
import type { Evidence } from "../../../model/memory.js";
import { unquoted } from "../../../model/shell-command.js";
import type { Lesson, LessonClass } from "./lesson.js";
import type { CommandStep, FileCall, ShellRun } from "./runs.js";

const KEPT_MAX = 5_000;
const EVIDENCE_MAX = 6;
const UNQUOTED_MIN = 2;
const PATHS_MIN = 2;
const SESSIONS_MIN = 2;
const TIMES_MIN = 3;
const PATH_CHARS_MAX = 120;

const NO_FILE = /no such file|does not exist|doesn't exist|not found|ENOENT|cannot find/i;
/** What a failed read says, and what to do then. */
const REMEDIES: readonly { readonly pattern: RegExp; readonly says: string; readonly remedy: string }[] = [
  {
    pattern: /too (?:large|long|big)|exceeds (?:the )?max|maximum allowed/i,
    says: "too large",
    remedy: "use offset and limit",
  },
  { pattern: /utf-?8|binary file|cannot read binary/i, says: "not UTF-8 text", remedy: "read it with another program" },
  { pattern: /timed? ?out/i, says: "timed out", remedy: "read a part of it" },
];

interface Seen {
  readonly project: string;
  readonly content: string;
  readonly evidence: Evidence[];
  readonly sessions: Set<string>;
  /** Distinct paths. */
  readonly paths: Set<string>;
  times: number;
}

export class PathLessons implements LessonClass {
  readonly #unquoted = new LruCache<Seen>(KEPT_MAX);
  readonly #moved = new LruCache<Seen>(KEPT_MAX);
  readonly #limits = new LruCache<Seen>(KEPT_MAX);

  add(step: CommandStep, recent: readonly CommandStep[]): void {
    if (step.is === "named" || step.is === "other") return;
    if (step.is === "run" && step.is_unquoted) this.#addUnquoted(step);
    if (step.is === "read" && step.outcome === "failed") this.#addLimit(step);
    if (step.outcome === "worked") this.#addMoved(step, recent);
  }

  *lessons(): Generator<Lesson> {
    for (const seen of this.#unquoted.values()) {
      yield lessonOf("quoting", seen, seen.times >= UNQUOTED_MIN ? undefined : "It was seen once.");
    }
    for (const seen of this.#moved.values()) {
      yield lessonOf("moved_files", seen, seen.paths.size >= PATHS_MIN ? undefined : "It was seen for one path.");
    }
    for (const seen of this.#limits.values()) {
      const isKnown = seen.sessions.size >= SESSIONS_MIN || seen.times >= TIMES_MIN;
      yield lessonOf("read_limit", seen, isKnown ? undefined : "It was seen in one session, fewer than three times.");
    }
  }

  #addUnquoted(run: ShellRun): void {
    const path = run.words.find((word) => /^[^"'`$]*[([][^"'`]*$/.test(word) && word.length <= PATH_CHARS_MAX);
    if (path === undefined || !path.includes("/")) return;
    const content = `Quote paths such as \`${path}\` in shell commands`;
    note(this.#unquoted, run.project, { content, project: run.project }, [run], path);
  }

  /** The path failed before, and works with one more folder in it. */
  #addMoved(step: ShellRun | FileCall, recent: readonly CommandStep[]): void {
    const found = pathsOf(step);
    if (found.length === 0) return;
    for (const before of recent) {
      if ((before.is !== "read" && before.is !== "run") || before.project !== step.project) continue;
      if (before.outcome === "worked" && before.is === "read") continue;
      if (!NO_FILE.test(before.error)) continue;
      const named = pathsOf(before).filter((path) => before.is === "read" || before.error.includes(path));
      for (const path of named) {
        for (const other of found) {
          const moved = insertedIn(path, other);
          if (moved === undefined) continue;
          const { root, folder } = moved;
          const content = `Files of \`${root}/\` are in \`${root}/${folder}/\``;
          note(this.#moved, `${step.project}\n${content}`, { content, project: step.project }, [before, step], path);
        }
      }
    }
  }

  #addLimit(call: FileCall): void {
    const known = REMEDIES.find(({ pattern }) => pattern.test(call.error));
    if (known === undefined) return;
    const file = call.path.split("/").slice(-2).join("/");
    const content = `${call.tool} of \`${file}\` fails (${known.says}): ${known.remedy}`;
    note(this.#limits, `${call.project}\n${content}`, { content, project: call.project }, [call], call.path);
  }
}

function note(
  into: LruCache<Seen>,
  key: string,
  { content, project }: Pick<Seen, "content" | "project">,
  steps: readonly (ShellRun | FileCall)[],
  path: string,
): void {
  const seen = into.get(key) ?? { content, project, evidence: [], sessions: new Set(), paths: new Set(), times: 0 };
  into.set(key, seen);
  seen.times += 1;
  seen.paths.add(path);
  for (const { session_id, entry_id, quote } of steps) {
    seen.sessions.add(session_id);
    if (seen.evidence.length < EVIDENCE_MAX) seen.evidence.push({ entry_id, quote });
  }
}

function lessonOf(name: "quoting" | "moved_files" | "read_limit", seen: Seen, waits: string | undefined): Lesson {
  const { content, project, evidence, sessions } = seen;
  const type = name === "moved_files" ? "knowledge" : "adaptation";
  const known = { class: name, key: content, type, project, content, evidence, weight: sessions.size } as const;
  return waits === undefined ? known : { ...known, waits };
}

function pathsOf(step: ShellRun | FileCall): readonly string[] {
  if (step.is !== "run") return [step.path];
  return step.words
    .map((word) => unquoted(word))
    .filter((word) => word.includes("/") && !/[\s*?$|<>:]/.test(word) && word.length <= PATH_CHARS_MAX);
}

/** Where one path has one more folder than the other, below a common root. */
function insertedIn(path: string, other: string): { readonly root: string; readonly folder: string } | undefined {
  const [short, long] = [path.split("/"), other.split("/")];
  if (long.length !== short.length + 1) return undefined;
  const at = long.findIndex((part, nth) => part !== short[nth]);
  // The root has a name, and the file itself stays.
  if (at < 1 || at >= short.length || long.slice(at + 1).join("/") !== short.slice(at).join("/")) return undefined;
  return { root: long.slice(0, at).join("/"), folder: long[at] ?? "" };
}
