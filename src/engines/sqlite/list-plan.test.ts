// Which index SQLite uses for a list: by session, project, client or time, never a scan of all rows.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import type { RowFilter } from "../../index/row-filter.js";
import { Database, type SqlValue } from "./driver.js";
import { SqliteIndex } from "./index.js";
import { rowConditions } from "./index-filter.js";

test.each<[string, RowFilter, string]>([
  ["a session", { session_id: "s" }, "rows_by_session (session_id=?)"],
  ["a project", { project: "p" }, "rows_by_project (project=?)"],
  ["a project from a time on", { project: "p", since_ms: 1 }, "rows_by_project (project=? AND created_ms>?)"],
  ["a client", { client: "c" }, "rows_by_client (client=?)"],
  ["a kind", { kinds: ["interaction"] }, "rows_by_kind (kind=?)"],
  ["times", { since_ms: 1 }, "rows_by_time (created_ms>?)"],
])("the list of %s is walked along its own index, without sorting", async (_, filter, way) => {
  const { conditions, values } = rowConditions(filter);
  const sql = `SELECT position FROM rows WHERE ${conditions.join(" AND ")} ORDER BY created_ms DESC, position DESC LIMIT 50`;
  const plan = await planOf(sql, values);
  expect(plan).toHaveLength(1);
  expect(plan[0]).toMatch(/^SEARCH rows USING (COVERING )?INDEX /);
  expect(plan[0]).toContain(way);
});

async function planOf(sql: string, values: readonly SqlValue[]): Promise<readonly string[]> {
  const path = join(folderOfTest(), "index.db");
  await SqliteIndex.open({ path }).close();
  const database = new Database(path, { read_only: true });
  onTestFinished(() => void database.close());
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map((step) => (step as { readonly detail: string }).detail);
}
