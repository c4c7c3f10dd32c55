// `hansard reflect`: the report as text with plots, as Markdown if it is piped, or as the document of GET /reflection.
import type { ReflectionReport } from "../../../index.js";
import { operations } from "../../../operations/index.js";
import { operationCommand } from "../operation-command.js";
import { plotsText, reflectionText } from "../text/reflection-text.js";
import { cleanText } from "../text/terminal.js";

export const reflectCommand = operationCommand<ReflectionReport>([operations.reflect], async (report, out) =>
  out.isTerminal
    ? reflectionText(report, out) + (await plotsText(report.trend.timeline, out))
    : `${cleanText(report.markdown)}\n`,
);
