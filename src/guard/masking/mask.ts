// The mask: finds secrets in recorded text and replaces them by markers. Every surface that shows recorded text uses
// one.
import type { Cut, Mask, MaskedCut, SecretSpan } from "../../model/mask.js";
import { codeAnchors, hasUnseenChars, unbrokenTexts } from "./broken-text.js";
import { keyAnchors } from "./key-blocks.js";
import { LiteralScanner, type SoughtLiteral } from "./literal-scanner.js";
import { isWholeWord, nameAnchors } from "./named-values.js";
import { isPlausible } from "./plausible-values.js";
import { formsOf } from "./registered-values.js";
import {
  CODE_LEAD,
  COOKIE_RULE,
  cookieAnchors,
  KEY_BLOCK_RULE,
  type Lead,
  NAMED_RULE,
  REGISTERED_RULE,
  SecretFinder,
} from "./secret-finder.js";
import { kindOfName, type NameKind, NameMemory } from "./secret-names.js";
import { tokenRules } from "./token-rules.js";

export interface MaskOptions {
  /** Values that the user registered; they are masked everywhere. */
  readonly values?: readonly string[] | undefined;
}

/** Shorter than any secret: an address such as a://:b@c. */
const SECRET_CHARS_MIN = 6;
/** Fields that identify entries and sessions; they are never masked. */
const ADDRESSES = new Set(["id", "session_id", "parent", "interaction_id", "response_id", "tool_call_id", "hash"]);

/** Keys of a value whose name is in a sibling field, as in headers, attributes and environments. */
const VALUE_KEYS = new Set(["value", "stringValue", "string_value"]);

export function createMask(options: MaskOptions = {}): Mask {
  return new TokenMask(options.values ?? []);
}

function markerOf(rule: string): string {
  return `[masked:${rule}]`;
}

const tokenLeads: readonly SoughtLiteral<Lead>[] = [
  ...tokenRules.flatMap((rule) => rule.anchors.map((literal) => ({ literal, item: rule }))),
  ...soughtOf(keyAnchors, KEY_BLOCK_RULE),
  ...soughtOf(nameAnchors, NAMED_RULE),
  ...soughtOf(cookieAnchors, COOKIE_RULE),
  ...soughtOf(codeAnchors, CODE_LEAD),
];

function soughtOf(literals: readonly string[], item: Lead): readonly SoughtLiteral<Lead>[] {
  return literals.map((literal) => ({ literal, item }));
}

class TokenMask implements Mask {
  readonly #scanner: LiteralScanner<Lead>;
  readonly #names = new NameMemory(kindOfName);
  /** Keys of objects, as shown and by the kind of their values. */
  readonly #keys = new NameMemory((key) => ({ shown: this.text(key), kind: kindOfName(key) }));

