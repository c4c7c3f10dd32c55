// Which index is in use: the one that its holder has now, and another one where that turns out to be lost, damaged or
// exchanged while it is read.

import { IndexExchanged, IndexFault, type IndexHolder } from "../index/index-holder.js";
import { View, type ViewParts } from "./view.js";

const TRIES = 6;

/** What came of an attempt: an answer, or why there is no index to answer from. */
export type Attempt<T> = { readonly answer: T } | { readonly trouble: IndexFault };

/** What has to be in the index before it is read: the rows of all entries up to a position, and for a search most texts. */
export interface Wish {
  readonly position: number;
  readonly texts: boolean;
}

type Steadily = <T>(wish: Wish, read: () => Promise<T>) => Promise<T>;

interface Seen<R> {
  readonly view: View<R>;
  readonly generation: number;
}

export class IndexInUse<R> {
  readonly #parts: ViewParts<R>;
  readonly #holder: IndexHolder;
  #view: View<R> | undefined;
  #exchanges = 0;

  constructor(parts: ViewParts<R> & { readonly holder: IndexHolder }) {
    this.#parts = parts;
    this.#holder = parts.holder;
  }

  async view(): Promise<View<R>> {
    return (await this.#look()).view;
  }

  /**
   * Does the work with the index in use, and again where there is another one after it failed. What is read of it stands
   * for a moment at which it held everything up to the position.
   */
  async attempt<T>(work: (view: View<R>, steadily: Steadily) => Promise<T>): Promise<Attempt<T>> {
    let trouble: IndexFault | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      let view: View<R> | undefined;
      try {
        const seen = await this.#look();
        view = seen.view;
        return { answer: await work(view, (wish, read) => this.#steadily(seen, wish, read)) };
      } catch (error) {
        if (!(error instanceof IndexFault)) throw error;
        trouble = error;
        if (!(await this.#isOther(view, error))) break;
      }
    }
    return { trouble: trouble as IndexFault };
  }

  /** Word that this process has put another index in place. */
  exchanged(): void {
    this.#exchanges += 1;
  }

  close(): Promise<void> {
    return this.#holder.close();
  }

  async #look(): Promise<Seen<R>> {
    const { index, generation } = await this.#holder.look();
    if (this.#view?.index !== index) this.#view = new View({ ...this.#parts, index });
    return { view: this.#view, generation: generation + this.#exchanges };
  }

  /** An index that is emptied or exchanged between following the log and answering would seem to hold nothing. */
  async #steadily<T>({ view, generation }: Seen<R>, wish: Wish, read: () => Promise<T>): Promise<T> {
    if (wish.texts) await view.helpTexts(wish.position);
    const { letGo, epoch } = await view.holdAt(wish.position);
    let hasLasted = false;
    try {
      const answer = await read();
      hasLasted = letGo();
      if (!hasLasted && (await this.#look()).generation !== generation) throw new IndexExchanged();
      // A server that shares a database may have emptied it, which no file tells.
      if (!hasLasted && (await view.index.standing()).epoch !== epoch) throw new IndexExchanged();
      return answer;
    } finally {
      if (!hasLasted) letGo();
    }
  }

  /** Whether there is another index to try after this fault. */
  async #isOther(view: View<R> | undefined, fault: IndexFault): Promise<boolean> {
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
