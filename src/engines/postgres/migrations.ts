// Forward-only migrations: all missing steps and the version number are one transaction under one lock.

import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import type { Connections, Session } from "./driver.js";
import { toFault } from "./faults.js";

export type Migration = (session: Session) => Promise<void>;

/** One lock per schema; every version of Hansard takes the same. */
const LOCK_SQL = "SELECT pg_advisory_xact_lock(hashtextextended('hansard migrations ' || current_schema(), 0))";
const VERSIONS_SQL = "CREATE TABLE IF NOT EXISTS hansard_versions (part text PRIMARY KEY, version int NOT NULL)";

export async function migrate(
  connections: Connections,
  plan: { readonly part: string; readonly steps: readonly Migration[] },
): Promise<void> {
  try {
    if ((await versionOf(connections, plan.part)) === plan.steps.length) return;
    await connections.transact(async (session) => {
      await session.query({ text: LOCK_SQL });
      await session.query({ text: VERSIONS_SQL });
      // Another server may have migrated while this one waited for the lock.
      const version = await versionOf(session, plan.part);
      if (version > plan.steps.length) throw writtenByNewer(connections.address, version, plan.steps.length);
      for (const step of plan.steps.slice(version)) await step(session);
      await markVersion(session, plan.part, plan.steps.length);
    });
  } catch (error) {
    throw toFault(error, connections.address);
  }
}

/**
 * Derived tables are not migrated: older ones are dropped and recreated, newer ones left alone, since two versions that
 * replaced each other's index would never have one. Returns the older version that was replaced.
 */
export async function replaceDerived(
  connections: Connections,
  plan: { readonly part: string; readonly version: number; readonly create: (session: Session) => Promise<void> },
): Promise<number | undefined> {
  try {
    if ((await versionOf(connections, plan.part)) === plan.version) return undefined;
    return await connections.transact(async (session) => {
      await session.query({ text: LOCK_SQL });
      await session.query({ text: VERSIONS_SQL });
      const version = await versionOf(session, plan.part);
      if (version === plan.version) return undefined;
      if (version > plan.version) throw writtenByNewer(connections.address, version, plan.version);
      await plan.create(session);
      await markVersion(session, plan.part, plan.version);
      return version === 0 ? undefined : version;
    });
  } catch (error) {
    throw toFault(error, connections.address);
  }
}

/** 0 if there is nothing yet. */
export async function versionOf(session: Session, part: string): Promise<number> {
  const [known] = await session.query<{ readonly name: string | null }>({
    text: "SELECT to_regclass('hansard_versions')::text AS name",
  });
  if (known?.name == null) return 0;
  const text = "SELECT version FROM hansard_versions WHERE part = $1";
  const [row] = await session.query<{ readonly version: number }>({ text }, [part]);
  return row?.version ?? 0;
}

async function markVersion(session: Session, part: string, version: number): Promise<void> {
  const text = `INSERT INTO hansard_versions (part, version) VALUES ($1, $2)
    ON CONFLICT (part) DO UPDATE SET version = excluded.version`;
  await session.query({ text }, [part, version]);
}

export function writtenByNewer(address: string, version: number, known: number): Fault {
  const where = displayLocation(address);
  const message = `${where} was written by a newer version of Hansard (format ${version}; this one knows ${known})`;
  return new Fault("store_newer", message, {
    hint: "Install the newer version of Hansard; the store was not touched.",
  });
}
