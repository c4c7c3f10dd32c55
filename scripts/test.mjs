// `npm test`: gets what the tests need, then runs every check and every test that is not slow; `npm run test:slow` runs the
// slow ones and those with real coding agents, `npm run test:agents` these alone, and `npm test -- log` those that match.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuild } from "./compile.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";
import { runCommand } from "./run-command.mjs";
import { Steps } from "./steps.mjs";

const mode = ["--slow", "--agents"].find((name) => name === process.argv[2]);
const args = process.argv.slice(mode === undefined ? 2 : 3);
const everything = args.length === 0;
/** Vitest's projects whose names begin with `slow` hold what takes long. */
const projects = mode === "--slow" ? "slow*" : mode === "--agents" ? "slow-agents" : "!slow*";
const vitestArgs = everything ? ["--project", projects] : args;
const steps = new Steps();
const counts = { passed: 0, failed: 0, skipped: 0 };

if (await steps.run("dependencies", () => ensureDependencies(repositoryRoot, steps.say))) {
  // Modules that need an installed package load only now.
  const { ensureChromium } = await import("./chromium.mjs");
  await steps.run("browser", () => ensureChromium(repositoryRoot, steps.say));
  const { ensurePostgres } = await import("./postgres.mjs");
  await steps.run("database", () => ensurePostgres(repositoryRoot, steps.say));
  if (mode === "--agents" || (mode === "--slow" && everything)) await findAgents();
  if (everything && mode === undefined) {
    const { checks } = await import("./checks.mjs");
    for (const { name, check } of checks) await steps.run(name, () => check(repositoryRoot));
  }
  if (await steps.run("build", () => ensureBuild(repositoryRoot, steps.say))) await steps.run("tests", runVitest);
}

const failed = counts.failed + steps.failed.filter((name) => name !== "tests" || counts.failed === 0).length;
if (steps.failed.length > 0) console.log(`\nFailed: ${steps.failed.join(", ")}`);
console.log(`${counts.passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Vitest runs their tests only where they are installed. Among the slow ones they run where the registry has them. */
async function findAgents() {
  const { ensureAgents } = await import("./agents.mjs");
  /** @type {string | undefined} */
  let missing;
  const isSound = await steps.run("coding agents", async () => {
    missing = await ensureAgents(repositoryRoot, steps.say);
    if (missing === undefined) return;
    if (mode === "--agents") throw new Error(missing);
    steps.say(`${missing} Their tests do not run.`);
  });
  if (isSound && missing === undefined) process.env.HANSARD_TEST_AGENTS = "1";
}

async function runVitest() {
  const folder = mkdtempSync(join(tmpdir(), "hansard-test-"));
  const file = join(folder, "counts.json");
  try {
    const vitest = join(repositoryRoot, "node_modules", "vitest", "vitest.mjs");
    const { status } = await runCommand(process.execPath, [vitest, "run", ...vitestArgs], {
      cwd: repositoryRoot,
      env: { HANSARD_TEST_COUNTS: file },
      show: true,
    });
    if (existsSync(file)) Object.assign(counts, JSON.parse(readFileSync(file, "utf8")));
    if (status !== 0) throw new Error(`Vitest ended with status ${status}.`);
    // A test that did not run proves nothing, and a green line would hide it. A name filter (-t) skips on purpose.
    if (everything && counts.skipped > 0) throw new Error(`${counts.skipped} tests were skipped.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
