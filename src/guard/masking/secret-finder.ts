// The secrets of one text: each lead is followed to the secret it belongs to, and overlapping secrets are merged.
import type { SecretSpan } from "../../model/mask.js";
import { joinLines } from "./broken-text.js";
import { KeyBlocks } from "./key-blocks.js";
import { namedSecret, type Range } from "./named-values.js";
import { isRandom } from "./plausible-values.js";
import type { NameKind, NameMemory } from "./secret-names.js";
import { RUN_CHARS_MAX, type TokenRule } from "./token-shape.js";

export const KEY_BLOCK_RULE = "private_key";
export const REGISTERED_RULE = "value";
export const NAMED_RULE = "assigned_secret";
export const COOKIE_RULE = "cookie";
/** Not a secret, but a sign that invisible characters may split one. */
export const CODE_LEAD = "terminal code";

/** A lead to a secret that is recognised by its context. */
type ContextLead = (TokenRule & { readonly isContextual: true }) | typeof NAMED_RULE | typeof COOKIE_RULE;
/** The rules that a literal in the text may belong to. */
export type Lead = TokenRule | ContextLead | typeof KEY_BLOCK_RULE | typeof REGISTERED_RULE | typeof CODE_LEAD;

interface Find extends SecretSpan {
  readonly isContextual: boolean;
}

/** How far before the end of a known token to search for another one that reaches further: longer than most tokens. */
const GLUED_CHARS_MAX = 256;
/** The rest of a run that is longer than a shape matches. */
const RUN = new RegExp(String.raw`[\w+/=-]{1,${RUN_CHARS_MAX}}`, "y");

export class SecretFinder {
  readonly #text: string;
  readonly #names: NameMemory<NameKind>;
  readonly #finds: Find[] = [];
  #blocks: KeyBlocks | undefined;
  /** The index of the last one that needed no context. */
  #knownIndex = -1;
  /** The end of that one. What is well before it is not searched again. */
  #knownThrough = 0;
  /** Secrets were found by context up to here; tokens without context may still be found. */
  #guessedThrough = 0;
  /** Cookies were searched up to here. */
  #cookiesThrough = 0;
  /** The offsets of terminal codes. */
  readonly codes: number[] = [];

  constructor(text: string, names: NameMemory<NameKind>) {
    this.#text = text;
    this.#names = names;
  }

  follow(at: number, literal: string, lead: Lead): void {
    if (lead === CODE_LEAD) this.codes.push(at);
    else if (lead === REGISTERED_RULE) this.add([at, at + literal.length], REGISTERED_RULE);
    else if (isContextual(lead)) this.#followContext(at, literal, lead);
    else this.#followToken(at, literal, lead);
  }

  /** Adds a secret that was found in the text as people see it. */
  add([start, end]: readonly [start: number, end: number], rule: string): void {
    this.#finds.push({ start, end, rule, isContextual: false });
  }

  /** In order, without overlaps. */
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

  /** Secrets by context; after the first match, no other is searched. */
  #followContext(at: number, literal: string, lead: ContextLead): void {
    if (at < this.#guessedThrough || at < this.#knownThrough - GLUED_CHARS_MAX) return;
    if (lead === COOKIE_RULE) this.#cookies(at);
    else if (lead === NAMED_RULE) this.#guess(namedSecret(this.#names, this.#text, at, literal), NAMED_RULE);
    else this.#guess(this.#token(at, lead), lead.rule);
  }

  #guess(range: Range | undefined, rule: string): void {
    if (range === undefined || range.end <= this.#knownThrough) return;
    this.#finds.push({ start: range.start, end: range.end, rule, isContextual: true });
    this.#guessedThrough = range.end;
  }

  #cookies(at: number): void {
    if (at < this.#cookiesThrough) return;
    const { ranges, through } = cookiesAt(this.#text, at);
    for (const [start, end] of ranges) this.#guess({ start, end }, COOKIE_RULE);
    this.#cookiesThrough = through;
  }

  /** Tokens that need no context. Overlapping endless tokens are kept as one find, not as millions. */
  #followToken(at: number, literal: string, lead: TokenRule | typeof KEY_BLOCK_RULE): void {
    if (at < this.#knownThrough - GLUED_CHARS_MAX) return;
    const span = lead === KEY_BLOCK_RULE ? this.#keyBlock(at, literal) : this.#token(at, lead);
    if (span === undefined || span.end <= this.#knownThrough) return;
    const find = { ...span, isContextual: false };
    const known = this.#finds[this.#knownIndex];
    if (known !== undefined && find.start < known.end) this.#finds[this.#knownIndex] = union(known, find);
    else this.#knownIndex = this.#finds.push(find) - 1;
    this.#knownThrough = find.end;
  }

  #keyBlock(at: number, anchor: string): SecretSpan | undefined {
    this.#blocks ??= new KeyBlocks(this.#text);
    const range = this.#blocks.around(at, anchor);
    return range === undefined ? undefined : { start: range[0], end: range[1], rule: KEY_BLOCK_RULE };
  }

  #token(at: number, rule: TokenRule): SecretSpan | undefined {
    const { left, back = 0, isContextual } = rule;
    const from = at - back;
    if (from < 0) return undefined;
    const found = this.#shape(from, rule);
    const find = isContextual ? found : this.#unbroken(from, rule, found);
    if (find === undefined) return undefined;
    return left === undefined || this.#isGlued(from) || testAt(left, this.#text, from) ? find : undefined;
  }

