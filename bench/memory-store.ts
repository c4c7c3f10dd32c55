// A store with many active memories, and turns that say something about some of them; the same in every run.

import { randomBytes } from "node:crypto";
import { openStore } from "../src/engines/stores.js";
import type { InteractionInput } from "../src/index.js";
import { packOwn } from "../src/log/capture/own-entries.js";
import { itemAt } from "../src/model/item-at.js";
import type { MemoryType } from "../src/model/memory.js";
import { Corpus } from "./search-corpus.js";

export const PROJECT = "bench";
const TYPES: readonly MemoryType[] = ["knowledge", "knowledge", "project", "adaptation", "preference"];
const BATCH = 1_000;
const STATEMENT_CHARS_MAX = 120;
/** Of other things a turn speaks, about 4 KB with what surrounds it. */
const TURN_BYTES = 3_000;
/** How many memories a turn was given, and how many of these its answer repeats. */
const GIVEN = 10;
const USED = 2;
export const QUESTION_WORDS = 4;

export interface Statement {
  readonly id: string;
  readonly type: MemoryType;
  readonly content: string;
}

export class MemoryStore {
  readonly statements: readonly Statement[];
  readonly #corpus = new Corpus();

  constructor(count: number) {
    this.statements = Array.from({ length: count }, (_, number) => ({
      id: `memory-${number}`,
      type: itemAt(TYPES, number % TYPES.length),
      content: this.#firstWords(number),
    }));
  }

  /** Puts every statement into an empty store, promoted, as persons who add them would. */
  async fill(data: string): Promise<void> {
    const store = await openStore({ address: data, mode: "create" });
    const log = await store.log("create");
    const surroundings = { nowMs: Date.now, randomBytes: (bytes: number) => randomBytes(bytes) };
    const said = { source: "person", generation: "", tags: [], valid_until: "", cites: "", actor: "bench" } as const;
    for (let from = 0; from < this.statements.length; from += BATCH) {
      const own = this.statements.slice(from, from + BATCH).flatMap(({ id, type, content }) => {
        const fields = { ...said, type, content, similar_to: [], conflicts_with: [] };
        const verdict = { memory_id: id, actor: "bench", reason: "" };
        return [
          packOwn("memory_proposed", fields, surroundings, { id, project: PROJECT }),
          packOwn("memory_promoted", verdict, surroundings, { project: PROJECT }),
        ];
      });
      await log.append([own.map(({ entry }) => entry)]);
    }
    await log.close();
  }

  /** A turn that was given ten memories, repeats two of them, and speaks of much else. */
  turn(number: number): InteractionInput & { readonly kind: "interaction" } {
    const given = Array.from({ length: GIVEN }, (_, nth) => this.#statement(number * GIVEN + nth));
    const echoes = given.slice(0, USED).map(({ content }) => `As noted, ${content}.`);
    return {
      kind: "interaction",
      project: PROJECT,
      session_id: `session-${number % 100}`,
      prompt: `${number}: what now?`,
      response: [this.#corpus.entry(number + 1_000_000, TURN_BYTES).content, ...echoes].join("\n"),
      memories_used: given.map(({ id }) => id),
      context_pack: { text: given.map(({ content }) => `- ${content}\n`).join("") },
    };
  }

  /** Words of a statement, as somebody would ask for it. */
  question(number: number): string {
    return this.#statement(number * 7)
      .content.split(" ")
      .slice(0, QUESTION_WORDS)
      .join(" ");
  }

  #statement(number: number): Statement {
    return itemAt(this.statements, number % this.statements.length);
  }

  #firstWords(number: number): string {
    const [line = ""] = this.#corpus.entry(number, 0).content.split("\n");
    return line.replace(/\.$/, "").slice(0, STATEMENT_CHARS_MAX);
  }
}
