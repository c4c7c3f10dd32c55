// The tables of the log, one migration per version of the format (released steps never change), and the triggers that
// protect them.
import { randomBytes, randomUUID } from "node:crypto";
import { IN_PARTS } from "../../log/log-row.js";
import type { Guards } from "../../log/port.js";
import { lastingKinds } from "../../model/body.js";
import { GENESIS_HASH } from "../../model/chain.js";
import { compressQuickly, keepOutOfStatistics } from "./columns.js";
import type { Connections, Session, Statement } from "./driver.js";
import { codeOf } from "./faults.js";
import type { Migration } from "./migrations.js";

/** Positions per partition of bodies; retention drops whole partitions. */
export const PARTITION_POSITIONS = 250_000;

const TABLES = ["entries", "bodies", "claims", "erasures"] as const;

export const logMigrations: readonly Migration[] = [
  async (session) => {
    await session.query({ text: TABLES_SQL });
    await session.query({ text: REFUSE_SQL });
    await session.query({ text: HEAD_RULE_SQL });
    await session.query({ text: ERASED_RULE_SQL });
    for (const table of TABLES) await session.query({ text: tableRuleSql(table) });
    await session.query({ text: "INSERT INTO hansard_head (log_id, position, hash) VALUES ($1, 0, $2)" }, [
      randomUUID(),
      Buffer.from(GENESIS_HASH),
    ]);
    await session.query({ text: createPartition(0, PARTITION_POSITIONS) });
  },
  // The hash covers who recorded an entry and what it claims. Earlier entries have neither, and none of them may follow
  // one that has: an older server must stop writing.
  async (session) => {
    await session.query({
      text: `ALTER TABLE hansard_entries ADD COLUMN recorded_by text COLLATE "C", ADD COLUMN claims_digest bytea`,
    });
    await session.query({ text: FORMAT_RULE_SQL });
    await session.query({ text: LASTING_RULE_SQL });
  },
  // Bodies may refer to shared parts. A server of an older version does not know them and would not erase them: it is
  // stopped when it moves the head.
  async (session) => {
    await session.query({ text: PARTS_SQL });
    await session.query({ text: "UPDATE hansard_head SET parts_position = position, parts_secret = $1" }, [
      randomBytes(SECRET_BYTES),
    ]);
    await session.query({ text: PARTS_RULE_SQL });
  },
];

const SECRET_BYTES = 32;

/**
 * The head has the start of the next part, the position of that value, and the secret for digests. Starts are never
 * reused, so a reader of a body that is being erased never finds other text in its place.
 */
const PARTS_SQL = `
  ALTER TABLE hansard_head ADD COLUMN parts_end bigint NOT NULL DEFAULT 0,
    ADD COLUMN parts_position bigint NOT NULL DEFAULT 0, ADD COLUMN parts_secret bytea;
  CREATE TABLE hansard_parts (
    start bigint PRIMARY KEY,
    -- The list that this one goes on from.
    follows bigint,
    -- How long it is; NULL where its bytes are not compressed.
    whole_bytes int,
    digest uuid NOT NULL,
    bytes bytea NOT NULL
  ) WITH (toast_tuple_target = 8160);
  CREATE UNIQUE INDEX hansard_parts_by_digest ON hansard_parts (digest);
  ${keepOutOfStatistics("hansard_parts", ["digest", "bytes"])}
  ALTER TABLE hansard_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
  -- Of a body in parts: how long it is in whole.
  ALTER TABLE hansard_bodies ADD COLUMN whole_bytes int;
  CREATE INDEX hansard_bodies_in_parts ON hansard_bodies (position) WHERE encoding = ${IN_PARTS};
`;

/**
 * Which bodies use a part is stored in bodies and other parts, which a trigger cannot read: it requires at least a
 * redaction.
 */
const PARTS_RULE_SQL = `
  CREATE FUNCTION hansard_head_of_parts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'the log was opened by a newer version of Hansard: install that here, too' USING ERRCODE = 'restrict_violation';
  END $$;
  CREATE TRIGGER hansard_head_never_older BEFORE UPDATE ON hansard_head
    FOR EACH ROW WHEN (new.parts_position <> new."position") EXECUTE FUNCTION hansard_head_of_parts();
  CREATE FUNCTION hansard_only_released() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT 1 FROM (SELECT kind, xmin FROM hansard_entries ORDER BY position DESC LIMIT 100000) AS latest
      WHERE latest.kind = 'redaction' AND latest.xmin = pg_current_xact_id()::xid) THEN
      RAISE EXCEPTION 'a part is deleted only with a redaction' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER hansard_parts_only_released BEFORE DELETE ON hansard_parts
    FOR EACH STATEMENT EXECUTE FUNCTION hansard_only_released();
  CREATE TRIGGER hansard_parts_never_updated BEFORE UPDATE ON hansard_parts FOR EACH ROW EXECUTE FUNCTION hansard_refuse();
  ${truncationRuleSql("hansard_parts")}
`;

