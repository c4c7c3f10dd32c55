// A text whose secrets are marked, and how the lists of such texts are read.
import { itemAt } from "../../src/model/item-at.js";

export interface Sample {
  /** What the text is an example of. */
  readonly about: string;
  readonly text: string;
  /** The ranges that are secret, none in a harmless text; offsets count UTF-16 units. */
  readonly secrets: readonly (readonly [start: number, end: number])[];
}

const MARKED = /⟦([^⟧]*)⟧/g;

/**
 * The text without its marks `⟦` and `⟧`, and where they were. A bar `¦` is taken out: it parts what scanners of
 * repositories would take for a leak.
 */
export function sampleOf(about: string, written: string): Sample {
  const marked = written.replaceAll("¦", "");
  const secrets: [number, number][] = [];
  let text = "";
  let from = 0;
  for (const match of marked.matchAll(MARKED)) {
    text += marked.slice(from, match.index);
    const secret = itemAt(match, 1);
    secrets.push([text.length, text.length + secret.length]);
    text += secret;
    from = match.index + match[0].length;
  }
  return { about, text: text + marked.slice(from), secrets };
}
