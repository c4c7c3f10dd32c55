// Faults of the client SDK's spool: shared by processes, left by killed ones, removed, and linked to other places.
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Writer } from "../crash/programs.js";
import { readJson, type ServingCli } from "../e2e/cli-run.js";
import { spoolFiles } from "../e2e/connected-client.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";
import { kill } from "./process-faults.js";
import { missingMount } from "./tools.js";

/** Of another container: the numbers of its processes mean nothing here. */
const ELSEWHERE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

export const spoolFaults: readonly Fault[] = [
  { name: "spool shared by two agents, one killed", engines: both, weight: 5, run: shared },
  { name: "spool shared by two containers", engines: both, weight: 4, missing: missingMount, run: sharedByContainers },
  { name: "spool linked elsewhere, and removed", engines: both, weight: 5, run: linked },
];

/** A server that goes and comes back on the same port. */
class Server {
  readonly #fire: FireRun;
  #serving: ServingCli | undefined;
  address = "";

  constructor(fire: FireRun) {
    this.#fire = fire;
  }

  async start(): Promise<void> {
    const port = this.address === "" ? 0 : Number(new URL(this.address).port);
    this.#serving = await this.#fire.serve(await this.#fire.store(), {}, port);
    this.address = this.#serving.address;
  }

  async kill(): Promise<void> {
    if (this.#serving !== undefined) await kill(this.#serving);
    this.#serving = undefined;
  }
}

async function shared(fire: FireRun): Promise<void> {
  await withAgents(fire, { spool: join(fire.folder, "spool"), through: [] });
}

async function sharedByContainers(fire: FireRun): Promise<void> {
  await withAgents(fire, { spool: join(fire.folder, "spool"), through: ELSEWHERE });
}

async function withAgents(
  fire: FireRun,
  { spool, through }: { readonly spool: string; readonly through: readonly string[] },
): Promise<void> {
  const server = new Server(fire);
  await server.start();
  const client = { url: server.address, spool };
  let agents = [fire.agent(client), fire.agent(client, { through })];
  for (let kills = fire.int(1, 3); kills > 0; kills -= 1) {
    const isAway = fire.chance(0.6);
    if (isAway) await server.kill();
    for (const agent of agents) await fire.progress(agent, fire.int(1, 30));
    await pause(fire.int(0, 150));
    const [doomed, ...others] = fire.chance(0.5) ? agents : agents.toReversed();
    await doomed?.kill();
    agents = [...others, fire.agent(client)];
    if (isAway) await server.start();
  }
  await finish(fire, { server, agents, spool });
}

async function linked(fire: FireRun): Promise<void> {
  const [spool, elsewhere, backup] = ["spool", "elsewhere", "backup"].map((name) => join(fire.folder, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [elsewhere, backup]) mkdirSync(folder);
  if (fire.chance(0.5)) symlinkSync(elsewhere, spool);
  const server = new Server(fire);
  await server.start();
  const agent = fire.agent({ url: server.address, spool });
  await fire.progress(agent, fire.int(1, 30));
  await server.kill();
  for (let times = fire.int(1, 3); times > 0; times -= 1) {
    await fire.progress(agent, fire.int(1, 30));
    meddle(fire, { spool, backup: join(backup, String(times)), elsewhere: join(fire.folder, `moved-${times}`) });
  }
  await fire.progress(agent, fire.int(1, 30));
  await server.start();
  await finish(fire, { server, agents: [agent], spool });
}

/** A backup with hard links and then a removal, or a folder that is moved and linked from where it was. */
function meddle(
  fire: FireRun,
  to: { readonly spool: string; readonly backup: string; readonly elsewhere: string },
): void {
  if (fire.chance(0.3)) {
    renameSync(to.spool, to.elsewhere);
    symlinkSync(to.elsewhere, to.spool);
    return;
  }
  mkdirSync(to.backup);
  const files = spoolFiles(to.spool).map((name) => join(to.spool, name));
  for (const [nth, file] of files.entries()) {
    try {
      linkSync(file, join(to.backup, String(nth)));
      if (fire.chance(0.7)) rmSync(file, { force: true });
    } catch {
      // The agent has just delivered and removed it.
    }
  }
}

/** Until everything has arrived that anybody has left. */
async function finish(
  fire: FireRun,
  { server, agents, spool }: { readonly server: Server; readonly agents: readonly Writer[]; readonly spool: string },
): Promise<void> {
  for (const agent of agents) await fire.progress(agent, 5);
  if (fire.chance(0.5)) await pause(300);
  await Promise.all(agents.map((agent) => agent.kill()));
  // A number that another container used may be in use here; then a file counts as left behind once nobody has touched it for long.
  for (const name of spoolFiles(spool)) utimesSync(join(spool, name), 0, 0);
  const waits = (): boolean => spoolFiles(spool).length > 0;
  await fire.until(async () => {
    await readJson(["deliver", "--spool", spool, "--url", server.address]);
    return !waits();
  }, "the spool to be delivered");
  await server.kill();
}
