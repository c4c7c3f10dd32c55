// Files for imports: written into a folder of the test, read into a recorder in memory.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry, ImportOptions, ImportReport, Recorder } from "../../src/index.js";
import { memoryRecorder } from "./memory-recorder.js";
import { folderOfTest } from "./temporary-folder.js";

export interface ImportBench {
  readonly recorder: Recorder;
  readonly folder: string;
  /** Writes a file, objects as lines of JSON, and answers with its path. */
  write(name: string, content: string | Uint8Array | readonly unknown[]): string;
  import(paths: string | readonly string[], options?: ImportOptions): Promise<ImportReport>;
  /** All entries there are, in order. */
  entries(): Promise<readonly Entry[]>;
  export(options: Parameters<Recorder["exportEntries"]>[0]): Promise<string>;
}

export function importBench(recorder: Recorder = memoryRecorder().recorder): ImportBench {
  const folder = folderOfTest();
  return {
    recorder,
    folder,
    write(name, content) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      const isLines = Array.isArray(content);
      writeFileSync(path, isLines ? content.map((line) => `${toLine(line)}\n`).join("") : (content as string));
      return path;
    },
    import: (paths, options = {}) => recorder.importFiles(paths, { timezone: "UTC", ...options }),
    async entries() {
      const found: Entry[] = [];
      for (let position = 1; ; position += 1) {
        const entry = await recorder.getEntry(position);
        if (entry === undefined) return found;
        found.push(entry as Entry);
      }
    },
    async export(options) {
      let text = "";
      for await (const piece of recorder.exportEntries({ timezone: "UTC", ...options })) text += piece;
      return text;
    },
  };
}

function toLine(line: unknown): string {
  return typeof line === "string" ? line : JSON.stringify(line);
}

/** What a report says in numbers. */
export function counts({ files, sessions, added, existing, rejected }: ImportReport): object {
  return { files, sessions, added, existing, rejected: rejected.length };
}
