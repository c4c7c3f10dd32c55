// The files that tool calls read or changed.
import { reject } from "../model/rejection.js";
import { normalisedPath } from "../model/touched-files.js";
import { cursorOf } from "../search/cursor.js";
import { sessionFiltersNamed } from "../search/filters.js";
import { isGiven, limited, listLimit, type Parameter } from "../search/parameters.js";
import { type FilesQuery, filePage } from "../sessions/file-list.js";
import { operation } from "./operation.js";

const path: Parameter<string, string | undefined> = {
  description: "Files whose path ends with this, by whole parts: `src/login.ts` or `login.ts`, not `gin.ts`.",
  schema: { type: "string" },
  example: "src/login.ts",
  flag: { name: "path", value: "end", says: "only files whose path ends with this, by whole parts" },
  refusals: ["field_invalid"],
  is_optional: true,
  parse: (value) => {
    if (!isGiven(value)) return undefined;
    const known = typeof value === "string" ? normalisedPath(value) : undefined;
    return (
      known?.replace(/^\//, "") ?? reject({ code: "field_invalid", field: "path", message: "path must be a path" })
    );
  },
};

const cursor = cursorOf<NonNullable<FilesQuery["after"]>>(2, (numbers) => {
  const [position, as_of] = numbers as readonly [number, number];
  return { after: { position, as_of } };
});

export const files = operation({
  name: "files",
  tag: "Sessions",
  summary: "List the files that tool calls read or changed, the last one first",
  description:
    "From the arguments of successful tool calls (`file_path`, `path`, `notebook_path`, `filename` and their like) and from " +
    "patches. Filters select sessions by their labels, and files by when they were touched.",
  scope: "read",
  route: "GET /files",
  tools: [],
  command: {
    operands: [{ name: "[path]", parameter: "path", description: "only files whose path ends with this" }],
    examples: [
      ["which sessions touched a file", "hansard files src/login.ts"],
      ["what changed this week in a project", "hansard files --project atlas --since 7d"],
    ],
  },
  input: {
    path,
    ...sessionFiltersNamed("session_id", "project", "client", "since", "until"),
    limit: limited(listLimit(50), "files"),
    cursor,
  },
  positional: [],
  output: filePage,
  example: {
    files: [
      {
        path: "src/login.ts",
        project: "atlas",
        reads: 3,
        writes: 1,
        last_position: 118,
        last_at: "2026-11-15T06:40:11.000Z",
        sessions: [{ session_id: "cli:anna", title: "Release" }],
        sessions_count: 1,
      },
    ],
    next_cursor: null,
  },
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ sessions }, query) => sessions.files(query),
});
