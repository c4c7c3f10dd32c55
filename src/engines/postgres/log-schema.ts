// The tables of the log, one step per version of the format. Steps are never changed once released, only added.
import { randomBytes, randomUUID } from "node:crypto";
import { IN_PARTS } from "../../log/log-row.js";
import { lastingKinds } from "../../model/body.js";
import { GENESIS_HASH } from "../../model/chain.js";
import { compressQuickly, keepOutOfStatistics } from "./columns.js";
import type { Migration } from "./migrations.js";

/** How many positions one partition of bodies holds; retention drops whole partitions. */
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
  // The hash covers who brought an entry and what it claims. Entries of before have neither; none of them may follow one that
  // has, so that a server of an older version stops instead of writing on.
  async (session) => {
    await session.query({
      text: `ALTER TABLE hansard_entries ADD COLUMN recorded_by text COLLATE "C", ADD COLUMN claims_digest bytea`,
    });
    await session.query({ text: FORMAT_RULE_SQL });
    await session.query({ text: LASTING_RULE_SQL });
  },
  // A body may refer to parts that it shares with others. A server of an older version knows nothing of them and would leave what is
  // forgotten among them: it is told to stop as soon as it wants to move the head.
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
 * The head says where the next part begins, as of which position, and what digests of parts are made with. No start is given out
 * twice, so that who reads a body while it is erased never finds another's text in the place of its own.
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

/** Who holds a part is written in bodies and in other parts, which a trigger cannot read: it asks for a redaction at least. */
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

// Names are compared as bytes, not by the rules of a language, which also keeps the trees small and fast.
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

/** The head only ever goes forward, and an id is taken over only by an empty log. */
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

/** Upserts are updates to PostgreSQL, so that these triggers stop them too. */
function tableRuleSql(table: (typeof TABLES)[number]): string {
  const name = `hansard_${table}`;
  const remove = table === "bodies" ? "hansard_only_erased" : "hansard_refuse";
  return `
    CREATE TRIGGER ${name}_never_updated BEFORE UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION hansard_refuse();
    CREATE TRIGGER ${name}_never_deleted BEFORE DELETE ON ${name} FOR EACH ROW EXECUTE FUNCTION ${remove}();
    ${truncationRuleSql(name)}
  `;
}

export function truncationRuleSql(table: string): string {
  return `CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION hansard_refuse();`;
}

/** All that keeps rows as they are, but for the rule of each partition. Written as PostgreSQL itself would print it. */
export const ruleTexts: readonly string[] = [
  ...[REFUSE_SQL, HEAD_RULE_SQL, ERASED_RULE_SQL, FORMAT_RULE_SQL, LASTING_RULE_SQL, PARTS_RULE_SQL],
  ...TABLES.map(tableRuleSql),
];

/**
 * The partition after `from` positions. It is made alone and attached then, because that does not wait for who reads, as
 * creating it in place would. The name says where it begins.
 */
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
