// How many more matches `kind:raw`, `kind:memory` and the like would find. The work is bounded: of each such kind only the newest
// rows are checked, and few bodies are read.

import { hasTexts } from "../index/derivation.js";
import type { RowKey } from "../index/port.js";
import { type OptInKind, optInKinds } from "../model/kinds.js";
import type { ReadingParts } from "./lists/reader.js";
import { Matcher } from "./matching.js";
import type { SearchQuery } from "./search-query.js";

/** Matches by the `kind:` that finds them; what has none is left out. */
export type Elsewhere = { readonly [N in OptInKind]?: number };

export interface ElsewhereCounts {
  /** On the first page of a search without `kind`, where it has matches in kinds that only `kind:` finds. */
  readonly elsewhere?: Elsewhere;
  /** Not everything was looked at: there may be more matches elsewhere than are counted. */
  readonly elsewhere_at_least?: true;
}

/** Of each kind; what is looked at without being read costs some microseconds. */
const ROWS_MAX = 500;
const READ_MAX = 100;
const READ_BYTES_MAX = 1024 * 1024;

interface Counted {
  readonly count: number;
  readonly isAll: boolean;
}

export async function countElsewhere(
  parts: Pick<ReadingParts, "index" | "log">,
  query: SearchQuery,
): Promise<ElsewhereCounts> {
  const elsewhere: { [N in OptInKind]?: number } = {};
  let isAll = true;
  for (const name of Object.keys(optInKinds) as OptInKind[]) {
    let count = 0;
    for (const kind of optInKinds[name]) {
      const counted = await countKind(parts, kind, query);
      count += counted.count;
      isAll &&= counted.isAll;
    }
    if (count > 0) elsewhere[name] = count;
  }
  return {
    ...(Object.keys(elsewhere).length === 0 ? {} : { elsewhere }),
    ...(isAll ? {} : { elsewhere_at_least: true }),
  };
}

async function countKind(
  { index, log }: Pick<ReadingParts, "index" | "log">,
  kind: string,
  query: SearchQuery,
): Promise<Counted> {
  const { terms, excluded } = query;
  if (terms.length > 0 && !hasTexts(kind)) return { count: 0, isAll: true };
  const { kinds: _, ...filter } = query.filter;
  const { keys, is_all } = await index.newestCandidates({ kind, filter, needles: terms, rows_max: ROWS_MAX });
  // Without words, and where there are no texts that could hold an excluded one, every row is a match.
  if (keys.length === 0 || terms.length + excluded.length === 0 || !hasTexts(kind)) {
    return { count: keys.length, isAll: is_all };
  }
  const read = keys.slice(0, READ_MAX).map(({ position }: RowKey) => position);
  const bodies = await log.getBodies(read, READ_BYTES_MAX);
  const matcher = new Matcher(query);
  const matches = bodies.filter((stored) => stored !== undefined && matcher.match(stored) !== undefined);
  return { count: matches.length, isAll: is_all && bodies.length === keys.length };
}
