// Private keys in PEM and PGP armour: many lines, recognised by their first and last.

/** Longer than any key; an end further away belongs to another text. */
const BLOCK_CHARS_MAX = 64 * 1024;
/** In an address the same characters are percent-encoded, sometimes twice. */
const PERCENT = "%(?:25)?";
const SPACE = `(?:[ +]|${PERCENT}20)`;
const LABEL = `${SPACE}(?:[A-Z0-9]|${SPACE}){0,40}?PRIVATE${SPACE}KEY(?:${SPACE}BLOCK)?-----`;
const BEGIN = new RegExp(`-----BEGIN${LABEL}`, "y");
const END = new RegExp(`-----END${LABEL}`, "y");
const LINE_END = String.raw`(?:[\r\n]|\\{1,4}[nr]|${PERCENT}0[ADad])`;
const GAP = String.raw`(?:\s|\\{1,4}[nrt]|["'>+|]|${PERCENT}(?:0[ADad]|20)){0,16}`;
const UNPADDED = String.raw`[A-Za-z0-9+/]|\\{1,4}/|${PERCENT}2[BFbf]`;
const BASE64 = `(?:${UNPADDED}|=|${PERCENT}3[Dd])`;
/** A line of a key whose end was cut off: base64, also as JSON escapes it; the last line may be shorter. */
const LINE = new RegExp(`${GAP}(?:${BASE64}{16,1024}|${BASE64}{1,64}$)`, "y");
/** The headers before them: how the key is encrypted and what wrote it. */
const HEADER_NAME = "(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)";
const HEADER_TEXT = `(?:(?!${LINE_END}).){0,200}(?=${LINE_END})`;
const HEADER = new RegExp(`${GAP}${HEADER_NAME}(?::|${PERCENT}3[Aa])${HEADER_TEXT}`, "y");
const HEADERS_MAX = 8;
/** A mention of the two lines in prose contains no key. */
const MATERIAL = new RegExp(`(?:${UNPADDED}){16}`);

/** A line of a key, matched backwards from its end. */
const LINE_BEFORE = new RegExp(`(?<=(?<line>(?<!${BASE64})${BASE64}{1,1024}${GAP}))`, "y");
/** How private keys of each kind begin in base64; public keys and certificates begin otherwise. */
const BODY_HEADS = [
  ...[
    "MIIEpAIBAAKC",
    "MIIEowIBAAKC",
    "MIIEogIBAAKC",
    "MIIJKQIBAAKC",
    "MIIJKAIBAAKC",
    "MIIJJwIBAAKC",
    "MIICXAIBAAKB",
    "MIICXQIBAAKB",
  ],
  ...[
    "MIIG5AIBAAKC",
    "MIIG4wIBAAKC",
    "MIIEvQIBADAN",
    "MIIEvgIBADAN",
    "MIIEvAIBADAN",
    "MIIJQgIBADAN",
    "MIIJQwIBADAN",
    "MIIJRAIBADAN",
  ],
  ...[
    "MHcCAQEEI",
    "MIGkAgEBBD",
    "MIHcAgEBBE",
    "MIGHAgEAMBMGByqGSM49",
    "MIG2AgEAMBAGByqGSM49",
    "MC4CAQAwBQYDK2VwBCIE",
    "b3BlbnNzaC1rZXktdjEA",
  ],
];
/** The first line of a key that is encoded as a whole, as in a kubeconfig. */
const ENCODED_HEADS = ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "].map((label) =>
  Buffer.from(`-----BEGIN ${label}PRIVATE KEY`).toString("base64").slice(0, 28),
);

const BEGIN_ANCHOR = "-----BEGIN";
const END_ANCHOR = "-----END";
export const keyAnchors: readonly string[] = [BEGIN_ANCHOR, END_ANCHOR, ...BODY_HEADS, ...ENCODED_HEADS];

/** Finds key blocks in one text, from left to right. It remembers where they end, which keeps it linear. */
export class KeyBlocks {
  readonly #text: string;
  #endAt = -1;
  /** Up to here there is no key material. */
  #emptyThrough = 0;
  /** The end of the last block, with or without a beginning. */
  #seenThrough = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The key that begins or ends at this anchor. */
  around(at: number, anchor: string): readonly [start: number, end: number] | undefined {
    if (anchor === END_ANCHOR) return this.#before(at);
    const end = anchor === BEGIN_ANCHOR ? this.#endOf(at) : this.#linesFrom(at);
    if (end === undefined) return undefined;
    this.#seenThrough = end;
    return [at, end];
  }

  /** The lines before the last one, if the first one is missing. */
  #before(at: number): readonly [start: number, end: number] | undefined {
    END.lastIndex = at;
    if (at < this.#seenThrough || !END.test(this.#text)) return undefined;
    const end = END.lastIndex;
    let start = at;
    for (;;) {
      LINE_BEFORE.lastIndex = start;
      const line = LINE_BEFORE.exec(this.#text)?.groups?.line;
      const isPart =
        line !== undefined && (start === at || line.length >= 32) && start - line.length >= this.#seenThrough;
      if (!isPart) break;
      start -= line.length;
    }
    this.#seenThrough = end;
    return MATERIAL.test(this.#text.slice(start, at)) ? [start, end] : undefined;
  }

  #endOf(start: number): number | undefined {
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
    let from = inside;
    for (let count = 0; count < HEADERS_MAX; count += 1) {
      HEADER.lastIndex = from;
      if (!HEADER.test(this.#text)) break;
      from = HEADER.lastIndex;
    }
    let end: number | undefined;
    LINE.lastIndex = from;
    while (LINE.test(this.#text)) end = LINE.lastIndex;
    return end;
  }

  #endAfter(inside: number): number | undefined {
    if (this.#endAt < inside) {
      const found = this.#text.indexOf("-----END", inside);
      this.#endAt = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    if (this.#endAt - inside > BLOCK_CHARS_MAX) return undefined;
    END.lastIndex = this.#endAt;
    return END.test(this.#text) ? END.lastIndex : undefined;
  }
}
