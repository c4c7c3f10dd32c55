// `hansard files`: which files tool calls read or changed, and in which sessions.
import { operations } from "../../../operations/index.js";
import type { FileList } from "../../../sessions/file-list.js";
import { localTime } from "../local-times.js";
import { operationCommand } from "../operation-command.js";
import { formatCount, renderTable, tellMore } from "../text/table.js";
import { cleanLine } from "../text/terminal.js";

const PATH_WIDTH_MAX = 60;

export const filesCommand = operationCommand<FileList>(
  [operations.files],
  ({ files }, pane) => {
    if (files.length === 0) return "No files.\n";
    return renderTable({
      columns: [
        { title: "LAST", paint: pane.colours.dim },
        { title: "FILE", widthMax: PATH_WIDTH_MAX, widthMin: 20 },
        { title: "READS", align: "right" },
        { title: "WRITES", align: "right" },
        { title: "SESSIONS" },
      ],
      rows: files.map((file) => [
        localTime(file.last_at, { year: "other" }),
        cleanLine(file.path, 1_000),
        formatCount(file.reads),
        formatCount(file.writes),
        sessionsText(file),
      ]),
      width: pane.columns,
      colours: pane.colours,
    });
  },
  {
    tell: ({ files, next_cursor }, { screen }) =>
      tellMore({ shown: files.length, cursor: next_cursor, pane: screen.err }),
  },
);

/** The last one by the beginning of its id and its title, and how many more. */
function sessionsText({ sessions, sessions_count }: FileList["files"][number]): string {
  const [last] = sessions;
  if (last === undefined) return "";
  const id = cleanLine(last.session_id.length > 20 ? last.session_id.slice(0, 8) : last.session_id);
  return `${sessions_count > 1 ? `${sessions_count}: ` : ""}${id} ${cleanLine(last.title)}`;
}