  #shape(from: number, { rule, shape, accepts }: TokenRule): SecretSpan | undefined {
    shape.lastIndex = from;
    const match = shape.exec(this.#text);
    if (match === null) return undefined;
    const { before, secret, quoted, single, wide } = match.groups ?? {};
    const found = before ?? secret ?? quoted ?? single ?? wide ?? match[0];
    if (accepts?.(found) === false) return undefined;
    const end = match.indices?.groups?.before?.[1] ?? shape.lastIndex;
    const start = end - found.length;
    return { start, end: this.#runEnd(start, end), rule };
  }

  /** The same token with what follows line ends, if it continues there. */
  #unbroken(from: number, { rule, shape }: TokenRule, find: SecretSpan | undefined): SecretSpan | undefined {
    const joined = joinLines(this.#text, from);
    if (joined === undefined) return find;
    shape.lastIndex = 0;
    const match = shape.exec(joined.text);
    if (match === null) return find;
    // A line belongs to the token as a whole or not at all.
    const last = joined.ends.findLast(({ length }) => length <= shape.lastIndex);
    if (last === undefined || last === joined.ends[0]) return find;
    const secret = match.groups?.secret ?? match[0];
    return { start: find?.start ?? from + shape.lastIndex - secret.length, end: last.end, rule };
  }

  /** Whether a known token ends here. */
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

/** Both as one, named after the one that needed no context, otherwise after the longer one. */
function union(left: Find, right: Find): Find {
  const isLonger = right.end - right.start > left.end - left.start;
  const isTelling = left.isContextual === right.isContextual ? isLonger : left.isContextual;
  const start = Math.min(left.start, right.start);
  return { ...(isTelling ? right : left), start, end: Math.max(left.end, right.end) };
}

function isContextual(lead: Exclude<Lead, typeof CODE_LEAD>): lead is ContextLead {
  return lead === NAMED_RULE || lead === COOKIE_RULE || (typeof lead === "object" && lead.isContextual === true);
}

function testAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

export const cookieAnchors: readonly string[] = [
  ...["ookie:", "OOKIE:", 'ookie"', "ookie'", 'ookie\\"', "ookie = ", "ookies = ", "ookies={", " -b ", "--cookie "],
];

const SEPARATOR = /[Oo][Oo][Kk][Ii][Ee][Ss]?(?:\\{0,7}["'])?\s{0,4}[:=]\s{0,4}|--cookie[ =]| -b /y;
const OPENED = /\\{0,7}["']/y;
const LINE = /[^\r\n"'\\]{1,4096}/y;
const PAIR = /([\w.%-]{1,64})=([^;,\s"'\\]{6,4096})/g;
const LOGIN = /sess|sid|auth|token|jwt|login|remember|secret|csrf|xsrf/i;

interface Cookies {
  /** The secret values. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
  /** No others up to here. */
  readonly through: number;
}

/** Secret values of the cookies at this place in a header, in JSON or in a command. */
function cookiesAt(text: string, at: number): Cookies {
  SEPARATOR.lastIndex = at;
  if (!SEPARATOR.test(text)) return { ranges: [], through: at };
  const from = SEPARATOR.lastIndex;
  OPENED.lastIndex = from;
  const start = OPENED.test(text) ? OPENED.lastIndex : from;
  LINE.lastIndex = start;
  const line = LINE.exec(text)?.[0] ?? "";
  const ranges: [number, number][] = [];
  for (const { index, 0: pair, 1: name = "", 2: value = "" } of line.matchAll(PAIR)) {
    const end = start + index + pair.length;
    if (isSecret(name, value)) ranges.push([end - value.length, end]);
  }
  return { ranges, through: start + line.length };
}

function isSecret(name: string, value: string): boolean {
  return LOGIN.test(name) ? isRandom(value, 8) : value.length >= 20 && isRandom(value, 20);
}
