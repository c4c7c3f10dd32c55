// What failed in the index, told apart from what failed in the log: damage here is mended by building it anew.
import { IndexFault } from "../../index/index-holder.js";
import { toFault } from "./file.js";

const HINT = "Nothing is lost, the index is derived: `hansard doctor --rebuild-index` makes it anew.";

export function toIndexFault(error: unknown, path: string): IndexFault {
  if (error instanceof IndexFault) return error;
  const { code, message, hint } = toFault(error, path);
  const isDamage = code === "store_corrupt" || contradictsItself(error);
  if (isDamage) return new IndexFault("store_corrupt", message, { hint: HINT, cause: error });
  return new IndexFault(code, message, { hint, cause: error });
}

/** Tables that are missing, or rows beyond the checkpoint, come from outside: the index itself leaves neither. */
function contradictsItself(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { readonly code?: unknown };
  if (typeof code !== "string") return false;
  return (
    code.startsWith("SQLITE_CONSTRAINT") || (code === "SQLITE_ERROR" && /no such (table|column)/.test(error.message))
  );
}
