// Reading that is answered in this thread where that is quicker than the way to another one, and there otherwise.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AtOnce } from "./at-once.js";
import type { AnswerTo, Asked, QueryOf, Question, Reading } from "./questions.js";

export class NearFirst implements Reading {
  readonly #openHere: () => Promise<AtOnce>;
  readonly #elsewhere: Reading;
  /** Opened by the second question: a command that asks once has no use for it. What could not be opened stays away. */
  #here: Promise<AtOnce | undefined> | undefined;
  /** By then the index is there and in order, so that nobody here has to see to it. */
  #isAnsweredElsewhere = false;
  #asked = 0;

  constructor(parts: { readonly openHere: () => Promise<AtOnce>; readonly elsewhere: Reading }) {
    this.#openHere = parts.openHere;
    this.#elsewhere = parts.elsewhere;
  }

  async ask<Q extends Question>(question: Q, ...asked: Asked<Q>): Promise<AnswerTo<Q>> {
    // Where several ask at once, this thread has better things to do than to answer all of them.
    const isAlone = this.#asked === 0;
    this.#asked += 1;
    try {
      const answer = isAlone ? await this.#askHere(question, asked[0] as QueryOf<Q>) : undefined;
      return answer ?? (await this.#askElsewhere(question, asked));
    } finally {
      this.#asked -= 1;
    }
  }

  grown(): void {
    this.#elsewhere.grown();
  }

  async close(): Promise<void> {
    const here = this.#here;
    this.#here = Promise.resolve(undefined);
    await (await here)?.close();
    await this.#elsewhere.close();
  }

  async #askHere<Q extends Question>(question: Q, query: QueryOf<Q>): Promise<AnswerTo<Q> | undefined> {
    if (!this.#isAnsweredElsewhere) return undefined;
    this.#here ??= this.#openHere().catch(() => undefined);
    // Whoever asks again and again must not keep everything else of the program from its turn.
    await nextTurn();
    return (await this.#here)?.ask(question, query);
  }

  async #askElsewhere<Q extends Question>(question: Q, asked: Asked<Q>): Promise<AnswerTo<Q>> {
    const answer = await this.#elsewhere.ask(question, ...asked);
    this.#isAnsweredElsewhere = true;
    return answer;
  }
}
