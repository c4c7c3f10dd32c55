// What stands below a page that is not the last: how much was shown, and how to go on.
import type { Pane } from "./terminal.js";

export function tellMore({
  shown,
  cursor,
  pane,
}: {
  readonly shown: number;
  readonly cursor: string | null;
  readonly pane: Pane;
}): void {
  if (cursor === null) return;
  const option = `--cursor ${cursor}`;
  // A cursor that breaks over two lines cannot be copied, so that on a narrow terminal it has one of its own.
  const next = option.length <= (pane.columns ?? option.length) ? `add\n${option}` : `add --cursor\n${cursor}`;
  const [said, typed] = next.split("\n");
  pane.write(`${pane.colours.dim(`${shown} shown; for more ${said}`)}\n${typed}\n`);
}
