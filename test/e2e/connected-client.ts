// A client of the tests, with what it had to tell, and servers of their own that stand in for one or before it.
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ClientRecorder, type ConnectOptions, connectRecorder, type Problem } from "../../client/index.js";
import { folderOfTest } from "../support/temporary-folder.js";

interface Connected {
  readonly recorder: ClientRecorder;
  readonly problems: Problem[];
  readonly spool: string;
}

export function connect(url: string, options: ConnectOptions = {}): Connected {
  const problems: Problem[] = [];
  const spool = (options.spool as string) ?? folderOfTest();
  const quick = { linger_ms: 1, retry_ms_min: 10, retry_ms_max: 50 };
  const recorder = connectRecorder({ ...quick, url, spool, onProblem: (one) => problems.push(one), ...options });
  onTestFinished(async () => void (await recorder.close({ timeout_ms: 100 })));
  return { recorder, problems, spool };
}

/** Nobody listens there. */
export const AWAY = "http://127.0.0.1:1";

/** Long enough for a busy machine: a flush ends as soon as all has arrived. */
export const PATIENTLY = { timeout_ms: 60_000 };

/** A port that does not answer and stays reserved until it is released. */
export async function heldPort(): Promise<{ readonly port: number; release(): Promise<void> }> {
  const holder = createServer().on("connection", (socket) => socket.destroy());
  await once(holder.listen(0, "127.0.0.1"), "listening");
  const release = async (): Promise<void> => {
    holder.close();
    await once(holder, "close");
  };
  return { port: (holder.address() as AddressInfo).port, release };
}

export async function standIn(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy before a server: a callback decides whether each request passes. */
export async function standBefore(
  address: string,
  meet: (request: IncomingMessage, response: ServerResponse, pass: () => void) => void,
): Promise<string> {
  const before = createServer((request, response) =>
    meet(request, response, () => {
      const headers = { ...request.headers, host: "localhost" };
      const onward = ask(new URL("/entries", address), { method: "POST", headers });
      onward.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502)));
      request.pipe(onward);
    }),
  ).listen(0, "127.0.0.1");
  await once(before, "listening");
  onTestFinished(() => void before.close());
  onTestFinished(() => void before.closeAllConnections());
  return `http://127.0.0.1:${(before.address() as AddressInfo).port}`;
}

export function spoolFiles(spool: string): readonly string[] {
  return readdirSync(spool, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ndjson"));
}
