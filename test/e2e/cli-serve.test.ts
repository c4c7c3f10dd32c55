// `hansard serve`: starts, records, and ends in order, with everything it acknowledged on disk.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type CliResult, readJson, resultOf, startCli } from "./cli-run.js";
import { runOnTerminal } from "./terminal-run.js";

const CTRL_C = "\u0003";

/** Not every machine has the newer addresses. */
const hasIpv6 = Object.values(networkInterfaces()).some((known) => known?.some(({ address }) => address === "::1"));
const hosts = ["0.0.0.0", "127.0.0.1", ...(hasIpv6 ? ["::", "::1"] : [])];

interface RunningServer {
  readonly child: ChildProcess;
  readonly address: string;
  /** The line of its log that says so. */
  readonly listening: { readonly address: string; readonly addresses: readonly string[] };
  readonly ended: Promise<CliResult>;
}

async function serve(
  data: string,
  args: readonly string[] = ["--port", "0"],
  command: "serve" | "demo" = "serve",
): Promise<RunningServer> {
  const child = startCli([command, ...args], { data });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = resultOf(child);
  const listening = await new Promise<RunningServer["listening"]>((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (chunk: string) => {
      text += chunk;
      const line = text.split("\n").find((one) => one.includes('"msg":"listening"'));
      if (line !== undefined) resolve(JSON.parse(line));
    });
    void ended.then(({ stderr }) => reject(new Error(`the server did not start: ${stderr}`)));
  });
  return { child, address: listening.address, listening, ended };
}

