// docs/ANCESTORS.md counts its points rightly, and every test that it names as proof is there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";

/** What stands in place of a test that is still being written; the summary must say how many there are. */
const PENDING = "(pending)";

interface Point {
  readonly line: number;
  readonly cells: readonly string[];
}

const document = readFileSync(join(repositoryRoot, "docs", "ANCESTORS.md"), "utf8");

test("docs/ANCESTORS.md compares some 140 points or more, and its summary counts them", () => {
  expect(pointsOf(document).length).toBeGreaterThan(140);
  expect(problemsOf(document)).toEqual([]);
});

const right = [
  "**2 points: 1 the same, 0 better, 1 different for a reason.**",
  "| the ancestor | Hansard | verdict | proved by |",
  "| --- | --- | --- | --- |",
  '| counts | counts, too | same | `test/repo/ancestors.test.ts`: "its summary counts them" |',
  '| guesses | refuses, because a guess may be wrong | different | `test/repo/ancestors.test.ts`: "wrong in any way" |',
].join("\n");

test.each<[string, string, string, string]>([
  ["a test that is not there", "its summary counts them", "no such test", "4: test/repo/ancestors.test.ts has 0 tests"],
  ["a test's name of which several are", "its summary counts them", "a", "4: test/repo/ancestors.test.ts has "],
  [
    "a file that is not there",
    'repo/ancestors.test.ts`: "its',
    'repo/none.test.ts`: "its',
    "4: test/repo/none.test.ts",
  ],
  [
    "a file that holds no tests",
    'repo/ancestors.test.ts`: "its',
    'repo/readme-examples.ts`: "its',
    "4: no test is named",
  ],
  [
    "a point without a test",
    '| `test/repo/ancestors.test.ts`: "its summary counts them" |',
    "| |",
    "4: no test is named",
  ],
  ["a verdict that is none", "| same |", "| worse |", '4: the verdict "worse"'],
  ["a wrong count", "1 the same, 0 better", "0 the same, 1 better", "the summary should say"],
  ["no summary", "**2 points", "2 points", "the summary should say"],
  ["a row of too few cells", "| counts | counts, too |", "| counts |", "4: 3 cells"],
  ["an empty cell", "| counts | counts, too |", "| counts | |", "4: an empty cell"],
  [
    "a test to come that is not announced",
    '`test/repo/ancestors.test.ts`: "wrong in any way"',
    PENDING,
    "the summary should say",
  ],
])("a document that is wrong in any way is found out: %s", (_, from, to, problem) => {
  expect(problemsOf(right)).toEqual([]);
  expect(right).toContain(from);
  expect(problemsOf(right.replace(from, () => to)).join("\n")).toContain(problem);
});

/** The rows of all tables whose last column is the proof, with their lines. */
function pointsOf(markdown: string): readonly Point[] {
  const lines = markdown.split("\n").map((text, index) => ({ text, line: index + 1 }));
  const rows = lines.filter(({ text }) => text.startsWith("| "));
  return rows
    .filter(({ text }) => !text.startsWith("| --- ") && !text.endsWith("| proved by |"))
    .map(({ text, line }) => ({
      line,
      cells: text
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    }));
}

function problemsOf(markdown: string): readonly string[] {
  const points = pointsOf(markdown);
  const problems = points.flatMap(problemsOfPoint);
  const summary = summaryOf(points);
  return markdown.includes(summary) ? problems : [...problems, `the summary should say: ${summary}`];
}

function problemsOfPoint({ line, cells }: Point): readonly string[] {
  if (cells.length !== 4) return [`${line}: ${cells.length} cells where 4 are needed`];
  const [ancestor, hansard, verdict, proof = ""] = cells;
  const problems: string[] = [];
  if (ancestor === "" || hansard === "") problems.push(`${line}: an empty cell`);
  if (!["same", "better", "different"].includes(verdict ?? "")) problems.push(`${line}: the verdict "${verdict}"`);
  if (proof === PENDING) return problems;
  const named = [...proof.matchAll(/`([^`]+\.test\.ts)`: "([^"]+)"/g)];
  if (named.length === 0) problems.push(`${line}: no test is named`);
  for (const [, file = "", name = ""] of named) {
    const found = testNamesOf(file).filter((one) => one.includes(name)).length;
    if (found !== 1) problems.push(`${line}: ${file} has ${found} tests with a name that contains "${name}"`);
  }
  return problems;
}

function summaryOf(points: readonly Point[]): string {
  const count = (of: (cells: readonly string[]) => boolean): number => points.filter(({ cells }) => of(cells)).length;
  const [same, better, different] = ["same", "better", "different"].map((one) => count((cells) => cells[2] === one));
  const pending = count((cells) => cells[3] === PENDING);
  const counts = `${points.length} points: ${same} the same, ${better} better, ${different} different for a reason`;
  return `**${counts}${pending === 0 ? "" : `; ${pending} without their test yet`}.**`;
}

const namesByFile = new Map<string, readonly string[]>();

/** The names of a file's tests: the text that `test(` begins with, or the call behind the rows of `test.each`. */
function testNamesOf(file: string): readonly string[] {
  const known = namesByFile.get(file);
  if (known !== undefined) return known;
  const path = join(repositoryRoot, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const calls = text.matchAll(/(?:\b(?:test|property)\(|\)\()\s*(?:"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)\s*,/g);
  const names = Array.from(calls, ([, quoted, template]) => (quoted ?? template ?? "").replaceAll('\\"', '"'));
  namesByFile.set(file, names);
  return names;
}
