// Texts that two programs index and merge at the same time, while both are killed again and again: nothing is lost, nothing
// is there twice, and what was erased in between leaves no trace.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import type { SqliteIndex } from "../../src/engines/sqlite/index.js";
import { Statements } from "../../src/engines/sqlite/statements.js";
import { isMerged, listSegments } from "../../src/engines/sqlite/text/segments.js";
import { SLICES } from "../../src/engines/sqlite/text/signature.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { fill } from "../support/fill-index.js";
import { fuzzSeed, fuzzTimeoutMs, runsOf } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { slicesOfTexts, textBlocks } from "../support/text-blocks.js";
import { advance, ENTRIES, openMerged, textsAt } from "./merged-index.js";

const KILLS = 6;

test(
  `everything is found after many kills, and what was erased is not (seed ${fuzzSeed})`,
  async () => {
    const path = join(folderOfTest(), "index.db");
    const index = openMerged(path);
    onTestFinished(() => index.close());
    await fill(index, { rows: Array.from({ length: ENTRIES }, (_, at) => rowAt(at + 1)), through: ENTRIES });
    const random = seededRandom(fuzzSeed);
    const erased = new Set<number>();
    for (let kill = 0; kill < runsOf(KILLS); kill += 1) {
      const programs = [await started(path), await started(path)];
      await sleep(random() * 150);
      const some = [1, 2, 3].map(() => 1 + Math.floor(random() * ENTRIES));
      for (const position of some) erased.add(position);
      await fill(index, { rows: [], erased: some, through: ENTRIES + kill + 1 });
      await sleep(random() * 50);
      for (const program of programs) await program.kill();
      await expectFound(index, erased, 1 + Math.floor(random() * ENTRIES));
    }
    while (await advance(index));
    const { segments, blocks } = contentsOf(path);
    expect(segments.filter((segment) => !isMerged(segment)).length).toBeLessThan(20);
    expect(segments.some(isMerged)).toBe(true);
    for (const [nth, segment] of segments.entries())
      expect(segment.after).toBeGreaterThanOrEqual(segments[nth - 1]?.through ?? 0);
    for (let position = 1; position <= ENTRIES; position += 7) await expectFound(index, erased, position);
    for (const { low, high, bits } of blocks) {
      if (bits.size === SLICES) continue;
      const live = Array.from({ length: high - low + 1 }, (_, at) => low + at).filter(
        (position) => !erased.has(position),
      );
      const allowed = slicesOfTexts(live.flatMap((position) => textsAt(position)));
      expect([...bits].filter((slice) => !allowed.has(slice))).toEqual([]);
    }
  },
  fuzzTimeoutMs,
);

async function started(path: string): Promise<{ kill(): Promise<void> }> {
  const file = fileURLToPath(new URL("./merger.js", import.meta.url));
  const child = spawn(process.execPath, [file, path], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), ended]);
  return {
    kill: () => {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

async function expectFound(index: SqliteIndex, erased: ReadonlySet<number>, position: number): Promise<void> {
  const found = await index.candidates({ filter: {}, needles: [`unique-${position}- `], limit: ENTRIES });
  const positions = found.map((key) => key.position);
  expect(positions.includes(position)).toBe(!erased.has(position));
  expect(positions.filter((one) => erased.has(one))).toEqual([]);
  expect(new Set(positions).size).toBe(positions.length);
  const all = await index.candidates({ filter: {}, needles: ["shared"], limit: ENTRIES });
  expect(all).toHaveLength(ENTRIES - erased.size);
}

function contentsOf(path: string) {
  const db = new Database(path, { read_only: true });
  try {
    const sql = new Statements(db);
    return { segments: listSegments(sql), blocks: textBlocks(sql) };
  } finally {
    db.close();
  }
}

function rowAt(position: number) {
  const labels = { session_id: "s", project: "", client: "" };
  return { position, kind: "error", created_ms: position, ...labels, references: [] };
}
