// What becomes of a batch: it arrived, the server refuses one of its entries for good, or it is to be sent again.
import type { Problem } from "./outcomes.js";
import { connectionWords, type Transport, type Wire } from "./transport.js";

export type Outcome =
  | { readonly outcome: "arrived"; readonly problems: readonly Problem[] }
  | { readonly outcome: "failed"; readonly problem: Problem; readonly retryAfterMs: number | undefined };

export interface Sender {
  readonly transport: Transport;
  readonly key: string | undefined;
  readonly timeout_ms: number;
}

/** Entries that the server will never take are left out, and the others sent again without them. */
export async function sendLines(sender: Sender, given: readonly string[]): Promise<Outcome> {
  const problems: Problem[] = [];
  let lines = given;
  while (lines.length > 0) {
    let wire: Wire;
    try {
      wire = await post(sender, lines);
    } catch (error) {
      const problem = { code: "server_away", message: connectionWords(error), dropped: 0 };
      return { outcome: "failed", problem, retryAfterMs: undefined };
    }
    if (isReceipt(wire, lines)) return { outcome: "arrived", problems };
    const refusal = refusalOf(wire, lines.length);
    if (refusal === "halve") {
      const half = Math.ceil(lines.length / 2);
      const first = await sendLines(sender, lines.slice(0, half));
      if (first.outcome === "failed") return first;
      problems.push(...first.problems);
      lines = lines.slice(half);
    } else if (refusal === undefined) {
      const problem = { code: codeOf(wire) ?? "server_away", message: messageOf(wire), dropped: 0 };
      return { outcome: "failed", problem, retryAfterMs: wire.retryAfterMs };
    } else {
      problems.push({ ...refusal.problem, dropped: 1 });
      lines = lines.filter((_, at) => at !== refusal.index);
    }
  }
  return { outcome: "arrived", problems };
}

function post({ transport, key, timeout_ms }: Sender, lines: readonly string[]): Promise<Wire> {
  const headers = {
    "content-type": "application/x-ndjson",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return transport.post({ headers, body: lines.join("\n"), timeout_ms });
}

/**
 * Whatever else answers with 200 on that port has recorded nothing, and neither has a server that speaks of other entries than
 * those it was sent. Lines are ours, so that an id is found in one without reading all of it again.
 */
function isReceipt({ status, text }: Wire, lines: readonly string[]): boolean {
  const { entries } = status === 201 || status === 200 ? parse(text) : {};
  if (!Array.isArray(entries) || entries.length !== lines.length) return false;
  return lines.every((line, at) => {
    const { id } = (entries[at] ?? {}) as { readonly id?: unknown };
    return typeof id === "string" && line.includes(`"id":${JSON.stringify(id)}`);
  });
}

/**
 * Statuses that say something about an entry, and not about the server or the key. What stands before a server says in no
 * words of ours that a body is too large for it (413): it would never take it, and nothing that waits behind it either.
 */
const ABOUT_ENTRIES = new Set([400, 404, 409, 413]);

function refusalOf(
  wire: Wire,
  count: number,
): { readonly index: number; readonly problem: Omit<Problem, "dropped"> } | "halve" | undefined {
  const { error } = parse(wire.text) as { readonly error?: { readonly index?: unknown } };
  const code = codeOf(wire) ?? (wire.status === 413 ? "body_too_large" : undefined);
  if (!ABOUT_ENTRIES.has(wire.status) || code === undefined || code === "route_not_found") return undefined;
  const problem = { code, message: messageOf(wire) };
  const index = typeof error?.index === "number" ? error.index : -1;
  // A server that names an entry that was not sent would else be asked the same again and again.
  if (Number.isInteger(index) && index >= 0 && index < count) return { index, problem };
  return count === 1 ? { index: 0, problem } : "halve";
}

function codeOf({ text }: Wire): string | undefined {
  const { error } = parse(text) as { readonly error?: { readonly code?: unknown } };
  return typeof error?.code === "string" ? error.code : undefined;
}

/** In the server's own words, where it is one. */
function messageOf({ status, text }: Wire): string {
  const { error } = parse(text) as { readonly error?: { readonly message?: unknown } };
  return typeof error?.message === "string" ? error.message : `status ${status}`;
}

function parse(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as { [name: string]: unknown }) : {};
  } catch {
    return {};
  }
}
