// Takes away what rows say that are erased, and what others say about them, down to the names of what nobody refers to.
import { bearsNumber } from "./index-uses.js";
import type { Statements } from "./statements.js";

/** Called before the rows are deleted; answers with the numbers that may be nobody's then. */
export function eraseUses(sql: Statements, positions: readonly number[]): readonly number[] {
  const given = JSON.stringify(positions);
  const touched = sql.all<{ readonly number: number }>(TOUCHED, given, given).map(({ number }) => number);
  if (touched.length === 0) return [];
  sql.run(DELETE_SAID_BY_ENTRIES, given);
  sql.run(DELETE_SAID_ABOUT_ENTRIES, given);
  const others = sql.all<{ readonly number: number; readonly about: number }>(SAID_ABOUT_OTHERS, given);
  for (const { number, about } of others) {
    sql.run(`UPDATE uses SET sayers = sayers - 1 WHERE name = ? AND ${IS_ENTRY}`, number, about, about);
    sql.run(`DELETE FROM uses WHERE name = ? AND ${IS_ENTRY} AND sayers = 0`, number, about, about);
  }
  sql.run("UPDATE rows SET refs = NULL WHERE about IN (SELECT value FROM json_each(?))", given);
  return touched;
}

/** Called once the rows are deleted. A reference is recorded text, and goes with the last that names it. */
export function eraseNames(sql: Statements, numbers: readonly number[]): void {
  for (const number of numbers) {
    if (sql.get("SELECT 1 FROM uses WHERE name = ? LIMIT 1", number) !== undefined) continue;
    const { sql: bears, values } = bearsNumber(number);
    const borne = `SELECT 1 FROM use_spans CROSS JOIN rows NOT INDEXED ON rows.position BETWEEN oldest AND newest
      WHERE name = ? AND ${bears} LIMIT 1`;
    if (sql.get(borne, number, ...values) !== undefined) continue;
    sql.run("DELETE FROM use_spans WHERE name = ?", number);
    sql.run("DELETE FROM reference_names WHERE number = ?", number);
  }
}

const IS_ENTRY = "entry_ms = (SELECT created_ms FROM rows WHERE position = ?) AND entry = ?";
const GONE = "json_each(?) AS gone CROSS JOIN rows";
/** The numbers that a row bears, one by one. */
const SAID = "json_each('[' || trim(rows.refs, ',') || ']') AS said";

const TOUCHED = `
  SELECT said.value AS number FROM ${GONE} ON rows.position = gone.value, ${SAID}
  UNION
  SELECT said.value FROM ${GONE} ON rows.about = gone.value, ${SAID}`;

/** Without the cast, SQLite would look through all uses. */
const DELETE_SAID_BY_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), rows.created_ms, rows.position
  FROM ${GONE} ON rows.position = gone.value, ${SAID})`;

const DELETE_SAID_ABOUT_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), target.created_ms, target.position
  FROM ${GONE} ON rows.about = gone.value CROSS JOIN rows AS target ON target.position = rows.about, ${SAID})`;

const SAID_ABOUT_OTHERS = `SELECT said.value AS number, rows.about AS about
  FROM ${GONE} ON rows.position = gone.value, ${SAID} WHERE rows.about IS NOT NULL`;
