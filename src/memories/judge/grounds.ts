// Where the particulars of a statement are looked up: case, spaces, `_`, `.` and `-` aside, so `max_retries` is found in MAX-RETRIES.
import { standsIn } from "./particulars.js";

/** Of larger texts only the beginning is compared without separators; what stands there as it is, is found anywhere. */
const CHARS_MAX = 2_000_000;
const IS_NUMBER = /^[\p{Nd}.,:]+$/u;
/** A statement shortens a path by dots, and a rule's own words mask a secret. */
const SHORTENED = /^…|…$/gu;
const MASKED = /\[masked:\w+\]/;

export class Grounds {
  readonly #texts: readonly string[];
  #squeezed: readonly Squeezed[] | undefined;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Whether a particular stands in one of the texts as a whole. */
  has(particular: string): boolean {
    if (MASKED.test(particular)) return true;
    const sought = particular.replaceAll(SHORTENED, "");
    if (sought === "" || this.#texts.some((text) => standsIn(sought, text))) return true;
    // 20 is not 2.0.
    if (IS_NUMBER.test(sought)) return false;
    this.#squeezed ??= this.#texts.map((text) => new Squeezed(text.slice(0, CHARS_MAX)));
    const bare = squeeze(sought);
    return bare.length >= SQUEEZED_MIN && this.#squeezed.some((text) => text.has(bare));
  }
}

/** Shorter ones stand in many words by chance. */
const SQUEEZED_MIN = 3;
const SEPARATORS = /[\s_.`-]+/gu;

function squeeze(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(SEPARATORS, "");
}

/** A text without separators, which remembers where they were: a particular must begin and end at a word's edge. */
class Squeezed {
  readonly #text: string;
  /** The places in it where a word begins or ends. */
  readonly #edges = new Set<number>([0]);

  constructor(text: string) {
    const whole = text.normalize("NFKC").toLowerCase();
    let squeezed = "";
    for (const part of whole.split(/([\s_.`-]+|[^\p{L}\p{N}]+)/u)) {
      if (part === "") continue;
      squeezed += part.replaceAll(SEPARATORS, "");
      this.#edges.add(squeezed.length);
    }
    this.#text = squeezed;
  }

  has(sought: string): boolean {
    for (let at = this.#text.indexOf(sought); at !== -1; at = this.#text.indexOf(sought, at + 1)) {
      if (this.#edges.has(at) && this.#edges.has(at + sought.length)) return true;
    }
    return false;
  }
}
