// Private keys in PEM and PGP armour: many lines, told by how they begin and end.

/** Longer than any key; what ends further away belongs to another text. */
const BLOCK_CHARS_MAX = 64 * 1024;
const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----/y;
const END = /-----END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----/y;
/** What is left of a key whose end was cut off: lines of base64, also as JSON escapes them, the last one shorter. */
const LINE = /(?:\s|\\{1,4}[nrt]|["'>+|]){0,16}(?:[A-Za-z0-9+/=]{16,1024}|[A-Za-z0-9+/]{1,64}={0,2}$)/y;
/** A mention of the two lines in prose holds no key. */
const MATERIAL = /[A-Za-z0-9+/]{16}/;

export const KEY_BLOCK_ANCHOR = "-----BEGIN ";

/** Finds key blocks in one text, from left to right. What it learns about ends it remembers, so that it stays linear. */
export class KeyBlocks {
  readonly #text: string;
  #endAt = -1;
  /** Through here there is nothing but words. */
  #emptyThrough = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the key ends that begins here; undefined where none does. */
  endOf(start: number): number | undefined {
    BEGIN.lastIndex = start;
    if (!BEGIN.test(this.#text)) return undefined;
    const inside = BEGIN.lastIndex;
    const end = this.#endAfter(inside);
    if (end !== undefined && end > this.#emptyThrough) {
      if (MATERIAL.test(this.#text.slice(inside, end))) return end;
      this.#emptyThrough = end;
    }
    return this.#linesFrom(inside);
  }

  #linesFrom(inside: number): number | undefined {
    let end: number | undefined;
    LINE.lastIndex = inside;
    while (LINE.test(this.#text)) end = LINE.lastIndex;
    return end;
  }

  #endAfter(inside: number): number | undefined {
    if (this.#endAt < inside) {
      const found = this.#text.indexOf("-----END ", inside);
      this.#endAt = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    if (this.#endAt - inside > BLOCK_CHARS_MAX) return undefined;
    END.lastIndex = this.#endAt;
    return END.test(this.#text) ? END.lastIndex : undefined;
  }
}
