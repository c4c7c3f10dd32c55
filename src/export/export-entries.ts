// Export: the chosen entries in the chosen form, piece by piece, so that a log of any size passes through.
import { exportAtif } from "./atif.js";
import type { ExportQuery } from "./export-query.js";
import { exportHansard } from "./hansard.js";
import { exportMarkdown } from "./markdown.js";
import type { ExportParts } from "./selection.js";
import { exportNanobot, exportTimmy } from "./session-files.js";

export async function* exportEntries(parts: ExportParts, query: ExportQuery): AsyncGenerator<string> {
  // What arrives from here on is not part of it.
  const head = await parts.log.head();
  switch (query.format) {
    case "hansard":
      return yield* exportHansard(parts, { filter: query.filter, masked: query.masked, head });
    case "nanobot":
      return yield* exportNanobot(parts, { query, head });
    case "timmy":
      return yield* exportTimmy(parts, { query, head });
    case "markdown":
      return yield* exportMarkdown(parts, { query, head });
    case "atif":
      return yield* exportAtif(parts, { query, head });
    default:
      return query.format satisfies never;
  }
}
