// The list of sessions.
import { parseLabel } from "../model/ids.js";
import { reject } from "../model/rejection.js";
import { cursorOf } from "../search/cursor.js";
import { sessionFiltersNamed } from "../search/filters.js";
import { isGiven, limited, listLimit, type Parameter } from "../search/parameters.js";
import type { SessionsReached } from "../sessions/session-list.js";
import { type SessionFilter, type SessionSort, sessionSorts } from "../sessions/session-query.js";
import { sessionPage } from "../sessions/session-summary.js";
import { exampleSession } from "./get-session.js";
import { operation } from "./operation.js";

const cursor = cursorOf<SessionsReached>(3, (numbers) => {
  const [at, position, as_of] = numbers as readonly [number, number, number];
  return { after: { at, position, as_of } };
});

/** Texts begin with the first, everything else with the greatest. */
const ASCENDING: ReadonlySet<SessionSort> = new Set<SessionSort>(["title", "project", "client"]);

const sort: Parameter<SessionSort, SessionSort> = {
  description:
    `What to sort by: ${sessionSorts.join(", ")}. \`last\` and \`first\` are times, \`length\` is the active time, \`tokens\` ` +
    "the session's own, `cost` includes child sessions.",
  schema: { type: "string", enum: sessionSorts, default: "last" },
  flag: { name: "sort", value: "by", says: `sort by ${sessionSorts.join(", ")}` },
  refusals: ["field_invalid"],
  parse: (value) => {
    if (!isGiven(value)) return "last";
    const known = sessionSorts.find((name) => name === value);
    if (known !== undefined) return known;
    const hint = `It is one of ${sessionSorts.join(", ")}.`;
    return reject({ code: "field_invalid", field: "sort", message: `unknown sort ${shown(value)}`, hint });
  },
};

const order: Parameter<"asc" | "desc", "asc" | "desc" | undefined> = {
  description: "`asc` or `desc`; without it, texts ascend, and times and numbers descend.",
  schema: { type: "string", enum: ["asc", "desc"] },
  flag: { name: "order", value: "way", says: "asc or desc" },
  refusals: ["field_invalid"],
  parse: (value) => {
    if (!isGiven(value)) return undefined;
    if (value === "asc" || value === "desc") return value;
    return reject({ code: "field_invalid", field: "order", message: "order must be asc or desc" });
  },
};

function text(
  name: string,
  form: Pick<Parameter, "description" | "flag"> & { readonly isLabel: boolean },
): Parameter<string, string | undefined> {
  const { isLabel, description, flag } = form;
  return {
    description,
    schema: { type: "string" },
    ...(flag === undefined ? {} : { flag }),
    refusals: ["field_invalid"],
    parse: (value) => {
      if (!isGiven(value)) return undefined;
      if (typeof value === "string") return isLabel && value === "-" ? "" : value;
      return reject({ code: "field_invalid", field: name, message: `${name} must be a string` });
    },
  };
}

const parent: Parameter<string, string | undefined> = {
  description: "Sessions that name this one as their parent; `-` selects those without a recorded parent.",
  schema: { type: "string" },
  example: "-",
  flag: { name: "parent", value: "id", says: "only sessions below this one; - for those without a parent" },
  refusals: ["session_id_invalid"],
  parse: (value) => {
    if (!isGiven(value)) return undefined;
    return value === "-" ? "" : parseLabel("parent", value);
  },
};

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 40));
}

export const listSessions = operation({
  name: "listSessions",
  tag: "Sessions",
  summary: "List sessions, the one with the latest `last_at` first",
  description:
    "All filters must match; `since` and `until` select sessions with a time in between. `next_cursor` reaches every " +
    "session exactly once, also while entries arrive: the list stays as it was at its first page.",
  scope: "read",
  route: "GET /sessions",
  tools: [],
  command: {
    examples: [
      ["the most recent sessions", "hansard sessions"],
      ["what one project cost, the most expensive first", "hansard sessions --project atlas --sort cost"],
      ["sessions of the last week about something", "hansard sessions --since 7d --title login"],
    ],
  },
  input: {
    ...sessionFiltersNamed("project", "client", "since", "until"),
    user_id: text("user_id", {
      isLabel: true,
      description: "Sessions with an entry of this user; `-` selects those without any user.",
      flag: { name: "user", value: "id", says: "only sessions with an entry of this user; - for those without" },
    }),
    tag: text("tag", {
      isLabel: true,
      description: "Sessions with an entry with this tag; `-` selects those without any tag.",
      flag: { name: "tag", value: "name", says: "only sessions with an entry with this tag; - for those without" },
    }),
    title: text("title", {
      isLabel: false,
      description: "Sessions whose title or first prompt contains this text, in any case.",
      flag: { name: "title", value: "text", says: "only sessions whose title or first prompt contains this text" },
    }),
    parent,
    id_prefix: text("id_prefix", {
      isLabel: false,
      description: "Sessions whose id begins with this text, exactly.",
    }),
    sort,
    order,
    limit: limited(listLimit(50), "sessions"),
    cursor,
  },
  positional: [],
  output: sessionPage,
  example: { sessions: [exampleSession], next_cursor: null },
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ sessions }, { user_id, tag, title, parent: below, id_prefix, sort: by, order: way, ...query }) => {
    const own = { user_id, tag, title, parent: below, id_prefix };
    const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const filter: SessionFilter = { ...query.filter, ...given };
    return sessions.list({ ...query, filter, sort: by, order: way ?? (ASCENDING.has(by) ? "asc" : "desc") });
  },
});
