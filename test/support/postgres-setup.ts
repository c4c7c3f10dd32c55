// Vitest's global set-up: a folder in which the test files share one PostgreSQL, which ends with the run.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { PostgresServer, type ServerPlace } from "./postgres-server.js";

/** It is called for each project of the run; the first makes the folder, and removes it. */
const SHARED = "HANSARD_TEST_SHARED";

export function setup(project: TestProject): () => Promise<void> {
  const known = process.env[SHARED];
  const folder = known ?? mkdtempSync(join(tmpdir(), "hansard-shared-"));
  process.env[SHARED] = folder;
  project.provide("postgresFolder", folder);
  return async () => {
    if (known === undefined) await remove(folder);
  };
}

async function remove(folder: string): Promise<void> {
  const placeFile = join(folder, "place.json");
  if (existsSync(placeFile)) {
    const place = JSON.parse(readFileSync(placeFile, "utf8")) as Partial<ServerPlace>;
    if (place.folder !== undefined) await new PostgresServer(place as ServerPlace).destroy();
  }
  rmSync(folder, { recursive: true, force: true });
  delete process.env[SHARED];
}
