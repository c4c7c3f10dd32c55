// Memories in a narrow terminal.
import pico from "picocolors";
import { expect, test } from "vitest";
import type { MemorySummary } from "../../../index.js";
import { memoryTable } from "./memory-text.js";

test("the id of a memory is shown in full at 80 columns, for copying", () => {
  const id = "01a1ecd1-bf87-7737-8c43-d54d41a42195";
  const memory = { id, status: "candidate", type: "preference", project: "agent-workflows-monorepo", content: "Tabs" };
  const pane = { isTerminal: true, columns: 80, colours: pico.createColors(false), write: () => undefined };
  expect(memoryTable([memory as unknown as MemorySummary], pane)).toContain(id);
});
