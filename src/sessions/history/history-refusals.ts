// Why a history is refused: what was asked for is less than the least that can be shown, or more than an answer may be.
import { limits } from "../../model/limits.js";
import { RecorderError } from "../../model/rejection.js";

export function budgetTooSmall(field: "max_messages" | "max_tokens", least: number): RecorderError {
  return new RecorderError({
    code: "budget_too_small",
    field,
    message: `${field} is too small: the newest messages that belong together need ${least}`,
    hint: `Give ${least} or more.`,
    least,
  });
}

export function historyTooLarge(): RecorderError {
  return new RecorderError({
    code: "history_too_large",
    message: `the history is larger than ${limits.history_bytes / 1024 / 1024} MiB`,
    hint: "Ask for less with max_messages or max_tokens.",
  });
}
