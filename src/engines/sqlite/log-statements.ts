// The statements of the log, prepared once.
import type Database from "better-sqlite3";

const COLUMNS = "e.position, e.kind, e.recorded_at, e.commitment, e.hash, b.salt, b.encoding, b.body";
const JOINED = "entries e LEFT JOIN bodies b ON b.position = e.position";

export type LogStatements = {
  readonly [name in
    | "begin"
    | "commit"
    | "readLogId"
    | "writeLogId"
    | "readTip"
    | "readAfter"
    | "readOne"
    | "findClaim"
    | "insertEntry"
    | "insertBody"
    | "insertClaim"]: Database.Statement;
};

export function prepareLog(db: Database.Database): LogStatements {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    readLogId: db.prepare("SELECT value FROM meta WHERE name = 'log_id'"),
    writeLogId: db.prepare("UPDATE meta SET value = ? WHERE name = 'log_id'"),
    readTip: db.prepare("SELECT position, hash FROM entries ORDER BY position DESC LIMIT 1"),
    readAfter: db.prepare(`SELECT ${COLUMNS} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`),
    readOne: db.prepare(`SELECT ${COLUMNS} FROM ${JOINED} WHERE e.position = ?`),
    findClaim: db.prepare("SELECT position FROM claims WHERE claim = ?"),
    insertEntry: db.prepare(
      "INSERT INTO entries (position, kind, recorded_at, commitment, hash) VALUES (?, ?, ?, ?, ?)",
    ),
    insertBody: db.prepare("INSERT INTO bodies (position, salt, encoding, body) VALUES (?, ?, ?, ?)"),
    insertClaim: db.prepare("INSERT INTO claims (claim, position) VALUES (?, ?)"),
  };
}
