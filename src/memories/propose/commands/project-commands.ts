// The commands that test, check, lint, format and build a project: the variant of each that worked most often.

import { LruCache } from "../../../model/lru-cache.js";
import type { Evidence } from "../../../model/memory.js";
import { unquoted } from "../../../model/shell-command.js";
import type { Lesson, LessonClass } from "./lesson.js";
import type { CommandStep, ShellRun } from "./runs.js";

const CLEAN_MIN = 3;
const CLEAN_SHARE_MIN = 0.5;
const SESSIONS_MIN = 2;
const RUNS_MIN = 4;
const KEPT_MAX = 10_000;
const SESSIONS_KEPT = 1_000;
const EVIDENCE_MAX = 4;
const NAMED_MAX = 5_000;
const COMMAND_CHARS_MAX = 120;

/** What runs another program: `npx`, `uv run`, `python -m`. */
const RUNNER =
  /^(?:npx(?: --\S+)*|bunx|pnpm (?:exec|dlx)|yarn (?:exec|dlx)|npm exec(?: --)?|uvx|uv run|poetry run|pipenv run|pdm run|hatch run|bundle exec|python[\d.]* -m|dotnet tool run|deno run -A) /;
/** A script of the package, whatever runs it; flags between may name a workspace. */
const SCRIPT = String.raw`(?:npm|pnpm|yarn|bun|deno task)(?: --?[\w-]+(?:[= ][\w@./-]+)?){0,3}(?: run(?:-script)?)?`;

const classes: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  {
    name: "Test",
    pattern: commandPattern(
      `${SCRIPT} (?:t|test|tests|test:(?:unit|ci|run|all|e2e|integration|once))|vitest(?: run)?|jest|mocha|ava|pytest|unittest|tox|nox|` +
        "go test|cargo (?:test|nextest run)|make (?:test|tests|check-test)|just test|mvn (?:-\\S+ )*(?:test|verify)|(?:\\./)?(?:gradlew|gradle) (?:\\S+:)?test|" +
        "dotnet test|rspec|(?:vendor/bin/)?phpunit|mix test|(?:deno|bun|swift|flutter|dart|zig build|sbt|lein|rails|stack|cabal) test|rake (?:test|spec)|ctest|" +
        "playwright test|node --test|nx test|turbo (?:run )?test|bazel test",
    ),
  },
  {
    name: "Typecheck",
    pattern: commandPattern(
      `${SCRIPT} (?:type-?check|check-types|types|tsc|check:types)|tsc|vue-tsc|mypy|pyright|basedpyright|cargo check|turbo (?:run )?type-?check`,
    ),
  },
  { name: "Check", pattern: commandPattern(`${SCRIPT} (?:check|verify|validate)|make (?:check|verify)|just check`) },
  {
    name: "Lint",
    pattern: commandPattern(
      `${SCRIPT} lint(?::(?:fix|ci|check))?|eslint|ruff(?: check)?|cargo clippy|golangci-lint run|biome (?:check|lint|ci)|flake8|pylint|make lint|just lint|rubocop|swiftlint|go vet|oxlint|stylelint`,
    ),
  },
  {
    name: "Format",
    pattern: commandPattern(
      `${SCRIPT} (?:format|fmt|prettier|format:(?:check|fix|write))|prettier|black|ruff format|cargo fmt|gofmt|go fmt|goimports|make (?:fmt|format)|just fmt|biome format|swiftformat`,
    ),
  },
  {
    name: "Build",
    pattern: commandPattern(
      `${SCRIPT} build(?::(?:prod|all|dev))?|make(?: (?:build|all))?|cargo build|go build|mvn (?:-\\S+ )*(?:package|compile|install)|(?:\\./)?(?:gradlew|gradle) (?:\\S+:)?(?:build|assemble\\w*)|dotnet build|` +
        "(?:vite|next|nuxt|astro|tsup|rollup|hugo|swift|flutter|zig|sbt|stack|cabal|bazel|turbo|turbo run|nx) build|xcodebuild|cmake --build|ninja|just build|webpack|esbuild|tsup|docker compose build",
    ),
  },
];

function commandPattern(alternatives: string): RegExp {
  return new RegExp(`^(?:${alternatives})(?= |$)`);
}

/** Only a part is run: one file, one test, one target. */
const ONE_PART = /(?<!config[\w-]*)\.(?!json$)[a-z]{1,5}(?::\d+)?$|::|^[A-Z]\w*Test\b/;
const CHOOSES =
  /^(?:-k|-t|-run|--run|--grep|-g|--test-name-pattern|--testNamePattern|--testPathPattern|--filter|-m|--lf|--ff|--test|--bin|--example|--watch|-w|--help|-h|--version)(?:=|$)/;

type NamedLine = Pick<Extract<CommandStep, { readonly is: "named" }>, "folder" | "is_readme"> & {
  readonly line: string;
};

interface Variant {
  readonly project: string;
  readonly name: string;
  readonly core: string;
  readonly folder: string;
  readonly sessions: Set<string>;
  readonly evidence: Evidence[];
  runs: number;
  clean: number;
}

