// Runs the benchmarks, prints a table and writes bench/results.json and docs/BENCHMARKS.md.
//
//   npm run bench                     all of them, in full
//   npm run bench -- capture http     some of them; the others keep their figures
//   npm run bench -- --quick          a short look; nothing is written
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { agentPath } from "./agent-path.js";
import { capture } from "./capture.js";
import { context } from "./context.js";
import { type Suite, withRatios } from "./figures.js";
import { hostile } from "./hostile.js";
import { http } from "./http.js";
import { importing } from "./import.js";
import { indexing } from "./indexing.js";
import { install } from "./install.js";
import { memories } from "./memories.js";
import { otlp } from "./otlp.js";
import { parts } from "./parts.js";
import { postgres } from "./postgres.js";
import { reading } from "./reading.js";
import { reflection } from "./reflection.js";
import { type Results, renderMarkdown, renderTable } from "./report.js";
import { search } from "./search.js";
import { sessions } from "./sessions.js";
import { startup } from "./startup.js";
import { tail } from "./tail.js";
import { watching } from "./watching.js";

const suites: readonly Suite[] = [
  startup,
  install,
  capture,
  agentPath,
  http,
  indexing,
  parts,
  sessions,
  reading,
  search,
  context,
  tail,
  watching,
  reflection,
  memories,
  otlp,
  importing,
  hostile,
  postgres,
];

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const isQuick = process.argv.includes("--quick");
const options = isQuick ? { rounds: 3, scale: 0.2 } : { rounds: 5, scale: 1 };
const known = ["--quick", ...suites.map((suite) => suite.name)];
// A full run takes twenty minutes: whatever is not understood must not start one.
if (process.argv.slice(2).some((argument) => !known.includes(argument))) {
  console.error(`usage: npm run bench -- [--quick] [${suites.map((suite) => suite.name).join("] [")}]`);
  process.exit(2);
}
const chosen = suites.filter((suite) => wanted.length === 0 || wanted.includes(suite.name));

const measured: Results["suites"][number][] = [];
for (const suite of chosen) {
  const folder = mkdtempSync(join(tmpdir(), "hansard-bench-"));
  try {
    process.stderr.write(`${suite.name} …\n`);
    const figures = withRatios(await suite.run({ ...options, folder }));
    measured.push({ name: suite.name, about: suite.about, measured_at: new Date().toISOString(), figures });
    process.stdout.write(renderTable(measured.slice(-1)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Suites that were not run keep the figures they had: each compares only within itself.
if (!isQuick) {
  const root = new URL("../../", import.meta.url);
  const file = new URL("bench/results.json", root);
  const before = JSON.parse(readFileSync(file, "utf8")) as Results;
  const results: Results = {
    node: process.version,
    cores: cpus().length,
    rounds: options.rounds,
    suites: suites.flatMap(({ name }) => [...measured, ...before.suites].find((one) => one.name === name) ?? []),
  };
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(new URL("docs/BENCHMARKS.md", root), renderMarkdown(results));
}
