// How figures are shown: a table in the terminal, and the document that states them.
import { type Figure, isMet } from "./figures.js";

export interface Results {
  readonly node: string;
  readonly cores: number;
  readonly rounds: number;
  readonly suites: readonly SuiteResult[];
}

interface SuiteResult {
  readonly name: string;
  readonly about: string;
  readonly measured_at: string;
  readonly figures: readonly Figure[];
}

export function renderTable(suites: Results["suites"]): string {
  const lines: string[] = [];
  for (const suite of suites) {
    lines.push("", `${suite.name}: ${suite.about}`);
    const width = Math.max(...suite.figures.map((figure) => figure.name.length));
    for (const figure of suite.figures) {
      lines.push(`  ${figure.name.padEnd(width)}  ${shown(figure).padStart(16)}  ${verdict(figure)}`.trimEnd());
    }
  }
  return `${lines.join("\n")}\n`;
}

export function renderMarkdown(results: Results): string {
  const lines = [
    "# Benchmarks",
    "",
    "Written by `npm run bench`. Every comparison is made within one run on one machine, round by round in turn, and the",
    "median of the rounds counts. The ratios are what matters: absolute figures depend on the machine and its disk.",
    "",
    `Measured with Node ${results.node} on ${results.cores} cores, ${results.rounds} rounds.`,
  ];
  for (const suite of results.suites) {
    lines.push(
      "",
      `## ${suite.name}`,
      "",
      `${capitalised(suite.about)}. Measured ${suite.measured_at.slice(0, 10)}.`,
      "",
      "| | measured | target |",
      "| --- | ---: | --- |",
    );
    for (const figure of suite.figures) lines.push(`| ${figure.name} | ${shown(figure)} | ${verdict(figure)} |`);
  }
  return `${lines.join("\n")}\n`;
}

function shown(figure: Figure): string {
  const digits = figure.value >= 1_000 ? 0 : figure.value >= 10 ? 1 : 2;
  return `${figure.value.toLocaleString("en-US", { maximumFractionDigits: digits })} ${figure.unit}`;
}

function verdict(figure: Figure): string {
  if (figure.target === undefined) return "";
  const bound = "at_least" in figure.target ? `at least ${figure.target.at_least}` : `at most ${figure.target.at_most}`;
  return isMet(figure) ? `${bound}: met` : `${bound}: NOT MET`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
