// Every route with the widest and the largest input that its limits allow, over a store of entries of the maximum size: how long
// each holds the server's main thread, and how much memory the process takes. `HANSARD_WRITE_ROUTES=1` writes the table of
// docs/RELIABILITY.md.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeSection } from "../support/document-section.js";
import { registeredNeeds } from "../support/registered-needs.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { widestRequests } from "./widest-requests.js";

const MiB = 1024 * 1024;
/** What reads the whole store takes long; once is enough. */
const triesOf = (route: string): number => (/export|verify|doctor|reflection/.test(route) ? 1 : 3);
/** The promise is 250 ms; a machine that is busy with other tests holds every thread up. */
const HELD_MS_MAX = 1_000;
/** The promise is about 1 GB; how much of it is garbage that waits for its collection depends on the machine. */
const MEMORY_MAX = 1_792 * MiB;

const mainFile = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
const probeFile = new URL("../support/stall-probe.js", import.meta.url).href;
const reliability = fileURLToPath(new URL("../../../docs/RELIABILITY.md", import.meta.url));
const data = folderOfFile();
const measured: { readonly route: string; readonly what: string; readonly held_ms: number; readonly bytes: number }[] =
  [];
let server: { readonly child: ChildProcess; readonly address: string };

beforeAll(async () => {
  server = await startServer();
  for (const entries of fullStore()) {
    const { status } = await ask("POST /entries", "/entries", JSON.stringify(entries));
    expect(status).toBe(201);
  }
  await indexed();
}, 600_000);

afterAll(async () => {
  server.child.kill("SIGTERM");
  if (process.env.HANSARD_WRITE_ROUTES === "1") {
    writeSection(reliability, { name: "routes", section: routesTable() });
  }
});

test("every route has its widest request here", async () => {
  const routes = Object.keys(await registeredNeeds()).filter((route) => !WITHOUT_INPUT.test(route));
  expect([...new Set(widestRequests.map(({ route }) => route.replace(/\{(\w+)\}/g, ":$1")))].sort()).toEqual(
    routes.sort(),
  );
});

/** Files of the page, documents of a fixed size, and states of a few numbers. */
const WITHOUT_INPUT =
  /^GET (\/|\/ui.*|\/docs|\/openapi\.json|\/health|\/ready|\/metrics|\/access|\/mcp)$|^DELETE \/mcp$/;

test.each(widestRequests)(
  "$route: $what",
  async ({ route, what, path, body, headers, statuses, ends_ms }) => {
    let held_ms = Number.POSITIVE_INFINITY;
    for (let nth = 0; nth < triesOf(route); nth += 1) {
      await heldMs();
      const { status, text } = await ask(route, path, body?.(nth), headers, ends_ms);
      expect(statuses, `${route} answered ${status}: ${text.slice(0, 300)}`).toContain(status);
      held_ms = Math.min(held_ms, await heldMs());
    }
    const bytes = memoryPeak();
    measured.push({ route, what, held_ms, bytes });
    expect(held_ms).toBeLessThan(HELD_MS_MAX);
    expect(bytes).toBeLessThan(MEMORY_MAX);
  },
  600_000,
);

/** Two dozen entries of nearly 16 MiB, one of nearly 250,000 values, and a session of very many small ones. */
function* fullStore(): Generator<readonly object[]> {
  for (let nth = 0; nth < 24; nth += 1) {
    const role = nth % 2 === 0 ? "user" : "assistant";
    yield [{ kind: "message", id: `fat-${nth}`, session_id: "fat", role, content: longText(nth, 15.9 * MiB) }];
  }
  yield [{ kind: "interaction", id: "fat-call", prompt: longText(99, 7 * MiB), response: longText(98, 7 * MiB) }];
  const record = { x: Array.from({ length: 240_000 }, (_, nth) => nth) };
  yield [{ kind: "raw", id: "wide", source: "s", record }];
  const parts = Array.from({ length: 60_000 }, (_, nth) => ({ type: "text", text: `part ${nth}` }));
  yield [{ kind: "message", id: "parts", session_id: "parts", role: "user", content: parts }];
  for (let part = 0; part < 10; part += 1) {
    yield Array.from({ length: 5_000 }, (_, nth) => ({
      kind: "message",
      session_id: nth % 5 === 0 ? `many-${part}-${nth}` : "long",
      role: nth % 2 === 0 ? "user" : "assistant",
      content: `What was said as number ${nth} of part ${part}.`,
    }));
  }
}

/** Words that differ from entry to entry: equal texts would be stored once. */
function longText(seed: number, chars: number): string {
  const block = Array.from({ length: 4_096 }, (_, nth) => `${(nth * 7_919 + seed * 104_729) % 999_983} said`).join(" ");
  let text = "";
  for (let nth = 0; text.length < chars; nth += 1) text += `${seed}.${nth} ${block}\n`;
  return text.slice(0, chars);
}

async function startServer(): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const config = join(data, "config");
  const child = spawn(process.execPath, [mainFile, "serve", "--port", "0", "--data", join(data, "store")], {
    env: {
      PATH: process.env.PATH,
      HOME: "/nonexistent",
      XDG_CONFIG_HOME: config,
      NODE_OPTIONS: `--import ${probeFile}`,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let printed = "";
  const address = await new Promise<string>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("exit", (status) => reject(new Error(`The server ended with status ${status}: ${printed}`)));
  });
  return { child, address };
}

async function ask(
  route: string,
  path: string,
  body?: string | Uint8Array,
  headers: { readonly [name: string]: string } = { "content-type": "application/json" },
  ends_ms?: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = "GET"] = route.split(" ");
  const asking = request(`${server.address}${path}`, { method, headers });
  asking.end(body);
  const [answer] = await once(asking, "response");
  if (ends_ms !== undefined) setTimeout(() => asking.destroy(), ends_ms);
  let text = "";
  try {
    for await (const chunk of answer) if (text.length < 1_000) text += chunk.toString();
  } catch (error) {
    // A stream without an end is ended here.
    if (ends_ms === undefined) throw error;
  }
  return { status: answer.statusCode, text };
}

async function heldMs(): Promise<number> {
  server.child.send("held");
  const [{ held_ms }] = await once(server.child, "message");
  return held_ms;
}

/** The most since the test before it, where the system tells and takes it back. */
function memoryPeak(): number {
  const folder = `/proc/${server.child.pid}`;
  if (!existsSync(`${folder}/status`)) return 0;
  const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`${folder}/status`, "utf8"))?.[1];
  writeFileSync(`${folder}/clear_refs`, "5");
  return Number(kb) * 1024;
}

async function indexed(): Promise<void> {
  for (;;) {
    const { text } = await ask("GET /health", "/health");
    const { position, indexed_through, texts_indexed_through } = JSON.parse(text);
    if (indexed_through >= position && (texts_indexed_through ?? position) >= position) break;
    await pause(500);
  }
  memoryPeak();
}

function routesTable(): string {
  const rows = measured.map(
    ({ route, what, held_ms, bytes }) =>
      `| \`${route}\` | ${what} | ${Math.round(held_ms)} ms | ${Math.round(bytes / MiB)} MiB |`,
  );
  return [
    `Node ${process.version}, SQLite, a store of 24 entries of 15.9 MiB and 50,000 small ones; the least of three requests (of one, where the whole store is read). Memory includes what V8 has not collected yet.`,
    "",
    "| route | widest request | main thread held | memory of the process |",
    "| --- | --- | ---: | ---: |",
    ...rows,
  ].join("\n");
}
