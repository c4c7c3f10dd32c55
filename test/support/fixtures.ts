// Where the fixtures are, and optional data next to the repository.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.mjs";

export function fixturePath(...names: readonly string[]): string {
  return join(repositoryRoot, "test", "fixtures", ...names);
}

/** The JSON objects on the lines of a fixture. */
export function fixtureRecords(...names: readonly string[]): readonly object[] {
  return recordsOf(readFileSync(fixturePath(...names), "utf8"));
}

export function recordsOf(lines: string): readonly object[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A folder of shared data; undefined where it is not there. */
export function sharedData(...names: readonly string[]): string | undefined {
  const folder = join(repositoryRoot, "..", "shared", "data", ...names);
  return existsSync(folder) ? folder : undefined;
}
