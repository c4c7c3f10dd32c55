// `npm run check`: the checks that need neither a build nor a test run.
import { ensureDependencies } from "./dependencies.mjs";
import { repositoryRoot } from "./repository-root.mjs";
import { Steps } from "./steps.mjs";

const steps = new Steps();
if (await steps.run("dependencies", () => ensureDependencies(repositoryRoot, steps.say))) {
  // The checks need installed packages, so they load only now.
  const { checks } = await import("./checks.mjs");
  for (const { name, check } of checks) await steps.run(name, () => check(repositoryRoot));
}
process.exitCode = steps.failed.length === 0 ? 0 : 1;
