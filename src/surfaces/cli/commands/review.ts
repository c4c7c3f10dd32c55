// `hansard review`: shows one candidate at a time with its evidence, and asks for a verdict.
//
// A verdict is final, so each is submitted only after the next one is decided. Until then it can be undone.
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { MemoryDetail, Recorder } from "../../../index.js";
import { rejectionReasons } from "../../../model/memory.js";
import { type CommandModule, helpText, type Invocation, systemUser, textOptions, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { candidateText, heldBackText } from "../text/memory-text.js";
import { countOf } from "../text/table.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

export const reviewCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--project <name>", "only candidates of this project; - for those without one")
      .option("--json", "print the queue as JSON, and ask nothing")
      .addHelpText(
        "after",
        helpText(
          [
            `Keys, each followed by Enter: a accept, r reject with a reason, e edit and accept, s or nothing skip, u undo the last
verdict, q quit. A verdict is submitted once the next one is decided, or at the end; until then u undoes it.`,
          ],
          [["pending candidates, best first", "hansard review"]],
        ),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    await withQuestion({ settings, screen, json }, async (recorder) => {
      if (json) {
        const chosen = textOptions(options, ["project"]);
        const queue = await recorder.memories.list({ ...chosen, status: "candidate", limit: QUEUE_MAX });
        screen.out.write(documentText(queue, screen.out));
        return;
      }
      const prompter = prompterOf(screen.err);
      try {
        await new Review(recorder, screen.err, prompter.ask).run(textOptions(options, ["project"]));
      } finally {
        prompter.close();
      }
    });
    return exitStatus.done;
  },
};

