// The entry that a command is about, by its id or its position.
import { notFound, RecorderError } from "../../model/rejection.js";

const hint = "`hansard list` shows what there is; an id, or a position such as 12, is understood.";

/** What was asked of it. What is refused about words of the command is told without a flag, since they have none. */
export async function ofNamedEntry<T>(wanted: string, ask: () => Promise<T | undefined>): Promise<T> {
  const found = await ask().catch((error: unknown) => {
    if (!(error instanceof RecorderError)) throw error;
    const { code, message, hint: told } = error;
    throw new RecorderError({ code, message, ...(told === undefined ? {} : { hint: told }) });
  });
  if (found === undefined) throw new RecorderError(notFound("entry", wanted, { hint }));
  return found;
}
