// Makes the fixture of the present format, once, before a release: `node dist/test/upgrade/freeze.js`.
//
// Every version of log.db that was ever released stays here as text, and the tests open all of them.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { recorderAt } from "../support/memory-recorder.js";
import { sampleEntries } from "../support/sample-entries.js";
import { repeatableContext } from "../support/write-context.js";
import { frozenAnswers } from "./frozen-answers.js";

const folder = mkdtempSync(join(tmpdir(), "hansard-freeze-"));
try {
  const answers = await fill(folder);
  const { version, sql } = dump(join(folder, "log.db"));
  const stem = join(repositoryRoot, "test", "fixtures", `log-v${version}`);
  if (existsSync(`${stem}.sql`)) throw new Error(`${stem}.sql is there already, and a fixture is never made twice.`);
  writeFileSync(`${stem}.sql`, sql);
  writeFileSync(`${stem}.json`, `${JSON.stringify(answers, undefined, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

async function fill(data: string): Promise<unknown> {
  const recorder = await recorderAt(data, repeatableContext());
  for (const entry of sampleEntries) await recorder.append(entry);
  // One whose id was made for it, since such ids are claimed in another way.
  await recorder.append({ kind: "error", error: "nobody gave this one an id" });
  // Two that share what they hold.
  const messages = [{ role: "user", content: "What was said before is sent again. ".repeat(200) }];
  for (const id of ["shares-1", "shares-2"]) {
    await recorder.append({ kind: "interaction", id, prompt: "And now?", context_pack: { messages } });
    messages.push({ role: "assistant", content: "What was answered is sent again, too. ".repeat(20) });
  }
  const answers = await frozenAnswers(recorder);
  await recorder.close();
  return answers;
}

function dump(path: string): { readonly version: number; readonly sql: string } {
  const db = new Database(path, { read_only: true });
  const version = db.pragma("user_version") as number;
  const lines = [`PRAGMA application_id = ${db.pragma("application_id")};`];
  lines.push(`PRAGMA user_version = ${version};`);
  const schema = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  const objects = schema as readonly { readonly type: string; readonly name: string; readonly sql: string }[];
  for (const { sql } of objects) lines.push(`${sql};`);
  for (const { name } of objects.filter(({ type }) => type === "table")) lines.push(...insertsOf(db, name));
  db.close();
  return { version, sql: `${lines.join("\n")}\n` };
}

function insertsOf(db: Database, table: string): readonly string[] {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as readonly string[];
  const quoted = columns.map((column) => `quote(${column})`).join(" || ', ' || ");
  const rows = db.prepare(`SELECT ${quoted} FROM ${table} ORDER BY ${columns[0]}`).pluck().all() as readonly string[];
  return rows.map((values) => `INSERT INTO ${table} VALUES (${values});`);
}
