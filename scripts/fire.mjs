// `npm run fire`: runs of fault injection on both engines, from a seed that it prints; then the table in docs/RELIABILITY.md.
//
//   npm run fire                                  all of them, with a new seed
//   HANSARD_FUZZ_SEED=7 npm run fire              the same choices again
//   HANSARD_FUZZ_SEED=7 npm run fire -- -t "kill -9 of a server under load, sqlite, run 3"   one of them
//   HANSARD_FIRE_RUNS=60 npm run fire             fewer; only 500 or more are written down
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";
import { runCommand } from "./run-command.mjs";

const RUNS = Number(process.env.HANSARD_FIRE_RUNS || 560);
const WRITTEN_RUNS = 500;
const PROGRESS_MS = 60_000;
/** Most of a run is waiting. */
const PARTS = 2 * availableParallelism();
const PACKAGES = ["fiu-utils", "faketime", "util-linux"];
const PROGRAMS = ["fiu-ctrl", "faketime", "prlimit"];
const seed = process.env.HANSARD_FUZZ_SEED || String(randomInt(2 ** 31));
const args = process.argv.slice(2);

await ensureDependencies(repositoryRoot, say);
const { ensurePostgres } = await import("./postgres.mjs");
await ensurePostgres(repositoryRoot, say);
await ensureBuild(repositoryRoot, say);
await ensureTools();
say(`Seed ${seed}: HANSARD_FUZZ_SEED=${seed} HANSARD_FIRE_RUNS=${RUNS} npm run fire repeats it.`);

const folder = mkdtempSync(join(tmpdir(), "hansard-fire-"));
try {
  const parts = args.length > 0 ? 1 : PARTS;
  const telling = setInterval(() => say(`${readResults().length} runs done.`), PROGRESS_MS);
  const statuses = await Promise.all(Array.from({ length: parts }, (_, part) => runPart(part, parts)));
  clearInterval(telling);
  const results = readResults();
  const [{ renderFire }, { writeSection }] = await Promise.all(
    ["fire/fire-report.js", "support/document-section.js"].map(
      (file) => import(join(repositoryRoot, "dist/test", file)),
    ),
  );
  const section = renderFire(results, { seed, runs: RUNS });
  console.log(section);
  const isWhole = args.length === 0 && results.length >= WRITTEN_RUNS;
  if (isWhole) writeSection(join(repositoryRoot, "docs", "RELIABILITY.md"), { name: "fire", section });
  process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param {number} part
 * @param {number} parts
 */
async function runPart(part, parts) {
  const vitest = join(repositoryRoot, "node_modules", "vitest", "vitest.mjs");
  const { status, stdout, stderr } = await runCommand(
    process.execPath,
    [vitest, "run", "--project", "slow-fire", "dist/test/fire", ...args],
    {
      cwd: repositoryRoot,
      env: {
        HANSARD_FIRE_RUNS: String(RUNS),
        HANSARD_FIRE_PART: `${part}/${parts}`,
        HANSARD_FIRE_RESULTS: folder,
        HANSARD_FUZZ_SEED: seed,
      },
    },
  );
  if (status !== 0) say(`${stdout}${stderr}`);
  return status;
}

function readResults() {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** What cannot be installed here is reported as not run. */
async function ensureTools() {
  const missing = PROGRAMS.filter(
    (name) => !["/usr/bin", "/bin", "/usr/local/bin"].some((bin) => existsSync(join(bin, name))),
  );
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    say(`Missing: ${missing.join(", ")}. Install ${PACKAGES.join(", ")}; without them some faults are not run.`);
    return;
  }
  say(`Installing ${PACKAGES.join(", ")} with apt-get.`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await runCommand("apt-get", ["update"], { env });
  const { status, stderr } = await runCommand("apt-get", ["install", "-y", "--no-install-recommends", ...PACKAGES], {
    env,
  });
  if (status !== 0) say(`They could not be installed; some faults are not run.\n${stderr}`);
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}
