// How fast transcripts come in, against JSON.parse over the same file, and how much memory that takes.
import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";
import { fileName, type TranscriptFormat, transcriptFormats, writeTranscript } from "./transcript-files.js";

const FILE_BYTES = 100 * 1024 * 1024;
const LARGE_BYTES = 1024 * 1024 * 1024;
const MB = 1024 * 1024;
const child = fileURLToPath(new URL("./import-child.js", import.meta.url));

interface Reading {
  readonly ms: number;
  readonly peak_mb: number;
}

export const importing: Suite = {
  name: "import",
  about:
    "transcripts into an empty store, against `JSON.parse` of the same lines or document, each in a process of its own",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const figures: Measured[] = [];
    for (const format of transcriptFormats) {
      const file = join(folder, fileName(format));
      writeTranscript(file, format, FILE_BYTES * scale);
      figures.push(...rates(format, file, rounds));
      writeTranscript(file, format, LARGE_BYTES * scale);
      const { peak_mb } = read(file, join(folder, "store"));
      figures.push({
        name: `${format}, peak of ${sizeOf(file)} MB`,
        value: peak_mb,
        unit: "MB",
        target: { at_most: 300 },
      });
      rmSync(file);
    }
    return figures;
  },
};

function rates(format: TranscriptFormat, file: string, rounds: number): readonly Measured[] {
  const parsed: number[] = [];
  const imported: number[] = [];
  const peaks: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    parsed.push(read(file).ms);
    const { ms, peak_mb } = read(file, join(file, "..", "store"));
    imported.push(ms);
    peaks.push(peak_mb);
  }
  const size = sizeOf(file);
  const rate = (times: readonly number[]): number => size / (median(times) / 1_000);
  return [
    { name: `${format}, JSON.parse`, value: rate(parsed), unit: "MB/s" },
    { name: `${format}, import`, value: rate(imported), unit: "MB/s" },
    {
      name: `${format}, import ÷ JSON.parse`,
      of: [`${format}, import`, `${format}, JSON.parse`],
      target: { at_least: 0.25 },
    },
    { name: `${format}, peak of ${size} MB`, value: median(peaks), unit: "MB", target: { at_most: 300 } },
  ];
}

function read(file: string, store?: string): Reading {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    child,
    file,
    ...(store === undefined ? [] : [store]),
  ]);
  if (store !== undefined) rmSync(store, { recursive: true, force: true });
  if (status !== 0) throw new Error(`${file} was not read: ${String(stderr)}`);
  return JSON.parse(String(stdout)) as Reading;
}

function sizeOf(file: string): number {
  return Math.round(statSync(file).size / MB);
}
