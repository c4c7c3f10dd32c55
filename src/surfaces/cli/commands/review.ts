// `hansard review`: one candidate at a time with the words that it rests on, and a person who decides.
//
// A verdict is final, so that each is given only when the next one is decided: until then it can be undone.
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { MemoryDetail, Recorder } from "../../../index.js";
import { rejectionReasons } from "../../../model/memory.js";
import { type CommandModule, helpText, type Invocation, textOptions, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { systemUser } from "../system-user.js";
import { candidateText } from "../text/memory-text.js";
import { countOf } from "../text/table.js";
import { cleanLine, type Pane } from "../text/terminal.js";

export const reviewCommand: CommandModule = {
  define(command: Command): void {
    command.option("--project <name>", "only candidates of this project; - for those that hold everywhere").addHelpText(
      "after",
      helpText(
        [
          `Keys, each followed by Enter: a accept, r reject (with a reason), e edit and accept, s or nothing skip, u undo the
last verdict, q quit. A verdict is given when the next one is decided, or at the end; until then u takes it back.`,
        ],
        [["pending candidates, best first", "hansard review"]],
      ),
    );
  },

  async run({ options, settings, screen, json }: Invocation) {
    await withQuestion({ settings, screen, json }, async (recorder) => {
      const asking = askerOf(screen.err);
      try {
        await new Review(recorder, screen.err, asking.ask).run(textOptions(options, ["project"]));
      } finally {
        asking.close();
      }
    });
    return exitStatus.done;
  },
};

/** Answers a line, or nothing once there are no more. On a terminal the line begins with a text that can be changed. */
type Ask = (prompt: string, beginning?: string) => Promise<string | undefined>;

type Decision =
  | { readonly verdict: "promote"; readonly content?: string }
  | { readonly verdict: "reject"; readonly reason: string };

interface Decided {
  readonly id: string;
  readonly at: number;
  readonly decision: Decision;
}

const QUEUE_MAX = 500;
/** Of what was typed, so much is repeated. */
const KEY_SHOWN = 20;
/** So many memories that a candidate is like or contradicts are shown with their words. */
const OTHERS_MAX = 10;

class Review {
  readonly #recorder: Recorder;
  readonly #pane: Pane;
  readonly #ask: Ask;
  readonly #actor = systemUser();
  #last: Decided | undefined;
  readonly #counts = { promote: 0, reject: 0 };

  constructor(recorder: Recorder, pane: Pane, ask: Ask) {
    this.#recorder = recorder;
    this.#pane = pane;
    this.#ask = ask;
  }

  async run({ project }: { readonly project?: string }): Promise<void> {
    const { memories: queue, acceptance } = await this.#recorder.memories.list({
      status: "candidate",
      limit: QUEUE_MAX,
      project,
    });
    for (const { source, generation, is_paused, accepted, rejected } of acceptance) {
      const verdicts = accepted + rejected;
      if (is_paused) this.#say(`${source} ${generation} is paused: ${accepted} of its last ${verdicts} were accepted.`);
    }
    if (queue.length === 0) this.#say(await this.#nothingWaits(project));
    for (let at = 0; at < queue.length; ) {
      const memory = await this.#recorder.memories.get(queue[at]?.id ?? "");
      const next = memory?.status === "candidate" ? await this.#decide(memory, at, queue.length) : at + 1;
      if (next === "quit") break;
      at = next < queue.length ? next : await this.#atTheEnd(next);
    }
    await this.#give();
    const { promote, reject } = this.#counts;
    const pending = await this.#recorder.memories.pending();
    this.#say(`${promote} accepted, ${reject} rejected; ${countOf(pending, "candidate waits", "candidates wait")}.`);
  }

  /** After the last one nobody is asked any more, so that this is where its verdict can be taken back. */
  async #atTheEnd(at: number): Promise<number> {
    const last = this.#last;
    if (last === undefined) return at;
    const key = (await this.#ask("That was the last one. [u]ndo the last verdict, or Enter to give it: "))?.trim();
    if (key?.toLowerCase() !== "u") return at;
    this.#last = undefined;
    return last.at;
  }

  /** Whoever names a project of which nothing waits is told where something does. */
  async #nothingWaits(project: string | undefined): Promise<string> {
    if (project === undefined || project === "") return "Nothing waits for a verdict.";
    const { memories } = await this.#recorder.memories.list({ status: "candidate", limit: QUEUE_MAX });
    const counts = new Map<string, number>();
    for (const memory of memories) counts.set(memory.project, (counts.get(memory.project) ?? 0) + 1);
    const named = [...counts].map(([name, count]) => `${name === "" ? "- (everywhere)" : cleanLine(name)}: ${count}`);
    const elsewhere = named.length === 0 ? "nor elsewhere" : `but elsewhere: ${named.join(", ")}`;
    return `Nothing waits for a verdict in ${cleanLine(project)}, ${elsewhere}.`;
  }

  /** Where to go on: the next one, or the one before where a verdict was undone. */
  async #decide(memory: MemoryDetail, at: number, of: number): Promise<number | "quit"> {
    const others = await this.#othersOf(memory);
    this.#pane.write(`\n${candidateText(memory, { at: at + 1, of, others }, this.#pane)}`);
    for (;;) {
      const key = (await this.#ask("[a]ccept [r]eject [e]dit [s]kip [u]ndo [q]uit (s): "))?.trim().toLowerCase();
      if (key === undefined || key === "q") return "quit";
      if (key === "" || key === "s") return at + 1;
      if (key === "u") {
        const undone = this.#last;
        if (undone === undefined) {
          this.#say("There is nothing to undo: what was decided before the last one is done.");
          continue;
        }
        this.#last = undefined;
        return undone.at;
      }
      const decision = await this.#decisionOf(key, memory);
      if (decision === undefined) continue;
      await this.#give();
      this.#last = { id: memory.id, at, decision };
      return at + 1;
    }
  }

  async #decisionOf(key: string, memory: MemoryDetail): Promise<Decision | undefined> {
    if (key === "a") return { verdict: "promote" };
    if (key === "e") {
      const present = cleanLine(memory.content);
      const content = (await this.#ask("In other words: ", present))?.trim() ?? "";
      if (content === present) return { verdict: "promote" };
      if (content !== "") return { verdict: "promote", content };
      this.#say("Nothing was written, and nothing is decided.");
      return undefined;
    }
    if (key !== "r") {
      this.#say(`${JSON.stringify(cleanLine(key, KEY_SHOWN))} is none of the keys.`);
      return undefined;
    }
    const names = rejectionReasons.map((reason, nth) => `${nth + 1} ${reason}`).join(" ");
    const given = (await this.#ask(`Why? ${names} (${rejectionReasons.length}): `))?.trim();
    // Whoever goes away at the question has not answered it.
    if (given === undefined) return undefined;
    const reason = given === "" ? "other" : (rejectionReasons[Number(given) - 1] ?? given);
    if (!/^\d+$/.test(reason)) return { verdict: "reject", reason };
    this.#say(
      `There is no reason ${cleanLine(reason, KEY_SHOWN)}: it is a number from 1 to ${rejectionReasons.length}, or words.`,
    );
    return undefined;
  }

  /** What the memories say that a candidate is like or contradicts: nobody can decide upon an id. */
  async #othersOf({ similar_to, conflicts_with }: MemoryDetail): Promise<ReadonlyMap<string, string>> {
    const others = new Map<string, string>();
    for (const id of [...similar_to, ...conflicts_with].slice(0, OTHERS_MAX)) {
      const other = await this.#recorder.memories.get(id);
      if (other !== undefined) others.set(id, `${other.content} (${other.status})`);
    }
    return others;
  }

  /** Gives the verdict that waits. Somebody else may have decided meanwhile. */
  async #give(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined) return;
    const { id, decision } = last;
    const actor = this.#actor;
    try {
      if (decision.verdict === "reject") await this.#recorder.memories.reject(id, { actor, reason: decision.reason });
      else await this.#recorder.memories.promote(id, { actor, content: decision.content });
      this.#counts[decision.verdict] += 1;
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message?: string };
      if (
        code !== "verdict_given" &&
        code !== "memory_known" &&
        code !== "memory_not_found" &&
        code !== "field_invalid"
      )
        throw error;
      const words = decision.verdict === "promote" ? decision.content : undefined;
      // By now the next one is on the screen, or none.
      this.#say(
        `${words === undefined ? id : JSON.stringify(cleanLine(words))} was not taken: ${cleanLine(String(message))}.`,
      );
    }
  }

  #say(text: string): void {
    this.#pane.write(`${text}\n`);
  }
}

