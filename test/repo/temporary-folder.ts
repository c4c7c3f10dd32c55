// A folder that exists for one test, with the files that test needs.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export function temporaryFolder(contentsByFile: { readonly [file: string]: string } = {}): string {
  // The real path, because some systems reach their temporary folder through a link and Node resolves links.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hansard-repo-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [file, contents] of Object.entries(contentsByFile)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), contents);
  }
  return folder;
}
