// Facts about one thing, a line each: a label, and what there is to say, wrapped beside it.
import { wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

export type Fact = readonly [label: string, text: string];

const INDENT = "  ";

export function factsText(facts: readonly Fact[], pane: Pane): string {
  const labelWidth = Math.max(...facts.map(([label]) => label.length)) + 2;
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT.length - labelWidth;
  const lines = facts.flatMap(([label, text]) =>
    wrapText(cleanLine(text, Number.MAX_SAFE_INTEGER), width).map(
      (line, row) => `${INDENT}${pane.colours.dim((row === 0 ? label : "").padEnd(labelWidth))}${line}\n`,
    ),
  );
  return lines.join("");
}
