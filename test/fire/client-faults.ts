// Clients that are slow, and never finish: the others are served as before.
import { onTestFinished } from "vitest";
import { openSocket } from "../attack/raw-socket.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";
import { kill } from "./process-faults.js";

const CLIENTS_MAX = 60;
const DRIP_MS = 40;

export const clientFaults: readonly Fault[] = [
  { name: "slow clients against a server", engines: both, weight: 5, run: slowClients },
];

/** Each begins with one of these, and goes on byte by byte, or reads nothing of the answer. */
const BEGINNINGS = [
  "GET /entries HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
  'POST /entries HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9000000\r\n\r\n{"kind":"error","error":"',
  "POST /entries HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n",
  "GET /export HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "GET /tail?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "",
];

async function slowClients(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const server = await fire.serve(data);
  const callers = fire.callers(() => [server.address]);
  await fire.progress(callers, fire.int(1, 30));
  const sockets = Array.from({ length: fire.int(5, CLIENTS_MAX) }, () => {
    const socket = openSocket(server);
    socket.pause();
    socket.write(fire.pick(BEGINNINGS));
    return socket;
  });
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write("x");
  }, DRIP_MS);
  onTestFinished(() => clearInterval(dripping));
  await fire.progress(callers, fire.int(40, 120));
  for (const socket of sockets) if (fire.chance(0.5)) socket.destroy();
  await fire.progress(callers, 20);
  clearInterval(dripping);
  for (const socket of sockets) socket.destroy();
  await callers.stop();
  await kill(server);
}
