// The tokenizer of JSON bytes: finds brackets, strings and scalars in chunks of any size, and passes their positions to
// a visitor. It builds nothing and checks no grammar; JSON.parse does that later. So it is fast enough to check bytes
// before they are parsed, and works on damaged ones.

/**
 * What to do at each token; tokens without a function are skipped. Positions are indexes into the bytes of the current
 * `write`, an end is the index after the last byte. A token that began in earlier bytes has a negative start.
 */
export interface JsonVisitor {
  /** An object or array begins or ends; `depth` counts it in both. */
  begin?(at: number, isObject: boolean): void;
  end?(at: number, isObject: boolean): void;
  /** A whole string with its quotes, keys included. */
  string?(start: number, end: number): void;
  /** A number, `true`, `false`, `null`, or anything else. */
  scalar?(start: number, end: number): void;
  comma?(at: number): void;
  colon?(at: number): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPENS = 0x7b;
const BRACE_CLOSES = 0x7d;

const [SCALAR, SPACE, STRING, BEGIN, END, COMMA, COLON] = [0, 1, 2, 3, 4, 5, 6];
const KINDS = new Uint8Array(256).fill(SCALAR);
for (const byte of Buffer.from(" \t\n\r")) KINDS[byte] = SPACE;
for (const byte of Buffer.from("{[")) KINDS[byte] = BEGIN;
for (const byte of Buffer.from("}]")) KINDS[byte] = END;
KINDS[QUOTE] = STRING;
KINDS[0x2c] = COMMA;
KINDS[0x3a] = COLON;

/** A string is searched byte by byte up to this length; a native search finds the end of a longer one sooner. */
const SHORT_BYTES = 48;

/** The end of an unfinished token; ESCAPED if its next byte is escaped. */
const [OPEN, ESCAPED] = [1, 2];

export class JsonTokenizer {
  /** Open objects and arrays; negative if too many were closed. */
  depth = 0;
  /** The unfinished string or scalar at the end of the bytes so far. */
  unfinished: "string" | "scalar" | undefined;
  /** Its start, relative to the first byte of the next `write`. */
  unfinishedStart = 0;
  /** Whether the next byte of the unfinished string is escaped. */
  #isEscaped = false;
  #isStopped = false;
  readonly #visitor: JsonVisitor;

  constructor(visitor: JsonVisitor) {
    this.#visitor = visitor;
  }

  /** Reads tokens from the next bytes, from index `from` to `to`. */
  write(bytes: Buffer, from = 0, to = bytes.length): void {
    const visitor = this.#visitor;
    let at = this.unfinished === undefined ? from : this.#resume(bytes, from, to);
    while (at < to && !this.#isStopped) {
      const start = at;
      const byte = bytes[at] as number;
      const kind = KINDS[byte];
      at += 1;
      if (kind === STRING) {
        at = endOfString(bytes, at, to);
        if (at > to) this.#suspend("string", start, { at, to });
        else visitor.string?.(start, at);
      } else if (kind === SCALAR) {
        at = endOfScalar(bytes, at, to);
        if (at > to) this.#suspend("scalar", start, { at, to });
        else visitor.scalar?.(start, at);
      } else if (kind === COMMA) visitor.comma?.(start);
      else if (kind === COLON) visitor.colon?.(start);
      else if (kind === BEGIN) {
        this.depth += 1;
        visitor.begin?.(start, byte === BRACE_OPENS);
      } else if (kind === END) {
        visitor.end?.(start, byte === BRACE_CLOSES);
        this.depth -= 1;
      } else while (at < to && KINDS[bytes[at] as number] === SPACE) at += 1;
    }
  }

  /** The end of input: ends a scalar, which has no end mark of its own. */
  end(): void {
    if (this.unfinished !== "scalar" || this.#isStopped) return;
    this.unfinished = undefined;
    this.#visitor.scalar?.(this.unfinishedStart, 0);
  }

  /** For a visitor that has seen enough: stops reading. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resets the state for the next document. */
  reset(): void {
    this.depth = 0;
    this.unfinished = undefined;
  }

  #suspend(
    unfinished: "string" | "scalar",
    start: number,
    { at, to }: { readonly at: number; readonly to: number },
  ): void {
    this.unfinished = unfinished;
    this.unfinishedStart = start - to;
    this.#isEscaped = at === to + ESCAPED;
  }

  /** Continues an unfinished token, and returns the index after it. */
  #resume(bytes: Buffer, from: number, to: number): number {
    const { unfinished = "scalar", unfinishedStart: start } = this;
    if (from === to || this.#isStopped) return to;
    const isString = unfinished === "string";
    const at = isString ? endOfString(bytes, this.#isEscaped ? from + 1 : from, to) : endOfScalar(bytes, from, to);
    if (at > to) this.#suspend(unfinished, start, { at, to });
    else {
      this.unfinished = undefined;
      if (isString) this.#visitor.string?.(start, at);
      else this.#visitor.scalar?.(start, at);
    }
    return at;
  }
}

/** The first index that is not part of a number or word; after `to` if it may continue. */
function endOfScalar(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && KINDS[bytes[at] as number] === SCALAR) at += 1;
  return at < to ? at : to + OPEN;
}

/** The index after the quote that ends a string; after `to` if it has not come yet. */
function endOfString(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to) {
    for (const near = Math.min(at + SHORT_BYTES, to); at < near; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at += 1;
    }
    if (at < to) at = nearQuote(bytes, at, to);
  }
  return at > to ? to + ESCAPED : to + OPEN;
}

/** The next quote, or the backslashes before it: an odd number of them escapes it. */
function nearQuote(bytes: Buffer, from: number, to: number): number {
  const found = bytes.indexOf(QUOTE, from);
  let at = found === -1 || found > to ? to : found;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return at;
}
