// Files that somebody else wrote, in the places where other programs keep theirs: they take no time, no memory and no authority.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { serveCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";

/** A home folder with a database where OpenCode keeps its own. */
function homeWith(script: string): string {
  const home = folderOfTest();
  const folder = join(home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = new Database(join(folder, "opencode.db"));
  database.exec(script);
  database.close();
  return home;
}

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
const nested = Array.from({ length: 60 }, (_, at) => `CREATE VIEW v${at + 1} AS SELECT a.x FROM v${at} a, v${at} b`);

test.each([
  [
    "whose tables are endless views",
    `CREATE VIEW message AS ${ENDLESS} SELECT i AS id, 's' AS session_id, i AS time_created, '{}' AS data FROM n;
     CREATE VIEW part AS ${ENDLESS} SELECT i AS id, 1 AS message_id, '{}' AS data FROM n`,
  ],
  ["whose schema takes for ever to work out", `CREATE TABLE v0(x); ${nested.join(";")}`],
])("a server that watches a database %s answers, and stops when it is told to", async (_, script) => {
  const home = homeWith(script);
  const server = await serveCli({ env: { HOME: home }, data: join(home, "record") }, ["--port", "0", "--watch"]);
  for (let asked = 0; asked < 40; asked += 1) {
    expect(await fetch(`${server.address}/health`)).toMatchObject({ status: 200 });
    await pause(50);
  }
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ status: 0 });
});
