// What protects the log's rows: triggers and the functions that they call, as the schema's own texts define them.
import type { Guards } from "../../log/port.js";
import type { Connections, Session, Statement } from "./connection.js";
import { codeOf } from "./faults.js";
import { ruleTexts, truncationRuleSql } from "./log-schema.js";

const PARENT = "hansard_bodies";
const INSUFFICIENT_PRIVILEGE = "42501";

interface TriggerRow {
  readonly name: string;
  readonly table: string;
  /** The statement that would make it, as PostgreSQL prints it. */
  readonly text: string;
  readonly is_on: boolean;
}

interface Found {
  readonly triggers: readonly TriggerRow[];
  readonly functions: readonly { readonly name: string; readonly body: string }[];
  /** Rules and policies, of which the log has none. */
  readonly others: readonly string[];
  readonly partitions: readonly string[];
}

export async function inspectGuards(session: Session): Promise<Guards> {
  const found = await readGuards(session);
  const textByName = expectedTriggers(found.partitions);
  const bodyByName = new Map(ruleTexts.flatMap(functionsIn));
  const clones = clonedTexts(found.partitions);
  const isOurs = ({ name, text }: TriggerRow): boolean => textByName.get(name) === text || clones.has(text);
  const working = new Set(found.triggers.filter((row) => row.is_on).map(({ name, table }) => `${table} ${name}`));
  const missing = [...textByName].flatMap(([name, text]) => (working.has(`${tableOf(text)} ${name}`) ? [] : [name]));
  const off = found.triggers.flatMap((row) => (row.is_on || textByName.has(row.name) ? [] : [row.name]));
  return {
    missing: [...new Set([...missing, ...off])],
    foreign: [
      ...found.triggers.flatMap((row) => (isOurs(row) ? [] : [row.name])),
      ...found.functions.flatMap(({ name, body }) => (bodyByName.get(name) === oneLine(body) ? [] : [name])),
      ...found.others,
    ],
  };
}

/** Makes what is missing again, and answers with the names. Who may not is told by `verify` that it is missing. */
export async function putBackGuards(connections: Connections): Promise<readonly string[]> {
  const { missing } = await inspectGuards(connections);
  if (missing.length === 0) return [];
  try {
    await connections.transact(async (session) => {
      const { triggers, partitions } = await readGuards(session);
      const textByName = expectedTriggers(partitions);
      for (const { name, table, is_on } of triggers) {
        if (!is_on)
          await session.query({ text: `ALTER TABLE ${table} ENABLE TRIGGER "${name.replaceAll('"', '""')}"` });
      }
      const there = new Set(triggers.map(({ name }) => name));
      for (const [name, text] of textByName) if (!there.has(name)) await session.query({ text });
    });
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
  }
  return missing;
}

async function readGuards(session: Session): Promise<Found> {
  const partitions = await session.query<{ readonly name: string }>(PARTITIONS);
  const names = partitions.map(({ name }) => name);
  const tables = [[...LOG_TABLES, ...names]];
  const triggers = await session.query<TriggerRow>(TRIGGERS, tables);
  const functions = await session.query<{ readonly name: string; readonly body: string }>(FUNCTIONS, [
    [...new Map(ruleTexts.flatMap(functionsIn)).keys()],
  ]);
  const others = await session.query<{ readonly name: string }>(OTHERS, tables);
  return {
    partitions: names,
    triggers: triggers.map((row) => ({ ...row, text: oneLine(row.text) })),
    functions,
    others: others.map(({ name }) => name),
  };
}

const LOG_TABLES = [
  ...["hansard_head", "hansard_entries", "hansard_bodies", "hansard_parts", "hansard_claims", "hansard_erasures"],
];

const PARTITIONS: Statement = {
  text: `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = '${PARENT}'::regclass`,
};

const TRIGGERS: Statement = {
  text: `SELECT t.tgname AS name, c.relname AS table, pg_get_triggerdef(t.oid, true) AS text, t.tgenabled = 'O' AS is_on
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])`,
};

const FUNCTIONS: Statement = {
  text: `SELECT proname AS name, prosrc AS body FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND proname = ANY ($1::text[])`,
};

const OTHERS: Statement = {
  text: `
    SELECT rulename AS name FROM pg_rules WHERE schemaname = current_schema() AND tablename = ANY ($1::text[])
    UNION ALL
    SELECT 'row security of ' || relname FROM pg_class WHERE relrowsecurity
      AND relnamespace = current_schema()::regnamespace AND relname = ANY ($1::text[])`,
};

function expectedTriggers(partitions: readonly string[]): ReadonlyMap<string, string> {
  return new Map([...ruleTexts, ...partitions.map(truncationRuleSql)].flatMap(triggersIn));
}

/** A trigger for rows of the table of bodies is one of each of its partitions too. */
function clonedTexts(partitions: readonly string[]): ReadonlySet<string> {
  const ofRows = [...expectedTriggers([])].map(([, text]) => text).filter((text) => text.includes("FOR EACH ROW"));
  return new Set(partitions.flatMap((table) => ofRows.map((text) => text.replace(` ON ${PARENT} `, ` ON ${table} `))));
}

function triggersIn(text: string): readonly (readonly [name: string, text: string])[] {
  return [...text.matchAll(/CREATE TRIGGER (\w+) [^;]*/g)].map(([made, name]) => [name as string, oneLine(made)]);
}

function functionsIn(text: string): readonly (readonly [name: string, body: string])[] {
  return [...text.matchAll(/CREATE FUNCTION (\w+)\(\).*?\$\$(.*?)\$\$/gs)].map(([, name, body]) => [
    name as string,
    oneLine(body as string),
  ]);
}

function tableOf(trigger: string): string {
  return / ON (\w+) /.exec(trigger)?.[1] ?? "";
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
