// Files of real programs, where they are present: counted by a program of its own, imported twice, and damaged ones taken
// for what they are. Where there are none, only the hand-written fixtures are counted.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importData } from "../../scripts/import-data.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import type { Entry, ImportedFile } from "../../src/index.js";
import { fixturePath, sharedData } from "../support/fixtures.js";
import { importBench } from "../support/import-target.js";
import { expectLegalHistory, tokensOf } from "../support/transcripts.js";

const counter = join(repositoryRoot, "test", "import", "independent-count.py");
const counted = [
  ...["claude-code", "codex", "pi", "gemini-cli", "copilot-cli", "qwen-code", "cline", "roo-code"],
  ...["kiro-cli", "goose", "kimi-cli", "kimi-code", "droid", "aider"],
];
const folders = [fixturePath("import"), sharedData()].filter((folder) => folder !== undefined);

/** The format of each file that is recognised, each imported into a record of its own. */
async function* importedAlone(
  folder: string,
): AsyncGenerator<{ readonly file: ImportedFile; readonly entries: readonly Entry[] }> {
  for (const path of filesIn(folder)) {
    const bench = importBench();
    const files: ImportedFile[] = [];
    await bench.import(path, { onFile: (found) => void files.push(found) });
    const [file] = files;
    if (file === undefined || file.format === "") continue;
    const entries = await bench.entries();
    const sessions = new Set(entries.filter(({ kind }) => kind !== "interaction").map(({ session_id }) => session_id));
    for (const session_id of sessions) if (session_id !== "") await expectLegalHistory(bench.recorder, session_id);
    expect({ path, again: (await bench.import(path)).added }).toEqual({ path, again: 0 });
    yield { file, entries };
  }
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !path.includes(`${join(folder, "otlp")}/`))
    .sort();
}

function countsOf(entries: readonly Entry[]): { readonly [name: string]: number } {
  const { input_tokens = 0, output_tokens = 0 } = tokensOf(entries);
  const of = (role: string): number =>
    entries.filter((entry) => entry.kind === "message" && entry.role === role && entry.injected === "").length;
  return {
    user: of("user"),
    assistant: of("assistant"),
    tool_calls: entries.filter(({ kind }) => kind === "tool_call").length,
    errors: entries.filter(({ kind }) => kind === "error").length,
    input_tokens,
    output_tokens,
  };
}

test.each(folders)(
  "files under %s agree with an independent count, add nothing twice, and have legal histories",
  async (folder) => {
    const imported: { readonly file: ImportedFile; readonly counts: { readonly [name: string]: number } }[] = [];
    for await (const { file, entries } of importedAlone(folder)) {
      if (counted.includes(file.format) && /\.(?:jsonl?|md)$/.test(file.file))
        imported.push({ file, counts: countsOf(entries) });
    }
    const read = imported
      .filter(({ file }) => file.format !== "gemini-cli" || file.file.endsWith(".json"))
      .filter(({ file }) => !["claude-code", "qwen-code"].includes(file.format) || file.file.endsWith(".jsonl"));
    const output = execFileSync("python3", [counter, ...read.map(({ file }) => `${file.format}=${file.file}`)], {
      encoding: "utf8",
    });
    const expected = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly [name: string]: number });
    const ours = read.map(({ file, counts }, index) => ({ file: file.file, ...pick(counts, expected[index] ?? {}) }));
    expect(ours).toEqual(read.map(({ file }, index) => ({ file: file.file, ...expected[index] })));
  },
  300_000,
);

test.each(folders)(
  "calls under %s are counted once, over all files together",
  async (folder) => {
    const bench = importBench();
    const files: ImportedFile[] = [];
    await bench.import(filesIn(folder), { onFile: (found) => void files.push(found) });
    const named = files
      .filter(({ file }) => /\.(?:jsonl|response\.json)$/.test(file))
      .map(({ file, format }) => `${format}=${file}`);
    const expected = execFileSync("python3", [counter, "usage", ...named], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly client: string; readonly [name: string]: unknown });
    const { rows } = await bench.recorder.usage({ by: ["client"] });
    for (const counts of expected) {
      const row = rows.find(({ client }) => client === counts.client);
      expect(pick({ ...row } as { [name: string]: number }, counts)).toEqual(counts);
      expect(row?.calls).toBeGreaterThan(0);
    }
  },
  120_000,
);

function pick(counts: { readonly [name: string]: number }, like: object): object {
  return Object.fromEntries(Object.keys(like).map((name) => [name, counts[name]]));
}

test("a folder of sources is imported and summed up by source, and again adds nothing", async () => {
  const summaries = await importData(fixturePath("import"));
  expect(summaries.map(({ source, again, rejected }) => ({ source, again, rejected }))).toEqual(
    readdirSync(fixturePath("import"))
      .sort()
      .map((source) => ({ source, again: 0, rejected: 0 })),
  );
  expect(summaries.find(({ source }) => source === "codex")).toMatchObject({
    files: 1,
    sessions: 1,
    messages: { user: 1, assistant: 3 },
    tool_calls: 2,
    errors: 1,
    tokens: 492,
    first: "2026-05-04T08:00:01.100Z",
    last: "2026-05-04T08:00:10.000Z",
  });
}, 60_000);

describe("damaged transcripts", () => {
  const folder = sharedData("bad", "derived");
  const names = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const expectations = folder === undefined ? {} : JSON.parse(readFileSync(join(folder, "EXPECT.json"), "utf8"));

  test("yield what is intact in them, and report what is not", async () => {
    for (const name of names) {
      const { importable_records, bad_lines } = expectations[name.replace(".jsonl", "")];
      const bench = importBench();
      const report = await bench.import(join(folder as string, name));
      expect({ name, bad: report.rejected.length }).toEqual({ name, bad: bad_lines });
      const entries = await bench.entries();
      // Lines of one answer are one message, which names them all; results name theirs.
      const lines = new Set(
        entries.flatMap(({ id, kind, extra }) => [
          ...((extra.native_ids as readonly string[] | undefined) ?? []),
          ...(typeof extra.uuid === "string" ? [extra.uuid] : []),
          ...(kind === "raw" || (kind === "message" && extra.native_ids === undefined)
            ? [id.replace("claude-code:", "")]
            : []),
        ]),
      );
      expect({ name, lines: lines.size }).toEqual({ name, lines: importable_records });
    }
  });
});
