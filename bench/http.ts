// Capture over HTTP against a bare node:http server that only parses the body and answers.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";
import { sampleInteraction } from "./sample-data.js";

export const http: Suite = {
  name: "http",
  about: "POST /interactions with 50 connections and 4 KB bodies, against node:http that parses and answers",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const bare: number[] = [];
    const ours: number[] = [];
    const p99: number[] = [];
    const seconds = Math.max(2, Math.round(5 * scale));
    for (let round = 0; round < rounds; round += 1) {
      bare.push((await measure(await startBare(), "/", seconds)).rate);
      const store = join(folder, "store");
      rmSync(store, { recursive: true, force: true });
      const result = await measure(await startHansard(store), "/interactions", seconds);
      ours.push(result.rate);
      p99.push(result.p99);
    }
    return [
      { name: "node:http that parses and answers", value: median(bare), unit: "requests/s" },
      { name: "POST /interactions", value: median(ours), unit: "requests/s" },
      { name: "p99 of POST /interactions", value: median(p99), unit: "ms" },
      {
        name: "POST /interactions ÷ bare",
        of: ["POST /interactions", "node:http that parses and answers"],
        target: { at_least: 0.3 },
      },
    ];
  },
};

/** A server in a process of its own. */
export interface Started {
  readonly child: ChildProcess;
  readonly address: string;
}

const BARE = `
  import { createServer } from "node:http";
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(201, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: "recorded", id: body.session_id }));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(\`http://127.0.0.1:\${server.address().port}\`));
`;

function startBare(): Promise<Started> {
  return start(spawn(process.execPath, ["--input-type=module", "-e", BARE], { stdio: ["ignore", "pipe", "inherit"] }));
}

export function startHansard(store: string): Promise<Started> {
  // Another version may be measured in the same way, to compare the two.
  const main = process.env.HANSARD_BENCH_MAIN || new URL("../bundle/main.js", import.meta.url).pathname;
  return start(
    spawn(process.execPath, [main, "serve", "--data", store, "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] }),
  );
}

/** Waits for the address that servers print; the CLI writes it to its log. */
export function start(child: ChildProcess): Promise<Started> {
  return new Promise((resolve, reject) => {
    let seen = "";
    const look = (chunk: Buffer): void => {
      seen += chunk.toString();
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(seen)?.[0];
      if (address === undefined) return;
      child.stdout?.off("data", look).resume();
      child.stderr?.off("data", look).resume();
      resolve({ child, address });
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.on("exit", (code) => reject(new Error(`the server ended with status ${code}: ${seen}`)));
  });
}

async function measure(
  { child, address }: Started,
  path: string,
  seconds: number,
): Promise<{ readonly rate: number; readonly p99: number }> {
  const body = JSON.stringify(sampleInteraction(1));
  const headers = { "content-type": "application/json" };
  const load = { url: address + path, connections: 50, method: "POST", headers, body } as const;
  // The first second is spent compiling, on both sides.
  await autocannon({ ...load, duration: 1 });
  const result = await autocannon({ ...load, duration: seconds });
  await stop(child);
  if (result.errors > 0 || result.non2xx > 0) {
    throw new Error(`${result.errors} errors and ${result.non2xx} refusals from ${address}${path}`);
  }
  return { rate: result.requests.average, p99: result.latency.p99 };
}

export async function stop(child: ChildProcess): Promise<void> {
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