  constructor(values: readonly string[]) {
    const forms = [...new Set(values.flatMap(formsOf))];
    this.#scanner = new LiteralScanner<Lead>([
      ...tokenLeads,
      ...forms.map((literal): SoughtLiteral<Lead> => ({ literal, item: REGISTERED_RULE })),
    ]);
  }

  find(text: string): readonly SecretSpan[] {
    if (text.length < SECRET_CHARS_MIN) return [];
    const finder = this.#follow(text);
    const isBroken = (finder !== undefined && finder.codes.length > 0) || hasUnseenChars(text);
    return isBroken ? this.#findBroken(text, finder ?? new SecretFinder(text, this.#names)) : (finder?.spans() ?? []);
  }

  /** Secrets found in the text, and in the text as people see it. */
  #findBroken(text: string, finder: SecretFinder): readonly SecretSpan[] {
    for (const plain of unbrokenTexts(text, finder.codes)) {
      for (const { start, end, rule } of this.#follow(plain.text)?.spans() ?? []) {
        finder.add(plain.wholeRange(start, end), rule);
      }
    }
    return finder.spans();
  }

  #follow(text: string): SecretFinder | undefined {
    let finder: SecretFinder | undefined;
    this.#scanner.scan(text, (at, { literal, item }) => {
      if (item === NAMED_RULE && !isWholeWord(text, at, literal)) return;
      finder ??= new SecretFinder(text, this.#names);
      finder.follow(at, literal, item);
    });
    return finder;
  }

  text(text: string): string {
    const spans = this.find(text);
    return spans.length === 0 ? text : replaced(text, spans);
  }

  value<T>(value: T): T {
    return this.#value(value, "", "none") as T;
  }

  entry<E extends object>(entry: E): E {
    const changed: { [name: string]: unknown } = {};
    for (const [name, value] of Object.entries(entry)) {
      if (ADDRESSES.has(name)) continue;
      const masked = this.#value(value, name, this.#names.about(name));
      if (masked !== value) changed[name] = masked;
    }
    return Object.keys(changed).length === 0 ? entry : { ...entry, ...changed };
  }

  cut({ text, start, end, matches = [] }: Cut): MaskedCut {
    const spans = this.find(text);
    if (spans.length === 0) {
      const own = matches.map(([from, to]) => [from - start, to - start] as const);
      return { text: text.slice(start, end), matches: within(own, end - start) };
    }
    const place = new OffsetMap(spans);
    const [from, to] = [place.startOf(start), place.endOf(end)];
    const masked = replaced(text, spans).slice(from, to);
    const own = matches.map(([first, last]) => [place.startOf(first) - from, place.endOf(last) - from] as const);
    return { text: masked, matches: within(own, to - from) };
  }

  /** The value with its secrets masked; its name may reveal a secret too. */
  #value(value: unknown, name: string, kind: NameKind): unknown {
    if (typeof value === "string") return this.#named(value, name, kind);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#list(value);
    return this.#object(value as { readonly [key: string]: unknown }, name, kind);
  }

  #named(value: string, name: string, kind: NameKind): string {
    const shown = this.text(value);
    if (kind === "none" || shown !== value) return shown;
    if (kind === "header") return this.text(`${name}: ${value}`).slice(name.length + 2);
    return isPlausible(value, kind, true) ? markerOf(NAMED_RULE) : value;
  }

  /** In a list of arguments, the value of an option follows its name. */
  #list(list: readonly unknown[]): readonly unknown[] {
    let changed: unknown[] | undefined;
    let before: unknown;
    for (const [index, item] of list.entries()) {
      const name = typeof before === "string" && before.startsWith("-") ? before : "";
      const masked = this.#value(item, name, name === "" ? "none" : this.#names.about(name));
      before = item;
      if (masked === item) continue;
      changed ??= [...list];
      changed[index] = masked;
    }
    return changed ?? list;
  }

  /** `name` is the object's own key; keys inside it say more about their values. */
  #object(object: { readonly [key: string]: unknown }, name: string, kind: NameKind): object {
    const pairs: [string, unknown][] = [];
    let isChanged = false;
    for (const [key, item] of Object.entries(object)) {
      const known = this.#keys.about(key);
      const isValue = known.kind === "none" && VALUE_KEYS.has(key);
      const masked = isValue ? this.#valueBeside(object, item, name, kind) : this.#value(item, key, known.kind);
      const pair: [string, unknown] = [known.shown, masked];
      if (pair[0] !== key || pair[1] !== item) isChanged = true;
      pairs.push(pair);
    }
    // Defined, not assigned: a key called __proto__ must stay an ordinary key.
    return isChanged ? Object.fromEntries(distinct(pairs)) : object;
  }

  #valueBeside(
    { name, key }: { readonly [key: string]: unknown },
    value: unknown,
    outer: string,
    kind: NameKind,
  ): unknown {
    const given = typeof name === "string" ? name : key;
    return typeof given === "string"
      ? this.#value(value, given, this.#names.about(given))
      : this.#value(value, outer, kind);
  }
}

function replaced(text: string, spans: readonly SecretSpan[]): string {
  let out = "";
  let from = 0;
  for (const { start, end, rule } of spans) {
    out += text.slice(from, start) + markerOf(rule);
    from = end;
  }
  return out + text.slice(from);
}

/** Two keys that are equal once masked stay two keys. */
function distinct(pairs: readonly [string, unknown][]): readonly [string, unknown][] {
  const seen = new Set<string>();
  return pairs.map(([key, value]) => {
    let name = key;
    for (let count = 2; seen.has(name); count += 1) name = `${key} ${count}`;
    seen.add(name);
    return [name, value];
  });
}

/** Maps offsets of the text to the masked text; those inside a secret to the ends of its marker. */
class OffsetMap {
  readonly #spans: readonly SecretSpan[];

  constructor(spans: readonly SecretSpan[]) {
    this.#spans = spans;
  }

  startOf(offset: number): number {
    return this.#place(offset, "start");
  }

  endOf(offset: number): number {
    return this.#place(offset, "end");
  }

  #place(offset: number, side: "start" | "end"): number {
    let shift = 0;
    for (const { start, end, rule } of this.#spans) {
      if (offset <= start) break;
      const width = markerOf(rule).length;
      if (offset < end) return start + shift + (side === "start" ? 0 : width);
      shift += width - (end - start);
    }
    return offset + shift;
  }
}

/** Ranges cut to a text of this length; overlapping ones are merged. */
function within(
  ranges: readonly (readonly [number, number])[],
  length: number,
): readonly (readonly [number, number])[] {
  const kept: [number, number][] = [];
  for (const [start, end] of ranges) {
    const [from, to] = [Math.max(0, start), Math.min(length, end)];
    const last = kept.at(-1);
    if (from >= to) continue;
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to);
    else kept.push([from, to]);
  }
  return kept;
}
