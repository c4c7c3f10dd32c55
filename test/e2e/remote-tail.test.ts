// Tails through a server, for a long time and over connections that break.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { resultOf, startCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

async function openRemote(address: string): Promise<Recorder> {
  const recorder = await openRecorder({ data: address });
  onTestFinished(() => recorder.close());
  return recorder;
}

/** A way to a server that can be cut. */
async function wayTo(address: string): Promise<{ readonly address: string; cut(): void }> {
  const open = new Set<Socket>();
  const way = createNetServer((socket) => {
    const onward = connect(Number(new URL(address).port), "127.0.0.1");
    open.add(socket);
    pipeline(socket, onward, () => undefined);
    pipeline(onward, socket, () => open.delete(socket));
  }).listen(0, "127.0.0.1");
  await once(way, "listening");
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => void way.close());
  onTestFinished(cut);
  return { address: `http://127.0.0.1:${(way.address() as AddressInfo).port}`, cut };
}

test("a command that follows a server outlives its connections, and misses nothing", async () => {
  const server = await startServer();
  const way = await wayTo(server.address);
  const tail = startCli(["tail", "--after", "0", "--json"], { data: way.address });
  const ended = resultOf(tail);
  onTestFinished(() => void tail.kill("SIGKILL"));
  let lines = "";
  const shown = (error: string): Promise<unknown> =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => {
        const look = (): void => (lines.includes(`"${error}"`) ? resolve() : undefined);
        tail.stdout?.on("data", look);
        look();
      }),
    ]);
  tail.stdout?.on("data", (chunk: string) => {
    lines += chunk;
  });
  for (const error of ["first", "second", "third"]) {
    await server.post("/entries", { kind: "error", error });
    await shown(error);
    way.cut();
  }
  tail.kill("SIGINT");
  const { status, stdout } = await ended;
  const seen = stdout.trim().split("\n");
  expect([status, seen.map((line) => JSON.parse(line).error)]).toEqual([0, ["first", "second", "third"]]);
});

test("closing the recorder ends every tail: one that waits, and one that never began", async () => {
  const server = await startServer();
  const remote = await openRemote(server.address);
  const [begun, fresh] = [remote.tail(), remote.tail()];
  await begun.started();
  const waiting = [begun.next(), fresh.next()];
  await remote.close();
  const end = { done: true, value: undefined };
  expect(await Promise.all(waiting)).toEqual([end, end]);
});

test("a tail that has waited many thousand times waits as it did at first", async () => {
  let events: ServerResponse | undefined;
  // A server gathers what comes so fast; this one sends each entry when it is waited for.
  const eager = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("id: 0\n\n");
    events = response;
  }).listen(0, "127.0.0.1");
  await once(eager, "listening");
  onTestFinished(() => void eager.close());
  const remote = await openRemote(`http://127.0.0.1:${(eager.address() as AddressInfo).port}`);
  const tail = remote.tail();
  expect(await tail.started()).toBe(0);
  for (let position = 1; position <= 20_000; position += 1) {
    const next = tail.next();
    setImmediate(() => events?.write(`id: ${position}\ndata: {"position":${position},"kind":"error"}\n\n`));
    expect((await next).value?.position).toBe(position);
  }
  await tail.return();
});
