// Closing a server: requests under way are finished, and nothing that was acknowledged is lost.
import { once } from "node:events";
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { startServer, type TestServer } from "./http-client.js";

test("closing under load loses nothing that was acknowledged", async () => {
  const server = await startServer();
  const acknowledged: string[] = [];
  const refused: number[] = [];
  let isClosed = false;
  const client = async (): Promise<void> => {
    while (!isClosed) {
      const answer = await server.post("/interactions", { prompt: "p" }).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status === 201) acknowledged.push(answer.body.id);
      else refused.push(answer.status);
    }
  };
  const clients = Array.from({ length: 20 }, client);
  while (acknowledged.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.close();
  isClosed = true;
  await Promise.all(clients);

  expect(refused).toEqual([]);
  const recorder = await openRecorder({ data: server.data, create: false });
  onTestFinished(() => recorder.close());
  for (const id of acknowledged) expect(await recorder.getInteraction(id)).toMatchObject({ id });
  expect(await recorder.verify()).toMatchObject({ ok: true });
});

test("a request that is still arriving when closing begins is recorded and answered", async () => {
  const server = await startServer();
  const body = JSON.stringify({ id: "late", prompt: "p" });
  const { sending, answered } = beginPost(server, body);
  sending.write(body.slice(0, 10));
  await untilReceived(server);
  const closing = server.close();
  await expect(fetch(server.address)).rejects.toThrow();
  sending.end(body.slice(10));
  expect((await answered).statusCode).toBe(201);
  await closing;
  const recorder = await openRecorder({ data: server.data, create: false });
  onTestFinished(() => recorder.close());
  expect(await recorder.getEntry("late")).toMatchObject({ prompt: "p" });
});

test("a request that never ends is cut off after a while", async () => {
  const server = await startServer({ drain_ms_max: 200 });
  const { sending, answered } = beginPost(server, "x".repeat(100));
  sending.write("{");
  await untilReceived(server);
  const cut = expect(answered).rejects.toThrow();
  await server.close();
  await cut;
});

test("idle connections do not delay closing", async () => {
  const server = await startServer({ drain_ms_max: 600_000 });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const asking = httpRequest(`${server.address}/health`, { agent }).end();
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  await server.close();
});

test("the recorder is closed last, and closing twice is closing once", async () => {
  const server = await startServer();
  await Promise.all([server.close(), server.close()]);
  await expect(server.recorder.append({ kind: "error", error: "e" })).rejects.toMatchObject({
    code: "recorder_closed",
  });
});

test("a port that is taken is an error, and the recorder stays open", async () => {
  const server = await startServer();
  const recorder = await openRecorder({ data: "memory:" });
  const port = Number(new URL(server.address).port);
  await expect(serve({ recorder, version: "1.2.3", port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(await recorder.append({ kind: "error", error: "e" })).toMatchObject({ status: "recorded" });
});

function beginPost(server: TestServer, body: string): { sending: ClientRequest; answered: Promise<IncomingMessage> } {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sending = httpRequest(`${server.address}/interactions`, { method: "POST", headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.on("response", (response) => {
      response.resume();
      resolve(response);
    });
    sending.on("error", reject);
  });
  return { sending, answered };
}

/** A later request on another connection has been answered, so the server has seen what was sent before it. */
async function untilReceived(server: TestServer): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await server.get("/health");
}