export class ProjectCommands implements LessonClass {
  readonly #variants = new LruCache<Variant>(KEPT_MAX);
  /** By project: the commands that its memory files name. */
  readonly #named = new LruCache<Map<string, NamedLine>>(SESSIONS_KEPT);

  add(step: CommandStep): void {
    if (step.is === "named") {
      const named = this.#named.get(step.project) ?? new Map<string, NamedLine>();
      const { folder, is_readme } = step;
      for (const line of step.lines) {
        if (named.size < NAMED_MAX) named.set(`${folder}\n${line}`, { line, folder, is_readme });
      }
      this.#named.set(step.project, named);
    } else if (step.is === "run" && step.outcome !== "unknown" && step.project !== "") this.#addRun(step);
  }

  /** The best variant of a project and class; the others are passed over. */
  *lessons(): Generator<Lesson> {
    const byClass = new Map<string, Variant[]>();
    for (const variant of this.#variants.values()) {
      const key = `${variant.project}\n${variant.name}`;
      byClass.set(key, [...(byClass.get(key) ?? []), variant]);
    }
    for (const variants of byClass.values()) {
      const ranked = variants.toSorted(
        (left, right) =>
          right.sessions.size - left.sessions.size || right.clean - left.clean || (left.core < right.core ? -1 : 1),
      );
      const best = ranked.find((variant) => this.#flawOf(variant) === undefined);
      for (const variant of ranked.slice(0, SHOWN_MAX)) {
        const waits = variant === best ? undefined : (this.#flawOf(variant) ?? `\`${best?.core}\` ran more often.`);
        yield lessonOf(variant, waits);
      }
    }
  }

  #addRun(run: ShellRun): void {
    const name = projectCommandClass(run);
    // Of several commands in a line, the last one is known to have run only if it worked.
    if (name === undefined || (run.is_last_of_several && run.outcome === "failed") || run.missing !== "") return;
    const core = [...run.env, run.core].join(" ");
    if (core.length > COMMAND_CHARS_MAX) return;
    const key = [run.project, name, run.folder, core].join("\n");
    const fresh = { project: run.project, name, core, folder: run.folder, evidence: [], sessions: new Set<string>() };
    const variant = this.#variants.get(key) ?? { ...fresh, runs: 0, clean: 0 };
    this.#variants.set(key, variant);
    variant.runs += 1;
    const isNew = !variant.sessions.has(run.session_id);
    variant.sessions.add(run.session_id);
    if (run.outcome !== "worked" || run.is_finding) return;
    variant.clean += 1;
    const isWanted = isNew || variant.evidence.length < 2;
    if (isWanted && variant.evidence.length < EVIDENCE_MAX) {
      variant.evidence.push({ entry_id: run.entry_id, quote: run.quote });
    }
  }

  #flawOf({ project, core, folder, runs, clean, sessions }: Variant): string | undefined {
    const named = [...(this.#named.get(project)?.values() ?? [])];
    // A README names what is run where it is; what agents are told holds everywhere.
    const isNamed = named.some((one) => {
      const isThere = folder === "" || !one.is_readme || one.folder === folder || one.line.includes(folder);
      return isThere && one.line.includes(core);
    });
    if (isNamed) return "A memory file of the project names it.";
    if (clean < CLEAN_MIN) return `It ran without error fewer than ${CLEAN_MIN} times.`;
    if (clean < runs * CLEAN_SHARE_MIN) return "It failed more often than not.";
    if (sessions.size < SESSIONS_MIN && runs < RUNS_MIN) return "It was seen in one session.";
    return undefined;
  }
}

const SHOWN_MAX = 5;

function lessonOf(
  { project, name, core, folder, runs, clean, sessions, evidence }: Variant,
  waits: string | undefined,
): Lesson {
  const where = folder === "" ? "" : ` in \`${folder}\``;
  const ran = `ran ${runs} times in ${sessions.size} ${sessions.size === 1 ? "session" : "sessions"}, ${clean} without error`;
  const lesson = {
    class: "project_command",
    key: `${name}\n${folder}\n${core}`,
    type: "project",
    project,
    content: `${name}: \`${core}\`${where} (${ran})`,
    evidence,
    weight: sessions.size,
  } as const;
  return waits === undefined ? lesson : { ...lesson, waits };
}

/** Which of the classes a command is, run as a whole. */
export function projectCommandClass({ words }: Pick<ShellRun, "words">): string | undefined {
  const core = words.map((word) => unquoted(word)).join(" ");
  const bare = core.replace(RUNNER, "").replace(/^(?:\.\/)?node_modules\/\.bin\//, "");
  const found = classes.find(({ pattern }) => pattern.test(bare) || pattern.test(core));
  if (found === undefined) return undefined;
  const rest = bare.split(" ").slice(1);
  return rest.some((word) => CHOOSES.test(word) || ONE_PART.test(word)) ? undefined : found.name;
}
