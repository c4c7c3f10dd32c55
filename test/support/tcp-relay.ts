// Stands between programs and a server, and does to their connections what networks do.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

interface State {
  isStalled: boolean;
  isRefusing: boolean;
  answersToDrop: number;
}

export class TcpRelay {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #state: State;

  private constructor(server: Server, sockets: Set<Socket>, state: State) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#sockets = sockets;
    this.#state = state;
  }

  static async open(target: { readonly host: string; readonly port: number }): Promise<TcpRelay> {
    const sockets = new Set<Socket>();
    const state: State = { isStalled: false, isRefusing: false, answersToDrop: 0 };
    const server = createServer((socket) => {
      if (state.isRefusing) return socket.destroy();
      const onward = connect(target.port, target.host);
      const pairs = [
        [socket, onward],
        [onward, socket],
      ] as const;
      for (const [one, other] of pairs) {
        sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          sockets.delete(one);
          other.destroy();
        });
        one.on("data", (bytes) => {
          if (one === onward && state.answersToDrop > 0) {
            state.answersToDrop -= 1;
            socket.destroy();
          } else other.write(bytes);
        });
        if (state.isStalled) one.pause();
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpRelay(server, sockets, state);
  }

  /** The same address, through the relay. */
  through(address: string): string {
    const url = new URL(address);
    url.port = String(this.port);
    return url.href;
  }

  /** How many answers the server is still to lose. */
  get answersToDrop(): number {
    return this.#state.answersToDrop;
  }

  /** The next answers of the server are thrown away, and their connections closed. */
  dropAnswers(count: number): void {
    this.#state.answersToDrop = count;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Refuses new connections and cuts those that there are. */
  refuse(): void {
    this.#state.isRefusing = true;
    this.cut();
  }

  /** Nothing passes any more, and nobody hears of it. */
  stall(): void {
    this.#state.isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Everything is as it was: what was stalled arrives now. */
  restore(): void {
    this.#state.isRefusing = false;
    this.#state.isStalled = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
