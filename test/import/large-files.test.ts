// Large files are read in bounded memory, by lines and as one document: in a process of its own, whose peak memory is its own.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileName, writeTranscript } from "../../bench/transcript-files.js";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { folderOfTest } from "../support/temporary-folder.js";

const child = join(repositoryRoot, "dist", "bench", "import-child.js");
/** Twice this is what a program takes that holds the file's text, and more than it may take for a file of any size. */
const BYTES = 120 * 1024 * 1024;

test.each(["codex", "chatgpt"] as const)(
  "a large file of %s is read within 300 MB",
  (format) => {
    const folder = folderOfTest();
    const file = join(folder, fileName(format));
    writeTranscript(file, format, BYTES);
    const told = execFileSync(process.execPath, [child, file, join(folder, "store")], { encoding: "utf8" });
    const { added, peak_mb } = JSON.parse(told) as { readonly added: number; readonly peak_mb: number };
    expect(added).toBeGreaterThan(10_000);
    expect(peak_mb).toBeLessThan(300);
  },
  180_000,
);
