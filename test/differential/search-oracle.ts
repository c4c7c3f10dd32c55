// Search in the plainest way there is: every entry looked at, nothing shared with the program but the contract.
import type { Entry } from "../../src/index.js";

export interface SearchRequest {
  readonly terms: readonly string[];
  readonly excluded: readonly string[];
  /** One kind, or several separated by commas. */
  readonly kind?: string;
  readonly role?: string;
  readonly project?: string;
  readonly session_id?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Positions of all entries that are meant, newest first. */
export function searchPlainly(entries: readonly Entry[], request: SearchRequest): readonly number[] {
  return entries
    .filter((entry) => isMeant(entry, request))
    .toSorted((left, right) => compare(right.created_at, left.created_at) || right.position - left.position)
    .map(({ position }) => position);
}

const SEARCHED = ["interaction", "response", "message", "tool_call", "error", "decision", "consolidation", "feedback"];

export function isMeant(entry: Entry, request: SearchRequest): boolean {
  if (!(request.kind?.split(",") ?? SEARCHED).includes(entry.kind)) return false;
  if (request.role !== undefined && roleOf(entry) !== request.role) return false;
  if (request.project !== undefined && entry.project !== (request.project === "-" ? "" : request.project)) return false;
  if (request.session_id !== undefined && entry.session_id !== (request.session_id === "-" ? "" : request.session_id))
    return false;
  if (request.since !== undefined && entry.created_at < request.since) return false;
  if (request.until !== undefined && entry.created_at > request.until) return false;
  const texts = textsIn(entry);
  const has = (term: string): boolean => texts.some((text) => contains(text, fold(term)));
  return request.terms.every(has) && !request.excluded.some(has);
}

export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** Both folded. */
function contains(text: string, needle: string): boolean {
  const found = text.includes(needle);
  if (!found || needle.isWellFormed()) return found;
  // Half of a character is not found in a whole one.
  const spaced = (one: string): string => ` ${[...one].join(" ")} `;
  return spaced(text).includes(spaced(needle));
}

/** The fields of SPEC's list that a kind can have, read off the entry as the library gives it. */
const FIELDS = [
  ...["prompt", "response", "response_summary", "error", "context", "decision", "rationale", "tool", "args", "result"],
  ...["name", "tool_calls", "summary"],
];

/** Folded once for all queries. */
const known = new WeakMap<Entry, readonly string[]>();

function textsIn(entry: Entry): readonly string[] {
  const before = known.get(entry);
  if (before !== undefined) return before;
  const values = entry as unknown as { readonly [name: string]: unknown };
  const texts: string[] = entry.kind === "raw" ? leaves(entry.record) : FIELDS.flatMap((name) => leaves(values[name]));
  if (entry.kind === "message") texts.push(...saidIn(entry.content));
  const folded = texts.map(fold);
  known.set(entry, folded);
  return folded;
}

function leaves(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return Object.entries(value).flatMap(([key, item]) => [key, ...leaves(item)]);
}

function saidIn(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return (content as readonly unknown[]).flatMap((part) => {
    if (typeof part === "string") return [part];
    const { text } = part as { readonly text?: unknown };
    return typeof text === "string" ? [text] : [];
  });
}

function roleOf(entry: Entry): string {
  if (entry.kind !== "message") return "";
  return { timmy: "assistant", developer: "system" }[entry.role] ?? entry.role;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
