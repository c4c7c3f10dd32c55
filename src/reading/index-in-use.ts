// Which index is in use: the one that its holder has now, and another one where that turns out to be lost, damaged or
// exchanged while it is read.
import type { EntryLog } from "../ports/entry-log.js";
import { IndexExchanged, IndexFault, type IndexHolder } from "../ports/index-holder.js";
import type { Mask } from "../ports/mask.js";
import { View } from "./view.js";

const TRIES = 6;

/** What came of an attempt: an answer, or why there is no index to answer from. */
export type Attempt<T> = { readonly answer: T } | { readonly trouble: IndexFault };

export class IndexInUse {
  readonly #log: EntryLog;
  readonly #holder: IndexHolder;
  readonly #mask: Mask;
  #view: View | undefined;
  #exchanges = 0;

  constructor(parts: { readonly log: EntryLog; readonly holder: IndexHolder; readonly mask: Mask }) {
    this.#log = parts.log;
    this.#holder = parts.holder;
    this.#mask = parts.mask;
  }

  async view(): Promise<View> {
    const index = await this.#holder.current();
    if (this.#view?.index !== index) this.#view = new View({ log: this.#log, index, mask: this.#mask });
    return this.#view;
  }

  /** Does the work with the index in use, and again where there is another one after it failed. */
  async attempt<T>(work: (view: View) => Promise<T>): Promise<Attempt<T>> {
    let trouble: IndexFault | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      let view: View | undefined;
      try {
        view = await this.view();
        return { answer: await work(view) };
      } catch (error) {
        if (!(error instanceof IndexFault)) throw error;
        trouble = error;
        if (!(await this.#isOther(view, error))) break;
      }
    }
    return { trouble: trouble as IndexFault };
  }

  /** An index that is emptied or exchanged between following the log and answering would seem to hold nothing. */
  async undisturbed<T>(view: View, work: (view: View) => Promise<T>): Promise<T> {
    const before = await this.#generation();
    const answer = await work(view);
    if ((await this.#generation()) !== before) throw new IndexExchanged();
    return answer;
  }

  /** Word that this process has put another index in place. */
  exchanged(): void {
    this.#exchanges += 1;
  }

  close(): Promise<void> {
    return this.#holder.close();
  }

  async #generation(): Promise<number> {
    return (await this.#holder.generation()) + this.#exchanges;
  }

  /** Whether there is another index to try after this fault. */
  async #isOther(view: View | undefined, fault: IndexFault): Promise<boolean> {
    if (view === undefined) return false;
    if (fault instanceof IndexExchanged) return true;
    try {
      if (fault.code === "store_corrupt") await this.#holder.replace(view.index);
      return (await this.view()) !== view;
    } catch (error) {
      if (error instanceof IndexFault) return false;
      throw error;
    }
  }
}
