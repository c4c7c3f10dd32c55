// The runs of one engine, as tests: how many, from which seeds, and what came of them.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Findings, nothingFound } from "../crash/audit.js";
import { fuzzSeed } from "../support/fuzz.js";
import type { PostgresServer } from "../support/postgres-server.js";
import { clientFaults } from "./client-faults.js";
import { clockAndIndexFaults } from "./clock-and-index-faults.js";
import { databaseFaults } from "./database-faults.js";
import { diskFaults } from "./disk-faults.js";
import type { Fault } from "./fault.js";
import { type Engine, FireRun, type NewStore } from "./fire-run.js";
import { fileFaults } from "./hostile-files.js";
import { settingsFaults } from "./hostile-settings.js";
import { processFaults } from "./process-faults.js";
import { spoolFaults } from "./spool-faults.js";
import { watcherFaults } from "./watcher-faults.js";

export const faults: readonly Fault[] = [
  ...processFaults,
  ...diskFaults,
  ...clockAndIndexFaults,
  ...databaseFaults,
  ...spoolFaults,
  ...clientFaults,
  ...watcherFaults,
  ...settingsFaults,
  ...fileFaults,
];

export interface FireResult {
  readonly fault: string;
  /** The fault's place in the table. */
  readonly nth: number;
  readonly engine: Engine;
  /** Undefined for a fault that this machine cannot inject. */
  readonly run?: number;
  readonly not_run?: string;
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly reordered: number;
  readonly changed: number;
  readonly failure?: string;
}

/** `npm run fire` says how many runs there are of all faults and engines; without it there are few, or few of each. */
const total = Number(process.env.HANSARD_FIRE_RUNS || 0);
const isMedium = process.env.HANSARD_FIRE_SIZE === "medium";
const SHOWN = 10;
const weights = faults.reduce((sum, { weight, engines }) => sum + weight * engines.length, 0);

/** `npm run fire` shares its runs among processes. */
const [part = 0, parts = 1] = (process.env.HANSARD_FIRE_PART ?? "0/1").split("/").map(Number);

/** With `npm run fire` everything; otherwise what needs nothing that has to be installed. */
function runsOf({ weight, isQuick = false, needsTools = false }: Fault): number {
  if (total > 0) return Math.ceil((total * weight) / weights);
  if (needsTools) return 0;
  return isMedium || isQuick ? 1 : 0;
}

export function defineFireTests(
  engine: Engine,
  options: { readonly newStore: NewStore; readonly database?: () => PostgresServer },
): void {
  let nth = 0;
  const none = { acknowledged: 0, lost: 0, doubled: 0, reordered: 0, changed: 0 };
  for (const fault of faults.filter(({ engines }) => engines.includes(engine))) {
    const { name } = fault;
    const count = runsOf(fault);
    const not_run = count === 0 ? undefined : fault.missing?.();
    if (not_run !== undefined && part === 0)
      write({ fault: name, nth: faults.indexOf(fault), engine, not_run, ...none });
    for (let run = 1; run <= (not_run === undefined ? count : 0); run += 1) {
      nth += 1;
      if (nth % parts !== part) continue;
      test(`${name}, ${engine}, run ${run} of seed ${fuzzSeed}`, () => runOnce(fault, run));
    }
  }

  async function runOnce(fault: Fault, run: number): Promise<void> {
    const seed = seedOf(`${fuzzSeed} ${fault.name} ${engine} ${run}`);
    const fire = new FireRun({ engine, seed, newStore: options.newStore, database: options.database?.() });
    let failure: string | undefined;
    let findings: Findings | undefined;
    try {
      await fault.run(fire);
      findings = await fire.compare();
      const { entries: _, ...found } = findings;
      const first = Object.entries(found).map(([what, ids]) => [what, ids.slice(0, SHOWN)]);
      expect(Object.fromEntries(first)).toEqual(nothingFound);
    } catch (error) {
      failure = String(error).slice(0, 2_000);
      throw error;
    } finally {
      const about = { fault: fault.name, nth: faults.indexOf(fault), engine, run };
      write({ ...about, ...summary(fire, findings), ...(failure && { failure }) });
    }
  }
}

function summary(fire: FireRun, findings: Findings | undefined): Omit<FireResult, "fault" | "nth" | "engine"> {
  const { lost = [], doubled = [], reordered = [], changed = [], halves = [], unexpected = [] } = findings ?? {};
  return {
    acknowledged: fire.acknowledgedCount,
    lost: lost.length,
    doubled: doubled.length,
    reordered: reordered.length,
    changed: changed.length + halves.length + unexpected.length,
  };
}

/** At once, so a run that is stopped has what it did. */
function write(result: FireResult): void {
  const folder = process.env.HANSARD_FIRE_RESULTS;
  if (folder !== undefined)
    appendFileSync(join(folder, `${result.engine}-${part}.ndjson`), `${JSON.stringify(result)}\n`);
}

function seedOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32LE(0);
}
