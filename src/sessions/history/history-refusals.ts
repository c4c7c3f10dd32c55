// Why a history or a consolidation is rejected.
import { limits } from "../../model/limits.js";
import { RecorderError, type Rejection, reject } from "../../model/rejection.js";

const MIB = 1024 * 1024;

export function budgetTooSmall(field: "max_messages" | "max_tokens", least: number): RecorderError {
  return new RecorderError({
    code: "budget_too_small",
    field,
    message: `${field} is too small: the newest messages that belong together need ${least}`,
    hint: `Give ${least} or more.`,
    least,
  });
}

const LARGEST = `${limits.history_bytes / MIB} MiB`;

/** What makes a history too large, and what helps. */
const tooLarge = {
  messages: {
    message: `the history is larger than ${LARGEST}`,
    hint: "Ask for less with max_messages or max_tokens.",
  },
  newest: {
    message: `the newest messages that belong together are larger than ${LARGEST}`,
    hint: "Clear or consolidate the session to go on without them; each entry can be read by its id.",
  },
  systems: {
    message: `the session's system messages are larger than ${LARGEST}`,
    hint: "Withdraw those that are no longer needed: every history includes all system messages.",
  },
  read: {
    message: `more than ${limits.history_read_chars / MIB} MiB of entries would have to be read for the history`,
    hint: "Clear or consolidate the session: what comes before that is not read.",
  },
} as const;

export type TooLarge = keyof typeof tooLarge;

export function historyTooLarge(what: TooLarge): RecorderError {
  return new RecorderError({ code: "history_too_large", ...tooLarge[what] });
}

export function contextTooLarge(): RecorderError {
  return new RecorderError({
    code: "context_too_large",
    message: `the context, with its changes since the previous answer, is larger than ${LARGEST}`,
    hint: "GET /sessions/{id}/entries lists what came before the answer; each entry can be read by its id.",
  });
}

export function tooManyTokens(counted: number): RecorderError {
  return new RecorderError({
    code: "history_too_large",
    message: `the newest messages that belong together have more than ${counted} tokens`,
    hint: "Ask with max_messages instead of max_tokens, or clear or consolidate the session.",
  });
}

export function throughInvalid(): Rejection {
  return reject({
    code: "field_invalid",
    field: "through",
    message: "through must be a position (a whole number from 1)",
  });
}

export function throughElsewhere(through: number): Rejection {
  return reject({
    code: "field_invalid",
    field: "through",
    message: `position ${through} is not in this session`,
    hint: "Give the position of one of its entries.",
  });
}

export function consolidatedFurther(present: number): Rejection {
  return reject({
    code: "consolidation_backwards",
    field: "through",
    message: `the session is consolidated through ${present} already`,
  });
}
