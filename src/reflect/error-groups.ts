// Errors grouped by fingerprint, newest first: words stay, and variable parts are replaced by a name.
import type { Entry } from "../model/entry.js";
import type { Citation, Cited, ErrorGroup } from "../model/report.js";
import { citationOf, cite, copyOf, excerpt, type Mask, shown } from "./citations.js";

/** Errors beyond this many groups are counted, but not grouped. */
const GROUPS_MAX = 5_000;

interface Group {
  readonly text: string;
  readonly last_at: string;
  first_at: string;
  count: number;
  readonly cited: Citation[];
}

/** Takes errors newest first. */
export class ErrorGroups {
  readonly #groups = new Map<string, Group>();
  readonly #mask: Mask;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  add(entry: Pick<Entry, "id" | "position" | "created_at">, said: string): void {
    const fingerprint = fingerprintOf(shown(said, this.#mask));
    const known = this.#groups.get(fingerprint);
    if (known === undefined) {
      if (this.#groups.size >= GROUPS_MAX) return;
      const { created_at } = entry;
      const text = excerpt(said, this.#mask);
      const group = { text, first_at: created_at, last_at: created_at, count: 1, cited: [citationOf(entry)] };
      this.#groups.set(copyOf(fingerprint), group);
      return;
    }
    known.count += 1;
    known.first_at = entry.created_at;
    cite(known.cited, citationOf(entry));
  }

  /** The most frequent first; on ties the newest. */
  finish(): readonly Cited<ErrorGroup>[] {
    return [...this.#groups]
      .map(([fingerprint, { text, count, first_at, last_at, cited }]) => ({
        fingerprint,
        text,
        count,
        first_at,
        last_at,
        cited,
      }))
      .sort((left, right) => right.count - left.count);
  }
}

const FINGERPRINT_CHARS = 200;
/** Longer than the fingerprint, because names are shorter than what they replace. */
const LINE_CHARS = 300;

/** The order matters: a path in quotes is a quoted text, a number in a time is part of the time. */
const CHANGING: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu, "<text>"],
  [/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s)\]}>,;]+/giu, "<url>"],
  [/\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}/gu, "<id>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/giu, "<id>"],
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b/gu, "<time>"],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b/gu, "<time>"],
  [/(?<![\p{L}\p{N}<])(?:[a-z]:|~|\.{1,2})?[\\/][\w.@~+$%-]+(?:[\\/][\w.@~+$%-]*)*(?::\d+)*/giu, "<path>"],
  [/\b[\w.@~+-]+(?:[\\/][\w.@~+-]+)+(?::\d+)*/gu, "<path>"],
  [/\b0x[0-9a-f]+\b/giu, "<id>"],
];
/** Words with digits in them, such as `req_8f3a` and `abc-123`, are generated names. */
const NAMES = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]*(?:[_-][\p{L}\p{N}]+)*/gu;
const NUMBERS = /[-+]?\d[\p{L}\p{N}]*(?:[.,:_-]\d[\p{L}\p{N}]*)*/gu;

/** @internal Exported for tests. */
export function fingerprintOf(error: string): string {
  let text = tellingLine(error).slice(0, LINE_CHARS);
  for (const [pattern, name] of CHANGING) text = text.replace(pattern, name);
  text = text.replace(NAMES, (name) => (/\d/.test(name) ? "<id>" : name)).replace(NUMBERS, "<number>");
  return text.toLowerCase().replace(/\s+/g, " ").trim().slice(0, FINGERPRINT_CHARS);
}

/** The first line: a stack follows it. Python puts the stack first, and the error last. */
function tellingLine(text: string): string {
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== "");
  const isTraceback = /^\s*Traceback \(most recent call last\)/.test(lines[0] ?? "");
  return (isTraceback ? lines.at(-1) : lines[0]) ?? "";
}
