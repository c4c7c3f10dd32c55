// The statements of the log, prepared once.
import type Database from "better-sqlite3";
import { IN_PARTS } from "../../log/log-row.js";
import { lastingKinds } from "../../model/body.js";
import { ERASED, PURGE_MARK, SECOND_FORMAT_VERSION } from "./log-schema.js";
import { versionOf } from "./migrations.js";

/** Who only reads leaves an older file as it is, and there are no such columns in it. */
function columnsOf(db: Database.Database): { readonly [what in "entry" | "body" | "together"]: string } {
  const isOlder = versionOf(db) < SECOND_FORMAT_VERSION;
  const by = isOlder ? "NULL" : "e.recorded_by";
  const digest = isOlder ? "NULL AS claims_digest" : "e.claims_digest";
  return {
    entry: `e.position, e.kind, e.recorded_at, ${by} AS recorded_by, ${digest}, e.commitment, e.hash, b.salt, b.encoding, b.body`,
    // One buffer with what is hashed, since each takes as long as several texts.
    body: `e.position, e.kind, e.recorded_at, ${by}, lower(hex(e.hash)), b.encoding, iif(b.encoding = ${IN_PARTS}, b.salt, NULL),
      iif(b.encoding = ${IN_PARTS}, b.body, CAST(b.salt || b.body AS BLOB)), length(b.salt), lower(hex(e.commitment))`,
    // The bytes of all in one buffer, and what is known of them in one text.
    together: `CAST(group_concat(CAST(b.salt || b.body AS TEXT), '') AS BLOB), json_group_array(json_array(e.position, e.kind,
      e.recorded_at, ${by}, lower(hex(e.hash)), b.encoding, length(b.salt), length(b.body), lower(hex(e.commitment))))`,
  };
}

/** Walked in the order in which they are given; whole numbers alone, since nothing else is a position. */
const GIVEN = "json_each(?) g CROSS JOIN entries e ON e.position = g.value";
const HAS_BODY = `b.position = e.position AND b.encoding <> ${ERASED}`;
/** What bodies take together; those in parts have to be walked one by one, and are never few enough. */
const GIVEN_BYTES = `(SELECT total(iif(b.encoding = ${IN_PARTS}, 1e18, length(b.body)))
  FROM json_each(?) g CROSS JOIN bodies b ON b.position = g.value)`;
const JOINED = `entries e LEFT JOIN bodies b ON ${HAS_BODY}`;

/**
 * One statement for the rows that make an entry: alone it is a transaction of its own, and it is bound and stepped once
 * instead of three times, which is a tenth of what a lone commit takes. It belongs to the connection, not to the file.
 */
const ARRIVALS = `
  CREATE TEMP VIEW arrivals AS
    SELECT position, kind, recorded_at, recorded_by, claims_digest, commitment, hash, NULL AS salt,
      NULL AS encoding, NULL AS body, NULL AS claim
    FROM entries;
  CREATE TEMP TRIGGER arrivals_taken INSTEAD OF INSERT ON arrivals BEGIN
    INSERT INTO entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash) VALUES
      (NEW.position, NEW.kind, NEW.recorded_at, NEW.recorded_by, NEW.claims_digest, NEW.commitment, NEW.hash);
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
    | "getTogether"
    | "findClaim"
    | "redactionsAfter"
    | "insertBody"
    | "insertClaim"
    | "isErasable"
    | "insertErasure"
    | "markForPurge"]: Database.Statement;
};

/** Only who writes needs it, and a reading connection may not even make it. */
export function prepareArrival(db: Database.Database): Database.Statement {
  db.exec(ARRIVALS);
  return db.prepare("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

/** Entries of a copy, with bodies and claims apart; as with arrivals, an older file that is only read has no place for them. */
export function prepareCopied(db: Database.Database): Database.Statement {
  return db.prepare(`INSERT INTO entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
}

export function prepareLog(db: Database.Database): LogStatements {
  const columns = columnsOf(db);
  const lasting = lastingKinds.map((kind) => `'${kind}'`).join(", ");
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    readLogId: db.prepare("SELECT value FROM meta WHERE name = 'log_id'"),
    writeLogId: db.prepare("UPDATE meta SET value = ? WHERE name = 'log_id'"),
    readTip: db.prepare("SELECT position, hash FROM entries ORDER BY position DESC LIMIT 1"),
    readAfter: db.prepare(`SELECT ${columns.entry} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`),
    readBodiesAfter: db
      .prepare(`SELECT ${columns.body} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`)
      .raw(),
    get: db.prepare(`SELECT ${columns.entry} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`),
    getBodies: db.prepare(`SELECT ${columns.body} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`).raw(),
    getTogether: db
      .prepare(`SELECT ${columns.together} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY} WHERE ${GIVEN_BYTES} < ?`)
      .raw(),
    findClaim: db.prepare("SELECT position FROM claims WHERE claim = ?"),
    // One statement, so that nothing is appended in between.
    redactionsAfter: db.prepare(`SELECT (SELECT coalesce(max(position), 0) FROM entries) AS through,
      (SELECT json_group_array(position) FROM entries WHERE position > ? AND kind = 'redaction') AS positions`),
    insertBody: db.prepare("INSERT INTO bodies (position, salt, encoding, body) VALUES (?, ?, ?, ?)"),
    insertClaim: db.prepare("INSERT INTO claims (claim, position) VALUES (?, ?)"),
    isErasable: db.prepare(`SELECT 1 FROM entries WHERE position = ? AND kind NOT IN (${lasting})`),
    insertErasure: db.prepare(`INSERT INTO erasures (position, redaction) SELECT :position, :redaction
      WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE position = :position)`),
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
    UNION ALL SELECT min(position) FROM erasures WHERE position < 1
    UNION ALL SELECT min(position) FROM erasures WHERE position > (SELECT position FROM head)
    UNION ALL SELECT min(position) FROM erasures JOIN bodies USING (position) WHERE encoding = ${ERASED}
      AND (salt <> zeroblob(length(salt)) OR body <> zeroblob(length(body)))
  ) WHERE position IS NOT NULL ORDER BY position LIMIT 1`;

export const keptClaims = "SELECT claim, position FROM claims WHERE position > ? AND position <= ?";

export const erasuresAfter = "SELECT position, redaction FROM erasures WHERE position > ? ORDER BY position LIMIT ?";
