// `npm run screenshots`: every view of the page with the sample data of `hansard demo`, in both themes and two widths; with
// `-- --readme` those of the README.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launchChromium } from "./chromium.mjs";
import { repositoryRoot } from "./repository-root.mjs";

const MARCH = encodeURIComponent("atlas/invoices-march");

/** @type {{ readonly [name: string]: string }} */
const views = {
  home: "/ui/",
  sessions: "/ui/sessions",
  session: `/ui/sessions/${MARCH}`,
  find: `/ui/sessions/${MARCH}?q=ledger`,
  context: `/ui/entries/demo-answer-wrong`,
  costs: "/ui/costs",
  search: "/ui/search?q=rounding",
  entries: "/ui/entries?range=7d",
  entry: "/ui/entries/demo-decision-rounding",
  review: "/ui/memory",
  memories: "/ui/memory?tab=active",
  memory: "/ui/memory/demo-memory-ledger",
  insights: "/ui/insights",
  system: "/ui/system",
};

/** What the README shows, small enough to be kept with it. */
const readme = { views: ["session", "insights", "memory"], widths: { "": { width: 1100, height: 740 } } };
const widths = { "-narrow": { width: 390, height: 844 }, "-wide": { width: 1280, height: 900 } };

const isReadme = process.argv.includes("--readme");
/** `npm run screenshots -- session search` draws these alone, `--whole` all there is to scroll, `--out=FOLDER` elsewhere. */
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const wanted = isReadme ? readme.views : named;
const out = process.argv.find((argument) => argument.startsWith("--out="))?.slice(6);
const folder = resolve(out ?? (isReadme ? join(repositoryRoot, "docs", "images") : "screenshots"));
mkdirSync(folder, { recursive: true });

const [{ openRecorder }, { serve }, { loadDemo }, { inspectApart }] = await Promise.all(
  ["index.js", "surfaces/http/serve.js", "recorder/demo.js", "surfaces/cli/inspect-apart.js"].map(
    (file) => import(join(repositoryRoot, "dist", "src", file)),
  ),
);
const recorder = await openRecorder({ data: "memory:" });
await loadDemo(recorder, Date.now());
const inspect = () => inspectApart({ data: "memory:" });
const serving = await serve({ recorder, version: "demo", port: 0, inspect });
const browser = await launchChromium();
try {
  for (const [width, viewport] of Object.entries(isReadme ? readme.widths : widths)) {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      const page = await browser.newPage({ viewport, colorScheme });
      for (const [name, address] of Object.entries(views)) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        await page.goto(`${serving.address}${address}`);
        await page.waitForTimeout(1_200);
        await page.screenshot({
          path: join(folder, `${name}${width}-${colorScheme}.png`),
          fullPage: process.argv.includes("--whole"),
        });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
  await serving.close();
}
