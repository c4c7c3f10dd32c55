// Speaks to a server on a bare socket, as no well-behaved client would.
import { connect, type Socket } from "node:net";
import type { TestServer } from "../e2e/http-client.js";

export function openSocket(server: Pick<TestServer, "address">): Socket {
  const { hostname, port } = new URL(server.address);
  const socket = connect({ host: hostname, port: Number(port) });
  // Whether and when the other side hangs up is what the tests look at.
  socket.on("error", () => undefined);
  return socket;
}

/** Sends the text and hands back all that was heard until the server closed the connection. */
export function speak(server: Pick<TestServer, "address">, text: string | Uint8Array): Promise<string> {
  const socket = openSocket(server);
  socket.write(text);
  return heardUntilClosed(socket);
}

export function heardUntilClosed(socket: Socket): Promise<string> {
  let heard = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    heard += chunk;
  });
  return new Promise((resolve) => socket.on("close", () => resolve(heard)));
}

/** The statuses of the answers in what was heard, in order. */
export function statusesIn(heard: string): readonly number[] {
  return [...heard.matchAll(/(?:^|\n|\})HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}