// Names are compared as bytes, which also keeps the trees small and fast.
const TABLES_SQL = `
  CREATE TABLE hansard_head (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    log_id text NOT NULL,
    position bigint NOT NULL,
    hash bytea NOT NULL
  ) WITH (fillfactor = 10);
  CREATE TABLE hansard_entries (
    position bigint PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    recorded_at text COLLATE "C" NOT NULL,
    commitment bytea NOT NULL,
    hash bytea NOT NULL
  );
  -- Salt and body lie apart, so that an erased body leaves the chain intact, and in partitions, so that many go at once.
  CREATE TABLE hansard_bodies (
    position bigint NOT NULL,
    salt bytea NOT NULL,
    encoding smallint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (position)
  ) PARTITION BY RANGE (position);
  ${keepOutOfStatistics("hansard_bodies", ["salt", "body"])}
  CREATE TABLE hansard_claims (claim bytea PRIMARY KEY, position bigint NOT NULL);
  -- Positions whose bodies a redaction entry names; only these may lose their body.
  CREATE TABLE hansard_erasures (position bigint PRIMARY KEY, redaction bigint NOT NULL);
`;

const REFUSE_SQL = `
  CREATE FUNCTION hansard_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
  END $$;
`;

/** The head only moves forward, and only an empty log takes over another id. */
const HEAD_RULE_SQL = `
  CREATE FUNCTION hansard_head_rule() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.position < OLD.position OR (OLD.position > 0 AND NEW.log_id <> OLD.log_id)
      OR (NEW.position = OLD.position AND NEW.hash <> OLD.hash) THEN
      RAISE EXCEPTION 'the head of the log only goes forward' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER hansard_head_forward BEFORE UPDATE ON hansard_head
    FOR EACH ROW EXECUTE FUNCTION hansard_head_rule();
  CREATE TRIGGER hansard_head_stays BEFORE DELETE OR TRUNCATE ON hansard_head
    FOR EACH STATEMENT EXECUTE FUNCTION hansard_refuse();
`;

const ERASED_RULE_SQL = `
  CREATE FUNCTION hansard_only_erased() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT 1 FROM hansard_erasures WHERE position = OLD.position) THEN
      RAISE EXCEPTION 'a body is deleted only when a redaction names it' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  END $$;
`;

const FORMAT_RULE_SQL = `
  CREATE FUNCTION hansard_format_rule() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (SELECT recorded_by FROM hansard_entries ORDER BY position DESC LIMIT 1) IS NOT NULL THEN
      RAISE EXCEPTION 'entries of an older format are not appended any more' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER hansard_entries_never_older BEFORE INSERT ON hansard_entries
    FOR EACH ROW WHEN (new.recorded_by IS NULL) EXECUTE FUNCTION hansard_format_rule();
`;

const LASTING_RULE_SQL = `
  CREATE FUNCTION hansard_lasting_rule() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT 1 FROM hansard_entries WHERE position = NEW.position
      AND kind IN (${lastingKinds.map((kind) => `'${kind}'`).join(", ")})) THEN
      RAISE EXCEPTION 'what the log wrote about itself is not erased' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER hansard_erasures_never_of_lasting BEFORE INSERT ON hansard_erasures
    FOR EACH ROW EXECUTE FUNCTION hansard_lasting_rule();
`;

/** Upserts count as updates, so these triggers stop them too. */
function tableRuleSql(table: (typeof TABLES)[number]): string {
  const name = `hansard_${table}`;
  const remove = table === "bodies" ? "hansard_only_erased" : "hansard_refuse";
  return `
    CREATE TRIGGER ${name}_never_updated BEFORE UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION hansard_refuse();
    CREATE TRIGGER ${name}_never_deleted BEFORE DELETE ON ${name} FOR EACH ROW EXECUTE FUNCTION ${remove}();
    ${truncationRuleSql(name)}
  `;
}

function truncationRuleSql(table: string): string {
  return `CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION hansard_refuse();`;
}

/** All triggers and functions that protect rows, except those of partitions. Written as PostgreSQL prints them. */
const ruleTexts: readonly string[] = [
  ...[REFUSE_SQL, HEAD_RULE_SQL, ERASED_RULE_SQL, FORMAT_RULE_SQL, LASTING_RULE_SQL, PARTS_RULE_SQL],
  ...TABLES.map(tableRuleSql),
];

/** The partition after `from`. It is created alone and then attached, because that does not wait for readers. */
export function createPartition(from: number, positions: number): string {
  const name = `hansard_bodies_${from + 1}`;
  return `
    CREATE TABLE ${name} (LIKE hansard_bodies INCLUDING DEFAULTS);
    ALTER TABLE ${name} ALTER COLUMN salt SET STORAGE PLAIN;
    ${keepOutOfStatistics(name, ["salt", "body"])}
    ${compressQuickly(name, "body")}
    ${truncationRuleSql(name)}
    ALTER TABLE hansard_bodies ATTACH PARTITION ${name} FOR VALUES FROM (${from + 1}) TO (${from + positions + 1});
  `;
}

const PARENT = "hansard_bodies";
const INSUFFICIENT_PRIVILEGE = "42501";

interface TriggerRow {
  readonly name: string;
  readonly table: string;
  /** Its definition, as PostgreSQL prints it. */
  readonly text: string;
  readonly is_on: boolean;
}

interface Found {
  readonly triggers: readonly TriggerRow[];
  readonly functions: readonly { readonly name: string; readonly body: string }[];
  /** Rules and policies; the log has none. */
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

/** Restores missing triggers, and returns their names. Without the privilege, `verify` reports them as missing. */
export async function restoreGuards(connections: Connections): Promise<readonly string[]> {
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

/** PostgreSQL clones row triggers of the parent table for each partition. */
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
