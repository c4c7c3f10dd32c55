// A program of its own that reads one file and says what that took, so its memory is nobody else's: with JSON.parse
// alone, or into a store.
import { existsSync, readFileSync } from "node:fs";
import { openRecorder } from "../src/index.js";

const [file = "", data = ""] = process.argv.slice(2);

/** As quick as it gets: a document at once, lines one by one. */
async function parse(): Promise<void> {
  const bytes = readFileSync(file);
  if (file.endsWith(".json")) JSON.parse(bytes.toString("utf8"));
  else {
    for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
      JSON.parse(bytes.toString("utf8", start, end));
    }
  }
}

async function measured(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

let ms: number;
let added = 0;
if (data === "") ms = await measured(parse);
else {
  const recorder = await openRecorder({ data });
  ms = await measured(async () => {
    const report = await recorder.importFiles(file);
    if (report.rejected.length > 0) throw new Error(`${file}: ${report.rejected[0]?.reason}`);
    added = report.added;
  });
  await recorder.close();
}
process.stdout.write(JSON.stringify({ ms, added, peak_mb: peakKb() / 1_024 }));

/** What Linux calls the peak of a process begins with that of the one that started it; that of its memory does not. */
function peakKb(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}
