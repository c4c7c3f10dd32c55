// `npm run soak`: an hour of captures, searches, tails, erasures and restarts against one server; then a comparison of what
// was acknowledged with what is stored, and whether memory, handles and latency stayed flat.
//
//   HANSARD_SOAK_SECONDS=120 npm run soak    shorter; only a full hour is written to docs/RELIABILITY.md
//   HANSARD_SOAK_RATE=500 npm run soak       another number of entries a second
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { drawCurve } from "../../src/surfaces/cli/text/plot.js";
import { openScreen } from "../../src/surfaces/cli/text/terminal.js";
import { writeSection } from "../../test/support/document-section.js";
import { type Started, startHansard, stop } from "../http.js";
import { seeded } from "../sample-data.js";
import { Load } from "./load.js";
import { fsyncMs, latencyFigures, processFigures, RULE, type Sample, type Verdict, verdictsOn } from "./samples.js";

const HOUR = 3_600;
const SECONDS = setting("HANSARD_SOAK_SECONDS", HOUR);
const RATE = setting("HANSARD_SOAK_RATE", 1_000);
const SAMPLES = 120;
const READS_PER_SECOND = 4;
const FORGET_SECONDS = Math.max(2, SECONDS / 60);
const DRAIN_MS = 120_000;
const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), "hansard-soak-"));
const data = join(folder, "store");
let server = await startHansard(data);
const load = new Load({ address: server.address, entriesMax: Math.ceil(SECONDS * RATE * 1.1), random: seeded(1) });
const samples: Sample[] = [];
const restarts: string[] = [];
let before = { acknowledged: 0, seconds: 0 };
const start = performance.now();
const elapsed = (): number => (performance.now() - start) / 1_000;
process.on("exit", () => void server.child.kill("SIGKILL"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
console.log(`${SECONDS} s at ${RATE} entries/s, in ${data}`);

try {
  const { status, text } = await soak();
  console.log(text);
  process.exitCode = status;
} finally {
  await kill(server);
  rmSync(folder, { recursive: true, force: true });
}

async function soak(): Promise<{ readonly status: number; readonly text: string }> {
  const working = [
    load.capture(RATE),
    load.read(READS_PER_SECOND),
    load.follow(),
    load.followBriefly(Math.max(2, SECONDS / 120)),
    load.forget(FORGET_SECONDS),
    restartEarly(),
  ];
  for (let nth = 1; nth <= SAMPLES; nth += 1) {
    await pause((SECONDS * 1_000 * nth) / SAMPLES - (performance.now() - start));
    await takeSample();
  }
  load.end();
  await Promise.race([
    Promise.all(working),
    pause(DRAIN_MS).then(() => load.problems.add("a follower did not finish")),
  ]);
  const seconds = elapsed();
  await kill(server);
  const { stdout } = await run(process.execPath, [mainFile(), "verify", "--json", "--data", data]);
  const verified = JSON.parse(stdout) as { readonly ok: boolean; readonly entries: number };
  server = await startHansard(data);
  load.address = server.address;
  const compared = await load.compare();
  load.close();
  const verdicts = verdictsOn(samples);
  const isRight = verified.ok && load.problems.size === 0 && Object.values(compared).every((count) => count === 0);
  const lines = [
    ...(await report({ seconds, entries: verified.entries, verdicts })),
    `Compared after a last kill -9: ${load.acknowledged.toLocaleString("en-US")} acknowledged, ${compared.lost} lost, ` +
      `${compared.doubled} doubled, ${compared.moved} moved, ${compared.changed} changed; \`verify\` ${verified.ok ? "ok" : "NOT OK"}.`,
    ...[...load.problems].map((problem) => `Problem: ${problem}`),
  ];
  if (SECONDS >= HOUR) {
    const file = fileURLToPath(new URL("../../../docs/RELIABILITY.md", import.meta.url));
    writeSection(file, { name: "soak", section: lines.join("\n") });
  }
  const curves = await Promise.all([
    curve("Resident memory, MB", (sample) => sample.rss_mb),
    curve("Handles", (sample) => sample.handles),
    curve("Captures, median ms", (sample) => sample.capture_p50_ms),
    curve("Captures, p99 ms", (sample) => sample.capture_p99_ms),
    curve("Searches and reads, median ms", (sample) => sample.search_p50_ms),
  ]);
  return { status: isRight && verdicts.every(({ isFlat }) => isFlat) ? 0 : 1, text: [...lines, ...curves].join("\n") };
}

/** Three restarts in the first third, the second of them by kill -9: what comes after is one long life. */
async function restartEarly(): Promise<void> {
  for (const [nth, how] of ["SIGTERM", "SIGKILL", "SIGTERM"].entries()) {
    await pause(Math.max(0, (SECONDS * 1_000 * (nth + 1)) / 12 - (performance.now() - start)));
    if (how === "SIGTERM") await stop(server.child);
    else await kill(server);
    server = await startHansard(data);
    load.address = server.address;
    restarts.push(how);
  }
}

async function takeSample(): Promise<void> {
  const pid = server.child.exitCode === null && server.child.signalCode === null ? server.child.pid : undefined;
  const health = await load.health();
  if (pid === undefined || health === undefined) return;
  const seconds = elapsed();
  const acknowledged = load.acknowledged;
  samples.push({
    seconds: Math.round(seconds),
    ...processFigures(pid),
    ...latencyFigures(load.latencies),
    control_ms: fsyncMs(folder),
    behind: health.position - health.indexed_through,
    rate: Math.round((acknowledged - before.acknowledged) / (seconds - before.seconds)),
  });
  before = { acknowledged, seconds };
  load.latencies.capture.length = 0;
  load.latencies.search.length = 0;
  if (samples.length % 6 === 0) console.log(JSON.stringify(samples.at(-1)));
}

async function kill({ child }: Started): Promise<void> {
  child.removeAllListeners("exit");
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function report(result: {
  readonly seconds: number;
  readonly entries: number;
  readonly verdicts: readonly Verdict[];
}): Promise<readonly string[]> {
  const { counts } = load;
  const count = (value: number): string => value.toLocaleString("en-US");
  const bytes = readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
  const borne = load.acknowledged / result.seconds;
  return [
    `Measured ${new Date().toISOString().slice(0, 10)} with Node ${process.version} on ${cpus().length} cores, SQLite: ` +
      `${Math.round(result.seconds)} s, ${count(RATE)} entries/s asked for, ${count(Math.round(borne))} borne. ` +
      `${count(result.entries)} entries, ${(bytes / 1024 ** 3).toFixed(1)} GB. ${count(counts.searches)} reads, ` +
      `${count(counts.tailed)} entries followed, ${count(counts.forgets)} sessions of 200 entries erased, ` +
      `${restarts.length} restarts (${restarts.join(", ")}), ${count(counts.retries)} batches sent again, ` +
      `${count(counts.refused)} reads refused as overload.`,
    "",
    RULE,
    "",
    "| | middle third | last third | at most | |",
    "| --- | ---: | ---: | ---: | --- |",
    ...result.verdicts.map(
      ({ label, middle, last, most, isFlat }) =>
        `| ${label} | ${round(middle)} | ${round(last)} | ${Number.isNaN(most) ? " |" : `${round(most)} | ${isFlat ? "flat" : "NOT FLAT"}`} |`,
    ),
    "",
  ];
}

function curve(title: string, of: (sample: Sample) => number): Promise<string> {
  const values = samples.map(of).map((value) => (Number.isNaN(value) ? undefined : value));
  return drawCurve({ title, paint: (text) => text, values }, openScreen().out);
}

function round(value: number): string {
  return value.toFixed(value >= 100 ? 0 : 1);
}

function mainFile(): string {
  return fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
}

function setting(name: string, otherwise: number): number {
  const value = Number(process.env[name] || otherwise);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`${name} must be a number above 0, not ${process.env[name]}`);
}
