// Checks a file that `hansard export` wrote against its own chain, without a store.
import { type ExportVerification, verifyExport } from "./export-check.js";
import { EXPORTED_LEVELS_MAX, readRecords } from "./lines.js";
import { isReadFailure, openFile, reasonOf } from "./source-files.js";

export type { ExportVerification } from "./export-check.js";

/** What is wrong with the file itself comes back as a reason; `-` is standard input. */
export async function verifyFile(path: string): Promise<ExportVerification | { readonly unreadable: string }> {
  const opened = await openFile(path, process.stdin as AsyncIterable<Buffer>);
  if ("reason" in opened) return { unreadable: opened.reason };
  try {
    return await verifyExport(readRecords(opened.chunks(), EXPORTED_LEVELS_MAX), { skips_bad_lines: false });
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return { unreadable: reasonOf(error) };
  } finally {
    await opened.close();
  }
}
