// What belongs to an entry, and therefore goes with it when it is forgotten.
import { completionClaim } from "../model/claims.js";
import type { JsonObject } from "../model/json.js";

/**
 * The claims of entries that say the same as this one, or a part of it: the response that completed an interaction. What
 * somebody thought of it has no claim, and is found by its id; what shares its session or its project by that. A kind that carries text of other entries (a memory with its quotes,
 * the span that an entry was made from) is named here.
 */
export function belongingClaims(kind: string, body: JsonObject): readonly string[] {
  return kind === "interaction" && typeof body.id === "string" ? [completionClaim(body.id)] : [];
}
