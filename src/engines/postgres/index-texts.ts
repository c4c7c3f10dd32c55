// Text search: candidates by trigrams and, where those see nothing, by grams of one or two characters.
import type { CandidateQuery, EntryTexts, NewestCandidates, NewestQuery, RowKey } from "../../index/port.js";
import { timesOfKind } from "../../index/row-filter.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./driver.js";
import { Conditions, rowConditions } from "./index-filter.js";
import { listKeys } from "./list-plan.js";

/** The newest rows are checked first: common needles are found there without the trigram index. */
const PROBE_ROWS = 500;
/** More grams of one needle do not narrow the search further. */
const NEEDLE_GRAMS_MAX = 8;
/** Separates the texts of an entry, and replaces characters that PostgreSQL cannot store. */
const GAP = "\u0001";

/** Entries without a row were erased after their texts were read. */
export const textsStatement = {
  name: "hansard_index_texts",
  text: `INSERT INTO hansard_index_texts (position, texts, grams)
    SELECT position, texts, ARRAY (SELECT json_array_elements_text(grams::json))
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS t (position, texts, grams)
    WHERE EXISTS (SELECT 1 FROM hansard_index_rows r WHERE r.position = t.position)`,
};

export function textRow({ position, texts }: EntryTexts): readonly unknown[] {
  const joined = texts.map((text) => holdable(text)).join(GAP);
  return [position, joined, JSON.stringify([...gramsOf(joined)])];
}

export async function candidates(session: Session, query: CandidateQuery): Promise<readonly RowKey[]> {
  const { limit } = query;
  const pieces = piecesOf(query.needles);
  const keys = await listKeys(session, { ...query, limit: PROBE_ROWS });
  const probe = new Conditions([
    ...columnsOf(
      keys.map(({ created_ms, position }) => [created_ms, position]),
      2,
    ),
  ]);
  const newest = await session.query<RowKey & { readonly holds: boolean }>(
    {
      text: `SELECT p.created_ms, p.position, p.position > c.position OR coalesce(${holds(probe, pieces)}, false) AS holds
        FROM unnest($1::bigint[], $2::bigint[]) AS p (created_ms, position)
        LEFT JOIN hansard_index_texts t ON t.position = p.position
        CROSS JOIN (SELECT position FROM hansard_index_checkpoints WHERE name = 'texts') c
        ORDER BY p.created_ms DESC, p.position DESC`,
    },
    probe.values,
  );
  const held = newest.filter((row) => row.holds).slice(0, limit);
  if (held.length === limit || newest.length < PROBE_ROWS) return held.map(keyOf);
  const where = rowConditions(query);
  const text = `WITH found AS MATERIALIZED (
      SELECT t.position FROM hansard_index_texts t WHERE ${holds(where, pieces)}
    )
    SELECT r.created_ms, r.position FROM found JOIN hansard_index_rows r USING (position) WHERE ${where.sql}
    UNION ALL
    SELECT r.created_ms, r.position FROM hansard_index_rows r
    WHERE r.position > (SELECT position FROM hansard_index_checkpoints WHERE name = 'texts') AND ${where.sql}
    ORDER BY created_ms DESC, position DESC LIMIT ${where.bind(limit)}`;
  return session.query<RowKey>({ text }, where.values);
}

export async function newestCandidates(
  session: Session,
  { kind, filter, needles, rows_max }: NewestQuery,
): Promise<NewestCandidates> {
  const newest = await listKeys(session, { filter: timesOfKind(kind, filter), limit: rows_max + 1 });
  const is_all = newest.length <= rows_max;
  if (newest.length === 0) return { keys: [], is_all };
  const where = rowConditions({ filter: { ...filter, kinds: [kind] } });
  const looked = where.bind(newest.slice(0, rows_max).map(({ position }) => position));
  const text = `SELECT r.created_ms, r.position FROM hansard_index_rows r
    LEFT JOIN hansard_index_texts t ON t.position = r.position
    CROSS JOIN (SELECT position FROM hansard_index_checkpoints WHERE name = 'texts') c
    WHERE r.position = ANY (${looked}::bigint[]) AND ${where.sql}
      AND (r.position > c.position OR coalesce(${holds(where, piecesOf(needles))}, false))
    ORDER BY r.created_ms DESC, r.position DESC`;
  return { keys: await session.query<RowKey>({ text }, where.values), is_all };
}

function piecesOf(needles: readonly string[]): readonly string[] {
  return needles.flatMap((needle) => holdable(needle).split(GAP)).filter((piece) => piece !== "");
}

function keyOf({ created_ms, position }: RowKey): RowKey {
  return { created_ms, position };
}

/** Every part of a needle must occur; grams are added where they narrow the search. */
function holds(where: Conditions, pieces: readonly string[]): string {
  if (pieces.length === 0) return "true";
  const conditions = pieces.map((piece) => `t.texts LIKE ${where.bind(`%${piece.replace(/[\\%_]/g, "\\$&")}%`)}`);
  const grams = pieces.flatMap((piece) => [...gramsOf(piece)].slice(-NEEDLE_GRAMS_MAX));
  if (grams.length > 0) conditions.push(`t.grams @> ${where.bind(grams)}::text[]`);
  return conditions.join(" AND ");
}

/**
 * All non-ASCII characters and the pairs that contain one. Trigrams need three characters, and only letters and digits:
 * without grams, two Chinese characters or an emoji could only be found by reading everything.
 */
function gramsOf(text: string): Set<string> {
  const grams = new Set<string>();
  if (isAscii(text)) return grams;
  let before = "";
  for (const character of text) {
    const isPlain = isAscii(character);
    if (!isPlain) grams.add(character);
    if (before !== "" && !(isPlain && isAscii(before))) grams.add(before + character);
    before = character === GAP ? "" : character;
  }
  for (const gram of grams) if (gram.includes(GAP)) grams.delete(gram);
  return grams;
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** PostgreSQL stores neither NUL nor lone surrogates; a needle is split there, and so finds at least what it should. */
function holdable(text: string): string {
  const whole = text.includes("\0") ? text.replaceAll("\0", GAP) : text;
  return whole.isWellFormed() ? whole : whole.replace(/\p{Surrogate}/gu, GAP);
}
