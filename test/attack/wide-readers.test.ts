// Readers of entries as large and as wide as they may be: what is sent as it is stored is not built for each of them.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";

const MiB = 1024 * 1024;
const READERS = 6;
const VALUES = 124_000;
const item = `,{"a":"${"x".repeat(Math.floor((15.9 * MiB) / VALUES) - 8)}"}`;
const wide = `[${item.slice(1)}${item.repeat(VALUES - 1)}]`;

test("six readers of three wide entries of 16 MiB take a bounded amount of memory", async () => {
  const server = await startServe();
  for (let nth = 0; nth < 3; nth += 1) {
    const body = `{"kind":"raw","id":"wide-${nth}","source":"s","record":{"x":${wide}}}`;
    expect((await server.ask("POST", "/entries", body)).status).toBe(201);
  }
  const one = await server.ask("GET", "/entries/wide-0");
  expect(one.status).toBe(200);
  expect(one.bytes).toBeGreaterThan(15 * MiB);
  const before = server.memory();
  const readings = Array.from({ length: READERS }, async (_, reader) => {
    for (let nth = 0; nth < 6; nth += 1) {
      const { status, bytes } = await server.ask("GET", `/entries/wide-${(reader + nth) % 3}`);
      expect([status, bytes]).toEqual([200, one.bytes]);
    }
  });
  await Promise.all(readings);
  // Each reader's answer may be there twice on its way, and something is left over for what was not cleaned up yet.
  expect((server.memory() - before) / MiB).toBeLessThan(350);
});

interface Served {
  ask(method: string, path: string, body?: string): Promise<{ readonly status: number; readonly bytes: number }>;
  /** The most that it ever had, in bytes. */
  memory(): number;
}

async function startServe(): Promise<Served> {
  const child = startCli(["serve", "--port", "0"], { data: folderOfTest() });
  onTestFinished(() => void child.kill("SIGKILL"));
  let heard = "";
  const address = await new Promise<string>((resolve) => {
    const listen = (chunk: Buffer): void => {
      heard += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(heard)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
  });
  return {
    async ask(method, path, body) {
      const headers = { "content-type": "application/json" };
      const asking = request(`${address}${path}`, { method, headers }).end(body);
      const [answer] = await once(asking, "response");
      let bytes = 0;
      for await (const chunk of answer) bytes += chunk.length;
      return { status: answer.statusCode, bytes };
    },
    memory: () => memoryOf(child.pid as number),
  };
}

/** The most that a process has had in memory, in bytes; other systems than Linux tell what it has now. */
function memoryOf(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kb = existsSync(status)
    ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kb) * 1024;
}