/** Reads a line, or undefined at the end of the input. On a terminal, the line can start with a text to edit. */
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
/** How much of the input an error repeats. */
const KEY_SHOWN = 20;
/** How many similar and contradicting memories are shown with their text. */
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
      if (is_paused)
        this.#say(
          `${source} ${generation} is paused: only ${accepted} of its last ${verdicts} proposals were accepted.`,
        );
    }
    if (queue.length === 0) this.#say(await this.#nothingText(project));
    for (let at = 0; at < queue.length; ) {
      const memory = await this.#recorder.memories.get(queue[at]?.id ?? "");
      const next = memory?.status === "candidate" ? await this.#decide(memory, at, queue.length) : at + 1;
      if (next === "quit") break;
      at = next < queue.length ? next : await this.#atTheEnd(next);
    }
    await this.#submit();
    const { promote, reject } = this.#counts;
    const { pending, held_back } = await this.#recorder.memories.list({ limit: 0 });
    this.#say(`${promote} accepted, ${reject} rejected; ${countOf(pending, "candidate", "candidates")} waiting.`);
    if (held_back > 0) this.#say(heldBackText(held_back));
  }

  /** After the last candidate, its verdict can still be undone here. */
  async #atTheEnd(at: number): Promise<number> {
    const last = this.#last;
    if (last === undefined) return at;
    const key = (await this.#ask("That was the last one. Enter to submit the last verdict, [u]ndo: "))?.trim();
    if (key?.toLowerCase() !== "u") return at;
    this.#last = undefined;
    return last.at;
  }

  /** Says which other projects have candidates. */
  async #nothingText(project: string | undefined): Promise<string> {
    if (project === undefined || project === "") return "Nothing to review.";
    const { memories } = await this.#recorder.memories.list({ status: "candidate", limit: QUEUE_MAX });
    const counts = new Map<string, number>();
    for (const memory of memories) counts.set(memory.project, (counts.get(memory.project) ?? 0) + 1);
    const named = [...counts].map(([name, count]) => `${name === "" ? "- (no project)" : cleanLine(name)}: ${count}`);
    const elsewhere = named.length === 0 ? "" : ` Candidates elsewhere: ${named.join(", ")}.`;
    return `Nothing to review in ${cleanLine(project)}.${elsewhere}`;
  }

  /** Returns the next candidate's number, or that of the one whose verdict was undone. */
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
          this.#say("Nothing to undo: earlier verdicts are submitted.");
          continue;
        }
        this.#last = undefined;
        return undone.at;
      }
      const decision = await this.#decisionOf(key, memory);
      if (decision === undefined) continue;
      await this.#submit();
      this.#last = { id: memory.id, at, decision };
      return at + 1;
    }
  }

  async #decisionOf(key: string, memory: MemoryDetail): Promise<Decision | undefined> {
    if (key === "a") return { verdict: "promote" };
    if (key === "e") {
      const present = cleanLine(memory.content);
      const content = (await this.#ask("New text: ", present))?.trim() ?? "";
      if (content === present) return { verdict: "promote" };
      if (content !== "") return { verdict: "promote", content };
      this.#say("The text is empty; nothing was decided.");
      return undefined;
    }
    if (key !== "r") {
      this.#say(`Unknown key ${JSON.stringify(cleanLine(key, KEY_SHOWN))}.`);
      return undefined;
    }
    const names = rejectionReasons.map((reason, nth) => `${nth + 1} ${reason}`).join(" ");
    const given = (await this.#ask(`Why? ${names} (${rejectionReasons.length}): `))?.trim();
    // The end of the input is no answer.
    if (given === undefined) return undefined;
    const reason = given === "" ? "other" : (rejectionReasons[Number(given) - 1] ?? given);
    if (!/^\d+$/.test(reason)) return { verdict: "reject", reason };
    this.#say(
      `Unknown reason ${cleanLine(reason, KEY_SHOWN)}. Type a number from 1 to ${rejectionReasons.length}, or a text.`,
    );
    return undefined;
  }

  /** The text of the memories that a candidate is similar to or contradicts, by id. */
  async #othersOf({ similar_to, conflicts_with }: MemoryDetail): Promise<ReadonlyMap<string, string>> {
    const others = new Map<string, string>();
    for (const id of [...similar_to, ...conflicts_with].slice(0, OTHERS_MAX)) {
      const other = await this.#recorder.memories.get(id);
      if (other !== undefined) others.set(id, `${other.content} (${other.status})`);
    }
    return others;
  }

  /** Submits the last verdict. Another reviewer may have decided in the meantime. */
  async #submit(): Promise<void> {
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
      // The next candidate is already on the screen, so the message names this one.
      this.#say(
        `The verdict on ${words === undefined ? id : JSON.stringify(cleanLine(words))} was rejected: ${cleanLine(String(message))}.`,
      );
    }
  }

  #say(text: string): void {
    this.#pane.write(`${text}\n`);
  }
}

/** Prompts on standard error and reads lines from standard input. */
function prompterOf(pane: Pane): { readonly ask: Ask; close(): void } {
  const isTyped = process.stdin.isTTY === true && pane.isTerminal;
  const lines = createInterface({
    input: process.stdin,
    // Earlier answers are not offered again.
    ...(isTyped ? { output: process.stderr, terminal: true, historySize: 0 } : { terminal: false }),
  });
  // Without completion, Node takes several characters at once for a paste and appends them to the line wherever the cursor is.
  Object.defineProperty(lines, "isCompletionEnabled", { get: () => true, set: () => undefined });
  const input = lines[Symbol.asyncIterator]();
  let isEnded = false;
  lines.on("close", () => {
    isEnded = true;
  });
  // While a line is edited, Ctrl-C arrives as a key. It must end the program all the same.
  lines.on("SIGINT", () => {
    lines.close();
    pane.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  return {
    async ask(prompt, beginning = "") {
      const wasEnded = isEnded;
      if (!isTyped) pane.write(prompt);
      else if (!isEnded) {
        lines.setPrompt(prompt);
        lines.prompt();
        lines.write(beginning);
      }
      const { done, value } = await input.next();
      if (done !== true) return value;
      // Ctrl-D leaves the cursor behind the prompt.
      if (isTyped && !wasEnded) pane.write("\n");
      return undefined;
    },
    close: () => lines.close(),
  };
}
