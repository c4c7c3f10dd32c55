// Imports everything in a folder of other programs' files into a store of its own, twice, and prints what came of it by
// source: `npm run import-data -- [FOLDER]`. The sources are the folders of the folder, which is ../shared/data by default.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot as root } from "./repository-root.mjs";

/** @typedef {import("../src/index.js").Entry} Entry */
/**
 * @typedef {object} SourceSummary
 * @property {string} source
 * @property {number} files
 * @property {number} sessions
 * @property {{ [role: string]: number }} messages
 * @property {number} tool_calls
 * @property {number} errors
 * @property {number} tokens
 * @property {string} first
 * @property {string} last
 * @property {number} rejected
 * @property {number} again What importing a second time added.
 */

/**
 * @param {string} folder
 * @returns {Promise<SourceSummary[]>}
 */
export async function importData(folder) {
  const names = readdirSync(folder, { withFileTypes: true }).filter((item) => item.isDirectory());
  const summaries = [];
  for (const { name } of names) summaries.push(await importSource(join(folder, name)));
  return summaries;
}

/**
 * @param {string} folder
 * @returns {Promise<SourceSummary>}
 */
async function importSource(folder) {
  /** @type {typeof import("../src/index.js")} */
  const { openRecorder } = await import(pathToFileURL(join(root, "dist/bundle/index.js")).href);
  const data = mkdtempSync(join(tmpdir(), "hansard-import-"));
  const recorder = await openRecorder({ data });
  try {
    const { files, sessions, rejected } = await recorder.importFiles([folder], { timezone: "UTC" });
    const { added: again } = await recorder.importFiles([folder], { timezone: "UTC" });
    const summary = { messages: {}, tool_calls: 0, errors: 0, tokens: 0, first: "", last: "" };
    for await (const line of recorder.exportEntries()) count(summary, JSON.parse(line));
    return { source: basename(folder), files, sessions, ...summary, rejected: rejected.length, again };
  } finally {
    await recorder.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * @param {Pick<SourceSummary, "messages" | "tool_calls" | "errors" | "tokens" | "first" | "last">} summary
 * @param {Entry} entry
 */
function count(summary, entry) {
  const { kind, created_at: at } = entry;
  if (kind === "message" && !entry.injected) summary.messages[entry.role] = (summary.messages[entry.role] ?? 0) + 1;
  else if (kind === "tool_call") summary.tool_calls += 1;
  else if (kind === "error") summary.errors += 1;
  else return;
  const usage = /** @type {{ [name: string]: number } | undefined} */ (entry.extra?.usage);
  summary.tokens += (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  if (summary.first === "" || at < summary.first) summary.first = at;
  if (at > summary.last) summary.last = at;
}

/** @param {{ readonly [role: string]: number }} messages */
function said(messages) {
  const roles = Object.keys(messages).sort();
  return roles.map((role) => `${role} ${messages[role]}`).join(", ");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2] ?? join(root, "..", "shared", "data");
  if (!existsSync(folder)) process.stdout.write(`There is nothing at ${folder}.\n`);
  else
    console.table((await importData(folder)).map(({ messages, ...rest }) => ({ ...rest, messages: said(messages) })));
}
