// Values of every filter and parameter that tests try: a filter or parameter without any does not compile.
import type { Entry } from "../../src/model/entry.js";
import type { FilterName } from "../../src/search/filters.js";
import type { ParameterName } from "./asked.js";

export interface FilterValues {
  /** A value that selects some of the sample entries, and which. */
  readonly good: string;
  readonly selects: (entry: Entry) => boolean;
  /** The same filter in another spelling. */
  readonly also?: string;
  /** Another value: both together select other entries or none. Absent where there is only one value. */
  readonly other?: string;
  /** Texts that no surface takes; none where any text is fine. */
  readonly bad: readonly string[];
}

export const filterValues: { readonly [N in FilterName]: FilterValues } = {
  project: { good: "web", selects: ({ project }) => project === "web", other: "-", bad: ["a\n", "x".repeat(257)] },
  session_id: { good: "s:1", selects: ({ session_id }) => session_id === "s:1", other: "S:1", bad: ["..", "\u0007"] },
  client: { good: "-", selects: ({ client }) => client === "", other: "cli", bad: ["\u0085", "ü".repeat(129)] },
  user_id: { good: "anna", selects: ({ user_id }) => user_id === "anna", other: "-", bad: [] },
  tag: { good: "-", selects: ({ tags }) => tags.length === 0, other: "nightly", bad: [] },
  parent_id: { good: "step-1", selects: ({ parent_id }) => parent_id === "step-1", other: "-", bad: [] },
  kind: { good: "error", selects: ({ kind }) => kind === "error", other: "message", bad: ["gossip", "Error"] },
  role: {
    good: "assistant",
    selects: (entry) => entry.kind === "message" && ["assistant", "timmy"].includes(entry.role),
    also: "timmy",
    other: "user",
    bad: ["boss", "User"],
  },
  since: {
    good: "2026-01-03",
    selects: ({ created_at }) => created_at >= "2026-01-03",
    also: " 2026-01-03 ",
    other: "2026-01-04",
    bad: ["never", "2026-02-30", "7 days"],
  },
  until: {
    good: "2026-01-03",
    selects: ({ created_at }) => created_at < "2026-01-04",
    also: "2026-01-03 ",
    other: "2026-01-02",
    bad: ["soon", "2026-13-01"],
  },
  tool: {
    good: "bash",
    selects: (entry) => entry.kind === "tool_call" && entry.tool === "bash",
    other: "grep",
    bad: [],
  },
  file: {
    good: "src/money.ts",
    selects: (entry) => entry.kind === "tool_call" && String(entry.args.file_path ?? "").endsWith("src/money.ts"),
    also: "./src/money.ts",
    other: "nowhere.ts",
    bad: ["..", "a\n"],
  },
  model: {
    good: "big-model",
    selects: (entry) => (entry.kind === "interaction" ? entry.model : entry.extra.model) === "big-model",
    other: "small-model",
    bad: [],
  },
  is: {
    good: "error",
    selects: (entry) => entry.kind === "error" || (entry.kind === "tool_call" && entry.is_error === true),
    other: "unanswered",
    bad: ["wrong", "Error"],
  },
  in: {
    good: "context",
    selects: (entry) => entry.kind === "interaction" && Object.keys(entry.context_pack).length > 0,
    bad: ["speech", "Context"],
  },
  memory: { good: "m1", selects: (entry) => uses(entry, "memories_used", "m1"), other: "m2", bad: [] },
  chunk: { good: "c1", selects: (entry) => uses(entry, "chunks_used", "c1"), other: "c2", bad: [] },
};

/** Texts that are refused for what is no filter. */
export const badValues: { readonly [N in Exclude<ParameterName, FilterName | "id">]: readonly string[] } = {
  q: ["kind:gossip", "role:boss", "since:never", "until:soon", "session_id:..", "project:\u0007", '""'],
  query: [" "],
  facets: ["maybe"],
  order: ["up"],
  excerpts: ["maybe"],
  full: ["maybe"],
  after: ["-1", "1.5"],
  masked: ["2"],
  max_messages: ["many"],
  max_tokens: ["few"],
  format: ["xml"],
  timezone: ["Nowhere/Else"],
  export_id: ["not an id"],
  include_pending: ["perhaps"],
  include: ["everything"],
  by: ["year", "day,", "Day"],
  limit: ["many", "5 rows"],
  cursor: ["x"],
  status: ["waiting"],
  type: ["gossip"],
  source: ["nobody"],
  similar: ["maybe"],
  unused: ["maybe"],
  budget_tokens: ["much"],
  title: [],
  id_prefix: [],
  path: ["..", "a\n"],
  parent: ["..", "a\n"],
  sort: ["size", "Cost"],
};

function uses(entry: Entry, list: "memories_used" | "chunks_used", reference: string): boolean {
  return entry.kind === "interaction" && entry[list].includes(reference);
}
