// The work of every day, so that a week looks like one: reviews, upgrades and questions, drawn by a fixed dice.
import { assistant, call, error, failed, type Scene, type Step, user } from "./scene.js";

const tasks = [
  {
    title: "Review of a pull request",
    ask: "Review the open pull request and say what worries you.",
    tool: "read_file",
  },
  { title: "Dependency upgrade", ask: "Upgrade the dependencies, one commit each.", tool: "bash" },
  { title: "Flaky test", ask: "The checkout test fails about once in twenty runs. Find out why.", tool: "bash" },
  { title: "Question about the API", ask: "Which endpoints still answer with version 1?", tool: "grep" },
] as const;

const doubts = [
  "One part of it is not clear to me yet; I go on and come back to it.",
  "The name says one thing and the code another. I take the code for the truth.",
  "This is covered by no test, so that I change as little as I can.",
  "Two of these look the same; I check whether both are needed.",
  "The log of yesterday says nothing about it, which is odd.",
];

const ends = [
  "Done; the details are in the commits.",
  "Nothing that worries me is left.",
  "Two places were changed, both with a test.",
  "It was a race: the second request came before the first was written.",
];

const projects = ["atlas-billing", "kestrel-search", "laden"] as const;
const clients = ["claude-code", "codex", "cursor"] as const;
const parts = ["order", "price", "stock", "queue", "search", "session", "export", "route"];
const SCENES = 18;
const DAYS = 7;

export function routine(): readonly Scene[] {
  const dice = new Dice(20_261_116);
  return Array.from({ length: SCENES }, (_, at): Scene => {
    const task = dice.pick(tasks);
    return {
      session_id: `routine/${at + 1}`,
      project: dice.pick(projects),
      client: dice.pick(clients),
      title: dice.next() < 0.7 ? task.title : "",
      days_ago: at % DAYS,
      at: `${String(8 + Math.floor(dice.next() * 10)).padStart(2, "0")}:${String(Math.floor(dice.next() * 60)).padStart(2, "0")}`,
      steps: [user(task.ask, 0), ...work(dice, task.tool), assistant(dice.pick(ends), 0.6 + dice.next() * 0.4)],
    };
  });
}

function work(dice: Dice, tool: string): readonly Step[] {
  return Array.from({ length: 4 + Math.floor(dice.next() * 14) }, (): readonly Step[] => {
    const chance = dice.next();
    const path = `src/${dice.pick(parts)}-${dice.pick(parts)}.ts`;
    const args = tool === "bash" ? { command: `npx vitest run ${path}` } : { path };
    const duration_ms = Math.round(20 + dice.next() ** 4 * 9_000);
    if (chance < 0.08) {
      return [failed(tool, args, "exit status 1: timeout after 9000 ms", 9_000), error("timeout after 9000 ms", path)];
    }
    if (chance < 0.2) return [assistant(dice.pick(doubts), 0.25 + dice.next() * 0.6)];
    return [call(tool, args, `${1 + Math.floor(dice.next() * 200)} lines looked at`, duration_ms)];
  }).flat();
}

/** The same throws every time: a story that changes cannot be told twice. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to 1, by Park and Miller. */
  next(): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state / 2_147_483_647;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }
}
