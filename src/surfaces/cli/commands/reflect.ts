// `hansard reflect`: the report as text with plots, as Markdown if it is piped, or as the document of GET /reflection.
import type { ReflectionReport } from "../../../index.js";
import { operations } from "../../../operations/index.js";
import { operationCommand } from "../operation-command.js";
import { plotsText, reflectionText } from "../text/reflection-text.js";
import { cleanText } from "../text/terminal.js";

/** What a person looks at who asks for nothing in particular, and as many entries of it as a report takes. */
const DEFAULT = { since: "7d", limit: "100000" };

export const reflectCommand = operationCommand<ReflectionReport>(
  [operations.reflect],
  async (report, out, { invocation, recorder }) => {
    const isOlder = report.reviewed === 0 && isDefault(invocation) && (await recorder.count()).entries > 0;
    const more = isOlder ? NOTHING_LATELY : "";
    if (!out.isTerminal) return `${cleanText(report.markdown)}\n${more}`;
    return reflectionText(report, out) + (await plotsText(report.trend.timeline, out)) + more;
  },
  { ask: (invocation) => (isDefault(invocation) ? DEFAULT : {}) },
);

const NOTHING_LATELY = "Only the last 7 days were looked at. --since 30d looks further back.\n";

function isDefault({ options }: { readonly options: { readonly [name: string]: unknown } }): boolean {
  return [options.since, options.until, options.limit].every((given) => given === undefined);
}
