// Answers that somebody disliked: entries with feedback below 0, and what was said about them.
import type { Entry, EntryOf } from "../model/entry.js";
import type { Cited, DislikedItem } from "../model/report.js";
import { CITED_MAX, citationOf } from "./citations.js";
import { excerpt, type Mask } from "./excerpt.js";
import { textOfAnswer } from "./said.js";

const ITEMS_KEPT = 5;

/** Takes entries newest first. */
export class DislikedAnswers {
  readonly #items: Cited<DislikedItem>[] = [];
  readonly #mask: Mask;
  #count = 0;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** All there are; `finish` gives the newest. */
  get count(): number {
    return this.#count;
  }

  /** An entry with its feedback below 0, newest first. */
  add(entry: Entry, dislikes: readonly EntryOf<"feedback">[]): void {
    this.#count += 1;
    if (this.#items.length >= ITEMS_KEPT) return;
    const telling = dislikes.find(({ comment }) => comment.trim() !== "") ?? dislikes[0];
    const { id, position, session_id, created_at } = entry;
    this.#items.push({
      id,
      position,
      session_id,
      created_at,
      text: excerpt(textOfAnswer(entry), this.#mask),
      comment: excerpt(telling?.comment ?? "", this.#mask),
      label: excerpt(telling?.label ?? "", this.#mask),
      score: telling?.score ?? -1,
      cited: [citationOf(entry), ...dislikes.slice(0, CITED_MAX - 1).map(citationOf)],
    });
  }

  finish(): readonly Cited<DislikedItem>[] {
    return this.#items;
  }
}
