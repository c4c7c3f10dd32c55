// Faults of PostgreSQL: restarted, cut off by the network, and on a disk whose fsync fails.
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { serverOfTest } from "../support/postgres.js";
import { TcpRelay } from "../support/tcp-relay.js";
import type { Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";
import { kill } from "./process-faults.js";
import { FailingCalls, missingFiu } from "./tools.js";

const engines = ["postgres"] as const;
/** The server's fsync fails about once in so many calls; then PostgreSQL stops everything and recovers from its WAL. */
const FSYNC_FAILURE = "enable_random name=posix/io/sync/fdatasync,probability=0.02,failinfo=5";

export const databaseFaults: readonly Fault[] = [
  { name: "PostgreSQL restarted", engines, weight: 6, run: restarted },
  { name: "PostgreSQL cut off by the network", engines, weight: 8, isQuick: true, run: cutOff },
  {
    name: "failing fsync of PostgreSQL itself",
    engines,
    weight: 2,
    missing: missingFiu,
    needsTools: true,
    run: failingFsync,
  },
];

async function restarted(fire: FireRun): Promise<void> {
  const { database } = fire;
  const data = await fire.store();
  const server = await fire.serve(data);
  const callers = fire.callers(() => [server.address]);
  const writer = fire.writer({ data, goes_on: true, callers: fire.int(1, 4) });
  for (let restarts = fire.int(1, 2); restarts > 0; restarts -= 1) {
    await fire.progress(callers, fire.int(5, 40));
    await fire.moment();
    await database?.stop(fire.pick(["immediate", "fast"] as const));
    await pause(fire.int(0, 300));
    await database?.start();
  }
  await fire.progress(callers, 5);
  await fire.progress(writer, 5);
  await callers.stop();
  await writer.kill();
  await kill(server);
}

/** Answers are lost after their commit, connections are cut, refused, or say nothing for a while. */
async function cutOff(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const relay = await TcpRelay.open({ host: "127.0.0.1", port: Number(new URL(data).port) });
  onTestFinished(() => relay.close());
  const server = await fire.serve(relay.through(data));
  const writer = fire.writer({ data: relay.through(data), goes_on: true, callers: fire.int(1, 4) });
  await fire.progress(writer, 1);
  const callers = fire.callers(() => [server.address]);
  for (let cuts = fire.int(2, 5); cuts > 0; cuts -= 1) {
    await fire.progress(callers, fire.int(3, 30));
    const how = fire.pick(["cut", "drop", "drop", "refuse", "stall"] as const);
    if (how === "cut") relay.cut();
    else if (how === "drop") relay.dropAnswers(fire.int(1, 6));
    else {
      relay[how]();
      await pause(fire.int(50, 600));
      relay.restore();
    }
  }
  await fire.progress(writer, 1);
  await fire.progress(callers, 5);
  await callers.stop();
  await writer.kill();
  await kill(server);
}

async function failingFsync(fire: FireRun): Promise<void> {
  const database = await serverOfTest();
  const data = await database.createDatabase("fire");
  fire.storeAt(data);
  const server = await fire.serve(data);
  const callers = fire.callers(() => [server.address]);
  await fire.progress(callers, fire.int(5, 30));
  await database.stop();
  await database.start({ LD_PRELOAD: FailingCalls.preload, FIU_ENABLE: FSYNC_FAILURE });
  await pause(fire.int(500, 2_500));
  // It may have given up.
  await database.stop("immediate").catch(() => undefined);
  await database.start();
  await fire.progress(callers, 5);
  await callers.stop();
  await kill(server);
}
