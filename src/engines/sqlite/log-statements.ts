// The statements of the log, prepared once.
import type Database from "better-sqlite3";
import { ERASED, PURGE_MARK } from "./log-schema.js";

const COLUMNS = "e.position, e.kind, e.recorded_at, e.commitment, e.hash, b.salt, b.encoding, b.body";
/** The body's bytes are UTF-8, and SQLite makes strings of bytes faster than a buffer is copied and decoded. */
const BODY_COLUMNS = "e.position, e.kind, e.recorded_at, lower(hex(e.hash)), b.encoding, CAST(b.body AS TEXT)";
/** Walked in the order in which they are given; whole numbers alone, since nothing else is a position. */
const GIVEN = "json_each(?) g CROSS JOIN entries e ON e.position = g.value";
const HAS_BODY = `b.position = e.position AND b.encoding <> ${ERASED}`;
const JOINED = `entries e LEFT JOIN bodies b ON ${HAS_BODY}`;

/**
 * One statement for the rows that make an entry: alone it is a transaction of its own, and it is bound and stepped once
 * instead of three times, which is a tenth of what a lone commit takes. It belongs to the connection, not to the file.
 */
const ARRIVALS = `
  CREATE TEMP VIEW arrivals AS
    SELECT position, kind, recorded_at, commitment, hash, NULL AS salt, NULL AS encoding, NULL AS body, NULL AS claim
    FROM entries;
  CREATE TEMP TRIGGER arrivals_taken INSTEAD OF INSERT ON arrivals BEGIN
    INSERT INTO entries (position, kind, recorded_at, commitment, hash)
      VALUES (NEW.position, NEW.kind, NEW.recorded_at, NEW.commitment, NEW.hash);
    INSERT INTO bodies (position, salt, encoding, body) VALUES (NEW.position, NEW.salt, NEW.encoding, NEW.body);
    INSERT INTO claims (claim, position) VALUES (NEW.claim, NEW.position);
  END;
`;

export type LogStatements = {
  readonly [name in
    | "begin"
    | "commit"
    | "readLogId"
    | "writeLogId"
    | "readTip"
    | "readAfter"
    | "get"
    | "readBodiesAfter"
    | "getBodies"
    | "findClaim"
    | "redactionsAfter"
    | "insertEntry"
    | "insertBody"
    | "insertClaim"
    | "isErasable"
    | "insertErasure"
    | "blankBody"
    | "markForPurge"]: Database.Statement;
};

/** Only who writes needs it, and a reading connection may not even make it. */
export function prepareArrival(db: Database.Database): Database.Statement {
  db.exec(ARRIVALS);
  return db.prepare("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

export function prepareLog(db: Database.Database): LogStatements {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    readLogId: db.prepare("SELECT value FROM meta WHERE name = 'log_id'"),
    writeLogId: db.prepare("UPDATE meta SET value = ? WHERE name = 'log_id'"),
    readTip: db.prepare("SELECT position, hash FROM entries ORDER BY position DESC LIMIT 1"),
    readAfter: db.prepare(`SELECT ${COLUMNS} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`),
    readBodiesAfter: db
      .prepare(`SELECT ${BODY_COLUMNS} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`)
      .raw(),
    get: db.prepare(`SELECT ${COLUMNS} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`),
    getBodies: db.prepare(`SELECT ${BODY_COLUMNS} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`).raw(),
    findClaim: db.prepare("SELECT position FROM claims WHERE claim = ?"),
    // One statement, so that nothing is appended in between.
    redactionsAfter: db.prepare(`SELECT (SELECT coalesce(max(position), 0) FROM entries) AS through,
      (SELECT json_group_array(position) FROM entries WHERE position > ? AND kind = 'redaction') AS positions`),
    insertEntry: db.prepare(
      "INSERT INTO entries (position, kind, recorded_at, commitment, hash) VALUES (?, ?, ?, ?, ?)",
    ),
    insertBody: db.prepare("INSERT INTO bodies (position, salt, encoding, body) VALUES (?, ?, ?, ?)"),
    insertClaim: db.prepare("INSERT INTO claims (claim, position) VALUES (?, ?)"),
    isErasable: db.prepare("SELECT 1 FROM entries WHERE position = ? AND kind <> 'redaction'"),
    insertErasure: db.prepare(`INSERT INTO erasures (position, redaction) SELECT :position, :redaction
      WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE position = :position)`),
    blankBody: db.prepare(`UPDATE bodies SET salt = zeroblob(length(salt)), encoding = ${ERASED},
      body = zeroblob(length(body)) WHERE position = ? AND encoding <> ${ERASED}`),
    markForPurge: db.prepare(`INSERT OR IGNORE INTO meta (name, value) VALUES ('${PURGE_MARK}', '1')`),
  };
}

/** One statement, so that what others append meanwhile is seen whole or not at all. */
export const findStray = `
  WITH head AS (SELECT coalesce(max(position), 0) AS position FROM entries)
  SELECT position, 'something lies here that was never recorded' AS reason FROM (
    SELECT min(position) AS position FROM entries WHERE position < 1
    UNION ALL SELECT min(position) FROM bodies WHERE position < 1
    UNION ALL SELECT min(position) FROM bodies WHERE position > (SELECT position FROM head)
    UNION ALL SELECT min(position) FROM claims WHERE position < 1 OR position > (SELECT position FROM head)
  ) WHERE position IS NOT NULL ORDER BY position LIMIT 1`;

export const keptClaims = `
  SELECT claim, position FROM claims AS c WHERE position > ? AND position <= ?
    AND NOT EXISTS (SELECT 1 FROM bodies WHERE position = c.position AND encoding <> ${ERASED})`;
