// Programs that are not installed where the agent runs, and what works in their place.

import { LruCache } from "../../../model/lru-cache.js";
import type { Evidence } from "../../../model/memory.js";
import type { Lesson, LessonClass } from "./lesson.js";
import type { CommandStep, ShellRun } from "./runs.js";

/** What does the same, by program: a program, or the beginning of a command. */
const SUBSTITUTES: { readonly [program: string]: readonly string[] } = {
  rg: ["grep", "git grep"],
  ag: ["grep", "rg"],
  fd: ["find"],
  fdfind: ["find", "fd"],
  python: ["python3", "uv run", "py"],
  python3: ["python", "py"],
  pip: ["pip3", "python3 -m pip", "python -m pip", "uv pip"],
  pip3: ["pip", "python3 -m pip", "python -m pip", "uv pip"],
  pytest: ["python3 -m pytest", "python -m pytest", "uv run pytest", "poetry run pytest"],
  mypy: ["python3 -m mypy", "python -m mypy", "uv run mypy", "poetry run mypy"],
  ruff: ["python3 -m ruff", "uv run ruff", "uvx ruff", "poetry run ruff"],
  black: ["python3 -m black", "python -m black", "uv run black"],
  xxd: ["od", "hexdump"],
  hexdump: ["od", "xxd"],
  cmake: ["gcc", "cc", "make", "g++"],
  gcc: ["cc", "clang"],
  make: ["gmake", "ninja"],
  npm: ["pnpm", "yarn", "bun"],
  npx: ["pnpm exec", "pnpm dlx", "bunx", "yarn"],
  yarn: ["npm", "pnpm"],
  pnpm: ["npm", "yarn", "corepack pnpm", "npx pnpm"],
  bun: ["npm", "node", "npx"],
  node: ["bun", "nodejs"],
  tsc: ["npx tsc", "pnpm exec tsc", "pnpm tsc", "yarn tsc"],
  eslint: ["npx eslint", "pnpm exec eslint"],
  prettier: ["npx prettier", "pnpm exec prettier"],
  jest: ["npx jest"],
  vitest: ["npx vitest", "pnpm exec vitest"],
  tree: ["find", "ls"],
  jq: ["python3", "python", "node"],
  wget: ["curl"],
  curl: ["wget"],
  docker: ["podman"],
  "docker-compose": ["docker compose"],
  gsed: ["sed"],
  sed: ["gsed", "perl"],
  timeout: ["gtimeout"],
  gtimeout: ["timeout"],
  realpath: ["readlink"],
  ifconfig: ["ip"],
  netstat: ["ss", "lsof"],
  unzip: ["python3", "bsdtar", "7z"],
  zip: ["tar", "python3"],
  sqlite3: ["python3", "node"],
  vim: ["vi"],
  md5: ["md5sum"],
  md5sum: ["md5"],
  shasum: ["sha256sum"],
  sha256sum: ["shasum"],
  open: ["xdg-open"],
  gh: ["git"],
};

/** The substitute is looked for in so many calls. */
const WITHIN_CALLS = 6;
const SEEN_MIN = 2;
const KEPT_MAX = 5_000;
const EVIDENCE_MAX = 3;

interface Missing {
  readonly project: string;
  readonly program: string;
  readonly evidence: Evidence[];
  readonly sessions: Set<string>;
  seen: number;
  substitute?: { readonly form: string; readonly evidence: Evidence };
  /** It worked later, so it is installed. */
  isOver: boolean;
}

export class ProgramLessons implements LessonClass {
  readonly #missing = new LruCache<Missing>(KEPT_MAX);

  add(step: CommandStep, recent: readonly CommandStep[]): void {
    if (step.is !== "run") return;
    if (step.missing !== "") this.#miss(step);
    else if (step.outcome === "worked") this.#work(step, recent);
  }

  *lessons(): Generator<Lesson> {
    for (const { project, program, evidence, sessions, seen, substitute, isOver } of this.#missing.values()) {
      if (isOver) continue;
      const isKnown = substitute !== undefined || seen >= SEEN_MIN;
      const works = substitute === undefined ? "" : `; \`${substitute.form}\` works`;
      yield {
        class: "not_installed",
        key: program,
        type: "knowledge",
        project,
        content: `\`${program}\` is not installed where the agent runs${works}`,
        evidence: [...evidence, ...(substitute === undefined ? [] : [substitute.evidence])],
        weight: sessions.size,
        ...(isKnown ? {} : { waits: "It was missing once, and nothing else was seen to work." }),
      };
    }
  }

  #miss({ project, missing: program, session_id, entry_id, quote }: ShellRun): void {
    const key = `${project}\n${program}`;
    const known = this.#missing.get(key) ?? {
      project,
      program,
      evidence: [],
      sessions: new Set(),
      seen: 0,
      isOver: false,
    };
    this.#missing.set(key, known);
    known.seen += 1;
    known.sessions.add(session_id);
    if (known.evidence.length < EVIDENCE_MAX) known.evidence.push({ entry_id, quote });
  }

  #work(run: ShellRun, recent: readonly CommandStep[]): void {
    for (const program of run.programs) {
      const known = this.#missing.get(`${run.project}\n${program}`);
      if (known !== undefined) known.isOver = true;
    }
    for (const before of recent.slice(0, WITHIN_CALLS)) {
      if (before.is !== "run" || before.missing === "" || before.project !== run.project) continue;
      const known = this.#missing.get(`${run.project}\n${before.missing}`);
      const form = formOf(before, run);
      if (known === undefined || form === undefined) continue;
      known.substitute ??= { form, evidence: { entry_id: run.entry_id, quote: run.quote } };
    }
  }
}

/** What of a command that worked stands in for a missing program: a known substitute, or another program with the same arguments. */
function formOf(failed: ShellRun, worked: ShellRun): string | undefined {
  const known = SUBSTITUTES[failed.missing] ?? [];
  const form = known.find((one) => `${worked.core} `.startsWith(`${one} `));
  if (form !== undefined) return form;
  const [program, ...args] = failed.words;
  const [other = "", ...others] = worked.words;
  const isSame = program === failed.missing && args.length > 0 && args.join(" ") === others.join(" ");
  return isSame ? other : undefined;
}
