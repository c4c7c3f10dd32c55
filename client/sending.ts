// What becomes of a batch: it arrived, the server refuses one of its entries for good, or it is to be sent again.
import type { Connection, WholeAnswer } from "./connection.js";
import type { Problem } from "./outcomes.js";
import { failureOf, jsonObjectIn, toConnectionError } from "./server-errors.js";

export type Outcome =
  | { readonly outcome: "arrived"; readonly problems: readonly Problem[] }
  | { readonly outcome: "failed"; readonly problem: Problem; readonly retryAfterMs: number | undefined };

export interface Sender {
  readonly connection: Connection;
  readonly timeout_ms: number;
}

/** Entries that the server will never take are left out, and the others are sent again without them. */
export async function sendLines(sender: Sender, given: readonly string[]): Promise<Outcome> {
  const problems: Problem[] = [];
  let lines = given;
  while (lines.length > 0) {
    let answer: WholeAnswer;
    try {
      answer = await post(sender, lines);
    } catch (error) {
      const problem = { code: "server_away", message: toConnectionError(error).message, dropped: 0 };
      return { outcome: "failed", problem, retryAfterMs: undefined };
    }
    if (isReceipt(answer, lines)) return { outcome: "arrived", problems };
    const refusal = refusalOf(answer, lines.length);
    if (refusal === "halve") {
      const half = Math.ceil(lines.length / 2);
      const first = await sendLines(sender, lines.slice(0, half));
      if (first.outcome === "failed") return first;
      problems.push(...first.problems);
      lines = lines.slice(half);
    } else if (refusal === undefined) {
      return { outcome: "failed", problem: { ...problemIn(answer), dropped: 0 }, retryAfterMs: answer.retry_after_ms };
    } else {
      problems.push({ ...refusal.problem, dropped: 1 });
      lines = lines.filter((_, at) => at !== refusal.index);
    }
  }
  return { outcome: "arrived", problems };
}

function post({ connection, timeout_ms }: Sender, lines: readonly string[]): Promise<WholeAnswer> {
  const body = { type: "application/x-ndjson", text: lines.join("\n") };
  return connection.ask({ path: "/entries", body, timeout_ms });
}

/**
 * Whatever else answers with 200 on that port has recorded nothing, and neither has a server whose answer names other entries
 * than those it was sent. The lines were written here, so an id is found in one without parsing it again.
 */
function isReceipt({ status, text }: WholeAnswer, lines: readonly string[]): boolean {
  const { entries } = status === 201 || status === 200 ? jsonObjectIn(text) : {};
  if (!Array.isArray(entries) || entries.length !== lines.length) return false;
  return lines.every((line, at) => {
    const { id } = (entries[at] ?? {}) as { readonly id?: unknown };
    return typeof id === "string" && line.includes(`"id":${JSON.stringify(id)}`);
  });
}

/** Statuses that are about an entry, and not about the server or the key. */
const ABOUT_ENTRIES = new Set([400, 404, 409, 413]);

/**
 * What refuses an entry for good. A proxy in front of the server that finds a body too large (413) would never take it, nor
 * anything that waits behind it.
 */
function refusalOf(
  answer: WholeAnswer,
  count: number,
): { readonly index: number; readonly problem: Omit<Problem, "dropped"> } | "halve" | undefined {
  const failure = failureOf(answer);
  const { code = "", index = -1 } = failure.side === "stranger" ? {} : failure.error;
  const isRefused = failure.side === "caller" && ABOUT_ENTRIES.has(answer.status) && code !== "route_not_found";
  if (!isRefused && !(failure.side === "stranger" && answer.status === 413)) return undefined;
  const problem = problemIn(answer);
  // A server that names an entry that was not sent would be sent the same again and again.
  if (Number.isInteger(index) && index >= 0 && index < count) return { index, problem };
  return count === 1 ? { index: 0, problem } : "halve";
}

/** In the server's own words, where it is a Hansard server. */
function problemIn(answer: WholeAnswer): Omit<Problem, "dropped"> {
  const failure = failureOf(answer);
  if (failure.side !== "stranger") return { code: failure.error.code, message: failure.error.message };
  return { code: answer.status === 413 ? "body_too_large" : "server_away", message: failure.message };
}
