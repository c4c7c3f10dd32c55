// A client of a server under load: requests over connections that stay open, timed, and given up after a while.
import { Agent, request } from "node:http";

export interface Timed {
  /** 0 where there was no answer in time. */
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
}

export class Client {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  get(path: string, giveUpMs?: number): Promise<Timed> {
    return this.#ask("GET", path, undefined, giveUpMs);
  }

  post(path: string, body: string | Buffer, giveUpMs?: number): Promise<Timed> {
    return this.#ask("POST", path, body, giveUpMs);
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(method: string, path: string, body: string | Buffer | undefined, giveUpMs = 60_000): Promise<Timed> {
    const start = performance.now();
    return new Promise((resolve) => {
      let bytes = 0;
      const settle = (status: number): void => {
        clearTimeout(timer);
        resolve({ status, ms: performance.now() - start, bytes });
      };
      const headers =
        body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const asking = request(`${this.#address}${path}`, { agent: this.#agent, method, headers }, (answer) => {
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
        });
        answer.on("end", () => settle(answer.statusCode ?? 0));
        answer.on("error", () => settle(0));
      });
      asking.on("error", () => settle(0));
      const timer = setTimeout(() => asking.destroy(new Error("given up")), giveUpMs);
      asking.end(body);
    });
  }
}
