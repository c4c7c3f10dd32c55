// What belongs to an entry, and therefore goes with it when it is forgotten.
import { completionClaim, idClaim } from "../../model/claims.js";
import { type JsonObject, parseJsonObject } from "../../model/json.js";
import type { EntryLog, StoredBody } from "../port.js";
import type { LogLookups } from "./log-lookups.js";

/** A stretch of the log: what comes after one position, through another. */
export interface Stretch {
  readonly after: number;
  readonly through: number;
}

const BODIES_AT_ONCE = 200;

/**
 * The claims of entries that say the same as this one, or a part of it: the response that completed an interaction. What
 * somebody thought of it has no claim, and is looked for in the log; what shares its session or its project is found by
 * that, and what memories quote of it by forgotten-memories.ts. A kind that carries text of other entries (the span that an
 * entry was made from) is named here.
 */
export function belongingClaims(stored: StoredBody): readonly string[] {
  const body = bodyOf(stored);
  return stored.kind === "interaction" && typeof body?.id === "string" ? [completionClaim(body.id)] : [];
}

/**
 * Positions of the feedback of a stretch on entries that are to go, and of the feedback on that. An index would be quicker,
 * and may lack some. Feedback comes after what it names, so that one look in order finds all of it.
 */
export async function feedbackOn(
  isToGo: (position: number) => boolean,
  { log, calls, stretch }: { readonly log: EntryLog; readonly calls: LogLookups; readonly stretch: Stretch },
): Promise<readonly number[]> {
  const positions = await calls.selectFromLog({ filter: { kinds: ["feedback"] }, ...stretch });
  const found = new Set<number>();
  for (let used = 0; used < positions.length; used += BODIES_AT_ONCE) {
    const stored = await log.getBodies(positions.slice(used, used + BODIES_AT_ONCE));
    const named = stored.flatMap((one) => {
      const id = one === undefined ? undefined : bodyOf(one)?.entry_id;
      return one === undefined || typeof id !== "string" ? [] : [{ position: one.position, id }];
    });
    const places = await log.find(named.map(({ id }) => idClaim(id)));
    for (const [at, { position }] of named.entries()) {
      const place = places[at];
      if (place !== undefined && (isToGo(place) || found.has(place))) found.add(position);
    }
  }
  return [...found];
}

/** A damaged body can be forgotten like any other; what belonged to it nobody knows any more. */
function bodyOf({ body }: StoredBody): JsonObject | undefined {
  return parseJsonObject(body);
}
