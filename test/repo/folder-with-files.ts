// A folder that exists for one test, with the files that test needs.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { folderOfTest } from "../support/temporary-folder.js";

export function folderWithFiles(contentsByFile: { readonly [file: string]: string }): string {
  const folder = folderOfTest();
  for (const [file, contents] of Object.entries(contentsByFile)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), contents);
  }
  return folder;
}
