// The session that an argument names, and the errors about it.
import type { Recorder } from "../../index.js";
import { notFound, RecorderError } from "../../model/rejection.js";

/** The id is no flag here, so a refusal does not name one. */
export function openSession(recorder: Recorder, id: string): ReturnType<Recorder["session"]> {
  try {
    return recorder.session(id);
  } catch (error) {
    if (!(error instanceof RecorderError)) throw error;
    throw new RecorderError({
      code: error.code,
      message: error.message,
      hint: "`hansard sessions` lists the ids.",
    });
  }
}

export function sessionNotFound(id: string): RecorderError {
  const hint = "`hansard sessions` lists the ids. They are case-sensitive.";
  return new RecorderError(notFound("session", id, { hint }));
}

/** A refusal of a field that has another name as a flag of this command. */
export function withFlag(error: unknown, names: { readonly field: string; readonly flag: string }): unknown {
  if (!(error instanceof RecorderError) || error.field !== names.field) return error;
  const { code, message, hint } = error;
  return new RecorderError({ code, message, field: names.flag, ...(hint === undefined ? {} : { hint }) });
}