/** Asks on standard error, since standard output is for documents, and hears lines of standard input. */
function askerOf(pane: Pane): { readonly ask: Ask; close(): void } {
  const isTyped = process.stdin.isTTY === true && pane.isTerminal;
  const lines = createInterface({
    input: process.stdin,
    // What was answered before is no answer to the next question.
    ...(isTyped ? { output: process.stderr, terminal: true, historySize: 0 } : { terminal: false }),
  });
  // Node takes several characters at once for a paste and puts them at the end of the line, wherever the cursor is, unless
  // it would complete words, which nobody asks it to.
  Object.defineProperty(lines, "isCompletionEnabled", { get: () => true, set: () => undefined });
  const heard = lines[Symbol.asyncIterator]();
  let isOver = false;
  lines.on("close", () => {
    isOver = true;
  });
  // While lines are edited, Ctrl-C comes as a key. It ends the program as it would have without that.
  lines.on("SIGINT", () => {
    lines.close();
    pane.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  return {
    async ask(prompt, beginning = "") {
      const wasOver = isOver;
      if (!isTyped) pane.write(prompt);
      else if (!isOver) {
        lines.setPrompt(prompt);
        lines.prompt();
        lines.write(beginning);
      }
      const { done, value } = await heard.next();
      if (done !== true) return value;
      // Ctrl-D leaves the cursor behind the question.
      if (isTyped && !wasOver) pane.write("\n");
      return undefined;
    },
    close: () => lines.close(),
  };
}
