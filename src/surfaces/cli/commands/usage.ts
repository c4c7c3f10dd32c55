// `hansard usage`: tokens and cost as a table with plots.

import { WallClock } from "../../../model/time.js";
import { operations } from "../../../operations/index.js";
import type { UsageReport } from "../../../usage/usage-report.js";
import { operationCommand } from "../operation-command.js";
import { usagePlot, usageText } from "../text/usage-text.js";

export const usageCommand = operationCommand<UsageReport>(
  [operations.usage],
  async (report, out) => usageText(report, out) + (out.isTerminal ? await usagePlot(report, out) : ""),
  {
    define: (command) =>
      command.option("--prices <file>", "prices in LiteLLM's format, instead of the built-in ones (HANSARD_PRICES)"),
    opening: ({ prices }) => ({ prices }),
    ask: ({ options }) => ({ timezone: options.timezone ?? new WallClock().zone }),
  },
);
