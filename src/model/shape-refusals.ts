// What is said of entries that are nested too deep or hold too many values: the same at every door.
import { limits } from "./limits.js";
import { type Rejection, reject } from "./rejection.js";

export function nestingTooDeep(): Rejection {
  return reject({
    code: "nesting_too_deep",
    message: `an entry may be nested ${limits.nesting_levels} levels deep at most`,
    hint: "Store the deep part as text.",
  });
}

export function entryTooWide(): Rejection {
  return reject({
    code: "too_many_values",
    message: `an entry may hold ${limits.entry_values} JSON values (members and items) at most`,
    hint: "Store the wide part as text.",
  });
}

export function requestTooWide(): Rejection {
  return reject({
    code: "too_many_values",
    message: `the entries of a request may hold ${limits.request_values} JSON values (members and items) at most`,
    hint: "Send fewer entries at a time.",
  });
}
