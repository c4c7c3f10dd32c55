// A clock that jumps, and an index that is lost, exchanged or damaged while programs use the store.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { indexLosses } from "../crash/index-losses.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";
import { kill } from "./process-faults.js";
import { JumpingClock, missingFaketime } from "./tools.js";

export const clockAndIndexFaults: readonly Fault[] = [
  { name: "clock that jumps", engines: both, weight: 5, missing: missingFaketime, needsTools: true, run: clockJumps },
  { name: "index deleted, exchanged or damaged", engines: both, weight: 7, isQuick: true, run: indexLost },
];

const JUMPS = ["-400d", "+10y", "-1h", "+1h", "+70y", "-30y", "-1s", "+0", "+1d"];

async function clockJumps(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const clock = new JumpingClock(fire.folder);
  if (fire.chance(0.5)) clock.jump(fire.pick(JUMPS));
  const server = await fire.serve(data, clock.env);
  const callers = fire.callers(() => [server.address]);
  for (let jumps = fire.int(2, 5); jumps > 0; jumps -= 1) {
    await fire.progress(callers, fire.int(5, 30));
    clock.jump(fire.pick(JUMPS));
  }
  await fire.progress(callers, 20);
  await callers.stop();
  server.child.kill("SIGTERM");
  await server.ended;
}

async function indexLost(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const server = await fire.serve(data);
  const callers = fire.callers(() => [server.address]);
  const writer = fire.writer({ data, goes_on: true, callers: fire.int(1, 4) });
  await fire.progress(callers, fire.int(5, 50));
  for (let losses = fire.int(1, 3); losses > 0; losses -= 1) {
    await loseIndex(fire, data);
    await fetch(`${server.address}/search?q=said`).then((answer) => answer.text());
    await fire.progress(callers, fire.int(1, 30));
    await pause(fire.int(0, 200));
  }
  await fire.progress(writer, 1);
  await callers.stop();
  await writer.kill();
  await kill(server);
}

async function loseIndex(fire: FireRun, data: string): Promise<void> {
  const { database } = fire;
  if (database !== undefined) {
    const name = new URL(data).pathname.slice(1);
    const sql = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'hansard_index_%'";
    const tables = (await database.execute(sql, name)).map(({ tablename }) => String(tablename));
    // Somebody restores a dump that has no index.
    if (tables.length > 0) await database.execute(`TRUNCATE ${tables.join(", ")}`, name);
    return;
  }
  try {
    indexLosses[fire.pick(Object.keys(indexLosses))]?.(join(data, "index.db"));
  } catch {
    // A program has just replaced it.
  }
}