async function post(address: string, id: string): Promise<boolean> {
  const response = await fetch(`${address}/interactions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, prompt: `secret question ${id}` }),
  });
  return response.status === 201;
}

test("demo serves a week's story, candidates included, and leaves the store it was given alone", async () => {
  const data = join(folderOfTest(), "record");
  const { child, address, ended } = await serve(data, ["--port", "0"], "demo");
  const get = async <T>(path: string): Promise<T> => (await fetch(`${address}${path}`)).json() as Promise<T>;
  const { memories } = await get<{ readonly memories: readonly { readonly id: string }[] }>(
    "/memories?status=candidate",
  );
  expect(memories.map(({ id }) => id)).toEqual(expect.arrayContaining(["demo-candidate-pins"]));
  type Listed = { readonly projects: readonly string[]; readonly last_at: string };
  const { sessions } = await get<{ readonly sessions: readonly Listed[] }>("/sessions?limit=500");
  expect(new Set(sessions.flatMap(({ projects }) => projects)).size).toBeGreaterThanOrEqual(4);
  expect(new Set(sessions.map(({ last_at }) => last_at.slice(0, 10))).size).toBeGreaterThanOrEqual(6);
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ status: 0 });
  expect(existsSync(data)).toBe(false);
});

test("serves on the address it logs, writes structured logs without recorded text, and leaves stdout alone", async () => {
  const data = join(folderOfTest(), "record");
  const { child, address, ended } = await serve(data);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await post(address, "a")).toBe(true);
  const health = await (await fetch(`${address}/health`)).json();
  expect(health).toMatchObject({ status: "ok", position: 1 });
  type Said = {
    readonly ok: boolean;
    readonly findings: readonly { readonly check: string; readonly message: string }[];
  };
  const { ok, findings } = (await (await fetch(`${address}/doctor`)).json()) as Said;
  expect({ ok, folder: findings.find(({ check }) => check === "folder")?.message }).toEqual({
    ok: true,
    folder: `${data} is private and writable`,
  });
  child.kill("SIGINT");
  const { status, stdout, stderr } = await ended;
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  for (const line of stderr.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("msg");
  expect(stderr).not.toContain("secret");
});

test.each(hosts)("on %s it names the addresses that it is reached at", async (host) => {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  await recorder.keys.create({ scope: "admin" });
  await recorder.close();
  const { child, listening, ended } = await serve(data, ["--port", "0", "--host", host]);
  const { address, addresses } = listening;
  expect(addresses).toContain(address);
  for (const one of addresses) expect([one, (await fetch(`${one}/health`)).status]).toEqual([one, 200]);
  expect(addresses.join()).not.toMatch(/\/0\.0\.0\.0:|\[::\]/);
  child.kill("SIGTERM");
  expect((await ended).stderr.includes("keys are sent unencrypted")).toBe(!["::1", "127.0.0.1"].includes(host));
});

test("on a terminal everything is text: the address, refused requests, and the end", async () => {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  const { id, key } = await recorder.keys.create({ scope: "metrics" });
  await recorder.close();
  let step: "start" | "ask" | "end" = "start";
  const { status, text } = await runOnTerminal(["serve", "--port", "0"], {
    data,
    columns: 80,
    onText: (seen, type) => {
      const address = /Page +(http\S+)/.exec(stripVTControlCharacters(seen))?.[1];
      if (step === "start" && seen.includes("Ctrl-C")) {
        step = "ask";
        void fetch(`${address}/entries`, { headers: { authorization: `Bearer ${key}` } });
      } else if (step === "ask" && seen.includes("scope_insufficient")) {
        step = "end";
        type(CTRL_C);
      }
    },
  });
  const shown = stripVTControlCharacters(text);
  expect(status).toBe(0);
  expect(shown).toContain("Finishing open requests");
  expect(shown).toMatch(/Keys +1 active; every request needs one\n/);
  expect(shown).toMatch(
    new RegExp(`\\n\\d\\d:\\d\\d:\\d\\dZ {2}GET /entries 403 scope_insufficient, from 127.0.0.1, key\\s+${id}\\n`),
  );
  expect(shown).not.toContain('{"');
});

test.each([["serve", "--port", "0"], ["list"]])(
  "%s says that it waits for a database that is away",
  async (...args) => {
    const child = startCli(args, { data: "postgres://nobody:secret@127.0.0.1:1/none" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const said = await new Promise<string>((resolve) => child.stderr?.once("data", (chunk) => resolve(String(chunk))));
    expect(said).toMatch(
      /postgres:\/\/nobody:\*\*\*@127\.0\.0\.1:1\/none cannot be reached .*; retrying|waiting for the database/,
    );
    expect(said).toContain("ECONNREFUSED");
    // Whoever does not want to wait need not; a server ends in order.
    const ended = new Promise((resolve) => child.once("exit", (status, signal) => resolve(status ?? signal)));
    child.kill("SIGTERM");
    expect(await ended).toBe(args[0] === "serve" ? 0 : "SIGTERM");
  },
);

test("SIGTERM during work: status 0, and everything acknowledged is stored", async () => {
  const data = folderOfTest();
  const { child, address, ended } = await serve(data);
  const acknowledged: string[] = [];
  let stop = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; !stop; n += 1) {
      const id = `w${writer}-${n}`;
      const isRecorded = await post(address, id).catch(() => undefined);
      if (isRecorded === undefined) return;
      if (isRecorded) acknowledged.push(id);
    }
  });
  await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ status: 0, stderr: expect.not.stringContaining("cut off") });
  stop = true;
  await Promise.all(writers);
  const stats = await readJson(["stats"], { data });
  expect(stats.entries).toBeGreaterThanOrEqual(acknowledged.length);
  expect(await readJson(["verify"], { data })).toMatchObject({ ok: true });
  for (const id of acknowledged.slice(-5)) expect(await readJson(["show", id], { data })).toMatchObject({ id });
});

test("a second signal ends it at once, though a request is still under way", async () => {
  const { child, address, ended } = await serve(folderOfTest());
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(
    "POST /interactions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
  );
  await fetch(`${address}/health`);
  child.kill("SIGTERM");
  await expect
    .poll(() =>
      fetch(`${address}/health`).then(
        () => "open",
        () => "closed",
      ),
    )
    .toBe("closed");
  child.kill("SIGTERM");
  const { status, stderr } = await ended;
  expect(status).toBe(1);
  expect(stderr).not.toContain('"msg":"closed"');
});

test("a command and a server use one store at the same time", async () => {
  const data = folderOfTest();
  const { address } = await serve(data);
  await readJson(["record", "--prompt", "from the command", "--id", "command"], { data });
  expect(await post(address, "server")).toBe(true);
  const { interactions } = (await (await fetch(`${address}/interactions`)).json()) as {
    interactions: { id: string }[];
  };
  expect(interactions.map(({ id }) => id).sort()).toEqual(["command", "server"]);
  expect(await readJson(["list", "--kind", "interaction"], { data })).toMatchObject({
    interactions: [{ id: "server" }, { id: "command" }],
  });
});

test("a port in use is a failure that says so, and leaves no new store behind", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void taken.close());
  const folder = folderOfTest();
  const data = join(folder, "record");
  const { status, stderr } = await resultOf(startCli(["serve", "--port", String(portOf(taken))], { data }));
  expect(status).toBe(1);
  expect(stderr).toContain(`port ${portOf(taken)} of 127.0.0.1 is in use`);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(["0.0.0.0", "::", "192.168.1.7", "example.com"])(
  "an address beyond loopback is refused: %s",
  async (host) => {
    const data = folderOfTest();
    const { status, stderr } = await resultOf(startCli(["serve", "--host", host], { data }));
    expect(status).toBe(2);
    expect(stderr).toContain("can be reached from other machines");
    expect(readdirSync(data)).toEqual([]);
  },
);

test.each(["65536", "-1", "http", "1e3"])("a port that is none is refused: %s", async (port) => {
  const { status, stderr } = await resultOf(startCli(["serve", `--port=${port}`], { data: folderOfTest() }));
  expect(status).toBe(2);
  expect(stderr).toContain("--port must be a port");
});

test("a store that cannot be opened is a failure before anything listens", async () => {
  const data = join(folderOfTest(), "file");
  writeFileSync(data, "text");
  const { status, stderr } = await resultOf(startCli(["serve", "--port", "0"], { data }));
  expect(status).toBe(1);
  expect(stderr).toContain("is a file, not a folder");
});

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}
