// What was found in one text: leads are followed to the secrets they belong to, and those that overlap become one.
import type { SecretSpan } from "../../ports/mask.js";
import { KeyBlocks } from "./key-blocks.js";
import { RUN_CHARS_MAX, type TokenRule } from "./token-shape.js";

export const KEY_BLOCK_RULE = "private_key";
export const REGISTERED_RULE = "value";

/** What a literal in the text may be part of. */
export type Lead = TokenRule | typeof KEY_BLOCK_RULE | typeof REGISTERED_RULE;

interface Find extends SecretSpan {
  readonly isContextual: boolean;
}

/** How far before the end of what is known another token is looked for that reaches beyond: longer than most are. */
const GLUED_CHARS_MAX = 256;
/** The rest of a run that is longer than a shape reaches. */
const RUN = new RegExp(String.raw`[\w+/=-]{1,${RUN_CHARS_MAX}}`, "y");

export class Finds {
  readonly #text: string;
  readonly #finds: Find[] = [];
  #blocks: KeyBlocks | undefined;
  /** The place of the last one that was told by itself. */
  #knownIndex = -1;
  /** Where that one ends. What lies well before is not looked at again. */
  #knownThrough = 0;
  /** What lies before was told by its surroundings; it may still be told by itself. */
  #guessedThrough = 0;

  constructor(text: string) {
    this.#text = text;
  }

  follow(at: number, literal: string, lead: Lead): void {
    if (lead === REGISTERED_RULE) {
      this.#finds.push({ start: at, end: at + literal.length, rule: REGISTERED_RULE, isContextual: false });
      return;
    }
    const isContextual = typeof lead === "object" && lead.isContextual === true;
    const isPast = at < this.#knownThrough - GLUED_CHARS_MAX || (isContextual && at < this.#guessedThrough);
    if (isPast) return;
    const find = lead === KEY_BLOCK_RULE ? this.#keyBlock(at) : this.#token(at, lead);
    if (find === undefined || find.end <= this.#knownThrough) return;
    if (isContextual) {
      this.#finds.push(find);
      this.#guessedThrough = find.end;
    } else this.#know(find);
  }

  /** In order, none overlapping another. */
  spans(): readonly SecretSpan[] {
    if (this.#finds.length === 0) return [];
    const spans: Find[] = [];
    for (const find of this.#finds.sort((left, right) => left.start - right.start)) {
      const last = spans.at(-1);
      if (last === undefined || last.end <= find.start) spans.push(find);
      else spans[spans.length - 1] = union(last, find);
    }
    return spans.map(({ start, end, rule }) => ({ start, end, rule }));
  }

  /** Of tokens without end that overlap, one find is kept and not millions. */
  #know(find: Find): void {
    const known = this.#finds[this.#knownIndex];
    if (known !== undefined && find.start < known.end) this.#finds[this.#knownIndex] = union(known, find);
    else this.#knownIndex = this.#finds.push(find) - 1;
    this.#knownThrough = find.end;
  }

  #keyBlock(start: number): Find | undefined {
    this.#blocks ??= new KeyBlocks(this.#text);
    const end = this.#blocks.endOf(start);
    return end === undefined ? undefined : { start, end, rule: KEY_BLOCK_RULE, isContextual: false };
  }

  #token(at: number, { rule, left, shape, back = 0, isContextual }: TokenRule): Find | undefined {
    const from = at - back;
    if (from < 0 || !(left === undefined || this.#isGlued(from) || testAt(left, this.#text, from))) return undefined;
    shape.lastIndex = from;
    const match = shape.exec(this.#text);
    if (match === null) return undefined;
    const end = shape.lastIndex;
    const start = end - (match.groups?.secret ?? match[0]).length;
    return { start, end: this.#runEnd(start, end), rule, isContextual: isContextual === true };
  }

  /** Whether a token that is known reaches here. */
  #isGlued(at: number): boolean {
    const known = this.#finds[this.#knownIndex];
    return known !== undefined && known.start < at && at <= known.end;
  }

  #runEnd(start: number, end: number): number {
    if (end - start < RUN_CHARS_MAX) return end;
    RUN.lastIndex = end;
    let reached = end;
    while (RUN.test(this.#text)) reached = RUN.lastIndex;
    return reached;
  }
}

/** Both together, named after what was told by itself, else after the longer one. */
function union(left: Find, right: Find): Find {
  const isLonger = right.end - right.start > left.end - left.start;
  const isTelling = left.isContextual === right.isContextual ? isLonger : left.isContextual;
  const start = Math.min(left.start, right.start);
  return { ...(isTelling ? right : left), start, end: Math.max(left.end, right.end) };
}

function testAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
