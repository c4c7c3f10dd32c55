// Tails through a server, for a long time and over connections that break.
import { once } from "node:events";
import { request as ask, createServer, type ServerResponse } from "node:http";
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

test("a tail that is refused in passing while it comes back goes on, and one that is no longer let in ends", async () => {
  const server = await startServer();
  const troubles: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>"),
    (response) => response.writeHead(503).end('{"error":{"code":"store_unavailable","message":"m"}}'),
    (response) => response.writeHead(503).end('{"error":{"code":"overloaded","message":"m"}}'),
    (response) => response.writeHead(429).end('{"error":{"code":"rate_exceeded","message":"m"}}'),
    (response) => response.destroy(),
  ];
  let open: ServerResponse | undefined;
  let refusal: ((response: ServerResponse) => void) | undefined;
  const before = createServer((request, response) => {
    const trouble = open === undefined ? refusal : (troubles.shift() ?? refusal);
    if (trouble !== undefined) return trouble(response);
    open = response;
    const onward = ask(new URL(request.url ?? "/", server.address), (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    response.on("close", () => onward.destroy());
    onward.end();
  }).listen(0, "127.0.0.1");
  await once(before, "listening");
  onTestFinished(() => void before.closeAllConnections());
  onTestFinished(() => void before.close());
  const remote = await openRemote(`http://127.0.0.1:${(before.address() as AddressInfo).port}`);
  const tail = remote.tail({ after: 0 });
  await server.post("/entries", { kind: "error", error: "first" });
  expect((await tail.next()).value).toMatchObject({ error: "first" });
  open?.destroy();
  await server.post("/entries", { kind: "error", error: "second" });
  expect((await tail.next()).value).toMatchObject({ error: "second" });
  expect(troubles).toEqual([]);
  refusal = (response) => response.writeHead(401).end('{"error":{"code":"key_wrong","message":"m"}}');
  open?.destroy();
  await expect(tail.next()).rejects.toMatchObject({ code: "key_wrong" });
  await expect(remote.tail().next()).rejects.toMatchObject({ code: "key_wrong" });
}, 30_000);

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
