// Lists that tools write down of what the model is given from there on: after a compaction, or when a session is taken up again.
// A list names entries, since each text is recorded once; their order is the one in which the model was given them.
import { rowPages } from "../index/port.js";
import { HAS_LIST } from "../index/references.js";
import { idClaim } from "../model/claims.js";
import { isJsonObject, type JsonValue, parseJsonObject } from "../model/json.js";
import type { ReadingParts } from "../search/lists/reader.js";

export interface GivenList {
  /** Where the list stands: what the model was given besides came after it. */
  readonly position: number;
  /** Where the entries stand that it names. */
  readonly named: readonly number[];
}

const KEYS_AT_ONCE = 500;
/** No session has had more; of one that has, lists are not used. */
const LISTS_MAX = 10_000;
/** No window of a model holds more. */
const NAMED_MAX = 20_000;

/** The newest list of a session between two positions; undefined where there is none, or where one of its entries is missing. */
export async function givenListBefore(
  { index, log }: Pick<ReadingParts, "index" | "log">,
  { session_id, above, before }: { readonly session_id: string; readonly above: number; readonly before: number },
): Promise<GivenList | undefined> {
  const filter = { session_id, kinds: ["raw"], references: [HAS_LIST] };
  let newest = 0;
  let seen = 0;
  for await (const keys of rowPages((place) => index.list({ filter, ...place }), KEYS_AT_ONCE)) {
    for (const { position } of keys) if (position < before) newest = Math.max(newest, position);
    seen += keys.length;
    if (seen > LISTS_MAX) return undefined;
  }
  if (newest <= above) return undefined;
  const [stored] = await log.getBodies([newest]);
  const body = stored === undefined || stored.flaw !== undefined ? undefined : parseJsonObject(stored.body);
  const ids = [...new Set(idsIn(body?.extra))];
  if (ids.length > NAMED_MAX) return undefined;
  const named: number[] = [];
  const positions = await log.find(ids.map(idClaim));
  const parts = await log.find(ids.map((id) => idClaim(`${id}:1`)));
  for (const [at, id] of ids.entries()) {
    const position = positions[at];
    if (position === undefined || position >= newest) return undefined;
    named.push(position, ...(parts[at] === undefined ? [] : await partsOf(log, id, newest)));
  }
  return ids.length === 0 ? undefined : { position: newest, named };
}

/** The rest of a message that was recorded while it was being written. */
async function partsOf(log: ReadingParts["log"], id: string, before: number): Promise<readonly number[]> {
  const parts: number[] = [];
  for (;;) {
    const [position] = await log.find([idClaim(`${id}:${parts.length + 1}`)]);
    if (position === undefined || position >= before) return parts;
    const [stored] = await log.getBodies([position]);
    const { extra } = (stored?.flaw === undefined ? parseJsonObject(stored?.body) : undefined) ?? {};
    if (!isJsonObject(extra) || extra.continues !== id) return parts;
    parts.push(position);
  }
}

function idsIn(extra: JsonValue | undefined): readonly string[] {
  const { given_list: list } = isJsonObject(extra) ? extra : {};
  return Array.isArray(list) ? list.filter((id) => typeof id === "string") : [];
}
