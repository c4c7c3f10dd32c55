// What commands say where an entry that was named is not there.
import { RecorderError } from "../model/rejection.js";

export function entryNotFound(wanted: string): RecorderError {
  return new RecorderError({
    code: "entry_not_found",
    message: `there is no entry ${JSON.stringify(wanted.slice(0, 128))}`,
    hint: "`hansard list` shows what there is; an id, or a position such as 12, is understood.",
  });
}
