// Faults of processes: killed, stopped and continued, several on one store.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { itemAt } from "../../src/model/item-at.js";
import type { ServingCli } from "../e2e/cli-run.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";

const STOPPED_MS_MAX = 900;

export const processFaults: readonly Fault[] = [
  { name: "kill -9 of a program that uses the library", engines: both, weight: 8, run: killLibrary },
  { name: "kill -9 of a server under load", engines: both, weight: 8, isQuick: true, run: killServer },
  { name: "SIGSTOP and SIGCONT of one of two programs", engines: both, weight: 5, run: stopAndContinue },
  { name: "two programs record the same ids, one is killed", engines: both, weight: 5, run: sameIds },
];

async function killLibrary(fire: FireRun): Promise<void> {
  const data = await fire.store();
  for (let lives = fire.int(2, 3); lives > 0; lives -= 1) {
    const writer = fire.writer({ data });
    // Some are killed while they still open the store.
    if (fire.chance(0.2)) await fire.moment(400);
    else await fire.progress(writer, fire.int(1, 80));
    await fire.moment();
    await writer.kill();
  }
}

async function killServer(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const servers = [await fire.serve(data)];
  if (fire.chance(0.4)) servers.push(await fire.serve(data));
  const callers = fire.callers(() => servers.map(({ address }) => address));
  for (let kills = fire.int(1, 2); kills > 0; kills -= 1) {
    await fire.progress(callers, fire.int(5, 80));
    await fire.moment();
    const at = fire.int(0, servers.length - 1);
    await kill(itemAt(servers, at));
    servers[at] = await fire.serve(data);
  }
  await fire.progress(callers, 5);
  await callers.stop();
  await Promise.all(servers.map(kill));
}

/** The one that is stopped may hold the lock of the store; the other waits, or says that the store is busy. */
async function stopAndContinue(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const [stopped, other] = [fire.writer({ data, goes_on: true }), fire.writer({ data, goes_on: true })];
  await fire.progress(stopped, 1);
  for (let times = fire.int(1, 3); times > 0; times -= 1) {
    await fire.moment();
    stopped.signal("SIGSTOP");
    await pause(fire.int(50, STOPPED_MS_MAX));
    stopped.signal("SIGCONT");
    await fire.progress(stopped, fire.int(1, 20));
  }
  await fire.progress(other, 1);
  await Promise.all([stopped.kill(), other.kill()]);
}

async function sameIds(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const callers = fire.int(1, 8);
  const [doomed, other] = [fire.writer({ data, name: "same", callers }), fire.writer({ data, name: "same", callers })];
  await fire.progress(doomed, fire.int(5, 60));
  await fire.moment();
  await doomed.kill();
  await fire.progress(other, fire.int(20, 60));
  await other.kill();
}

export async function kill(server: ServingCli): Promise<void> {
  if (server.child.exitCode !== null || server.child.signalCode !== null) return;
  server.child.kill("SIGKILL");
  await once(server.child, "exit");
}
