// For each route the requests that ask most of it: the largest body, the widest list, the longest session.

const MiB = 1024 * 1024;

export interface WidestRequest {
  readonly route: string;
  readonly what: string;
  readonly path: string;
  readonly statuses: readonly number[];
  /** Another one for each try, where the same one would be acknowledged as a repetition. */
  readonly body?: (nth: number) => string | Uint8Array;
  readonly headers?: { readonly [name: string]: string };
  /** The caller ends a stream that has no end. */
  readonly ends_ms?: number;
}

const json = (value: unknown): string => JSON.stringify(value);
const list = <T>(length: number, item: (nth: number) => T): T[] => Array.from({ length }, (_, nth) => item(nth));
const text = (bytes: number): string => "What was said and done. ".repeat(Math.floor(bytes / 24));
const query = encodeURIComponent(list(1_000, (nth) => `word${nth}`).join(" "));
const mcp = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const call = (name: string, args: object): string =>
  json({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
const verdict = (): string => json({ actor: "x".repeat(200), reason: text(MiB) });

function spanOf(trace: number, span: number, content = "What was said."): object {
  return {
    traceId: trace.toString(16).padStart(32, "a"),
    spanId: span.toString(16).padStart(16, "b"),
    parentSpanId: span === 0 ? "" : "0".padStart(16, "b"),
    name: "chat",
    startTimeUnixNano: "1763546400000000000",
    endTimeUnixNano: "1763546401000000000",
    attributes: [{ key: "gen_ai.prompt", value: { stringValue: content } }],
  };
}

export const widestRequests: readonly WidestRequest[] = [
  {
    route: "POST /interactions",
    what: "15.9 MiB of prompt",
    path: "/interactions",
    body: (nth) => json({ prompt: `${nth} ${text(15.9 * MiB)}` }),
    statuses: [201],
  },
  {
    route: "POST /interactions",
    what: "63 MiB of `{},{},…`",
    path: "/interactions",
    body: () => `{"prompt":"p","record":{"x":[{}${",{}".repeat(21 * MiB)}]}}`,
    statuses: [413],
  },
  {
    route: "POST /interactions/{id}/response",
    what: "15.9 MiB of response",
    path: "/interactions/none/response",
    body: () => json({ response: text(15.9 * MiB) }),
    statuses: [404],
  },
  {
    route: "POST /entries",
    what: "20,000 entries of 3 KB",
    path: "/entries",
    body: (nth) => json(list(20_000, (item) => ({ kind: "error", error: `${nth}.${item} ${text(3_000)}` }))),
    statuses: [201],
  },
  {
    route: "POST /entries",
    what: "4 × 250,000 values",
    path: "/entries",
    body: (nth) => {
      const wide = `{"kind":"raw","source":"s${nth}","record":{"x":[{}${",{}".repeat(249_995)}]}}`;
      return `[${Array<string>(4).fill(wide).join(",")}]`;
    },
    statuses: [201],
  },
  {
    route: "POST /entries",
    what: "100,000 lines",
    path: "/entries",
    body: (nth) => list(100_000, (line) => `{"kind":"error","error":"${nth}.${line}"}`).join("\n"),
    headers: { "content-type": "application/x-ndjson" },
    statuses: [201],
  },
  {
    route: "POST /sessions/{id}/consolidate",
    what: "15 MiB of summary",
    path: "/sessions/long/consolidate",
    body: () => json({ through: 1, summary: text(15 * MiB) }),
    statuses: [200, 201, 400],
  },
  {
    route: "POST /sessions/{id}/clear",
    what: "a session without entries, with a body",
    path: "/sessions/cleared/clear",
    body: () => "{}",
    statuses: [200, 201, 404],
  },
  {
    route: "POST /hooks/claude-code",
    what: "a working directory of 60 Mi slashes",
    path: "/hooks/claude-code",
    body: () =>
      json({ hook_event_name: "UserPromptSubmit", session_id: "hooked", prompt: "p", cwd: "/".repeat(60 * MiB) }),
    statuses: [200],
  },
  { route: "GET /interactions", what: "500, whole", path: "/interactions?limit=500&full=true", statuses: [200] },
  { route: "GET /interactions/{id}", what: "14 MiB of text", path: "/interactions/fat-call", statuses: [200] },
  { route: "GET /entries", what: "500 rows of all entries", path: "/entries?limit=500", statuses: [200] },
  { route: "GET /entries", what: "50 rows of 15.9 MiB", path: "/entries?limit=50&session_id=fat", statuses: [200] },
  { route: "GET /entries/{id}", what: "15.9 MiB of text", path: "/entries/fat-0", statuses: [200] },
  { route: "GET /entries/{id}", what: "240,000 values", path: "/entries/wide", statuses: [200] },
  { route: "GET /search", what: "1,000 terms", path: `/search?q=${query}&limit=500`, statuses: [200] },
  { route: "GET /search", what: "a word of every entry", path: "/search?q=said&limit=500", statuses: [200] },
  {
    route: "GET /search",
    what: "a word of every entry of 15.9 MiB, with facets",
    path: "/search?q=said&limit=500&session_id=fat&facets=true",
    statuses: [200],
  },
  { route: "GET /session-history", what: "500 lines", path: "/session-history?query=said&limit=500", statuses: [200] },
  { route: "GET /stats", what: "the whole store", path: "/stats", statuses: [200] },
  { route: "GET /reflection", what: "the newest 100,000", path: "/reflection?limit=100000", statuses: [200] },
  { route: "GET /usage", what: "by every label", path: "/usage?by=day,model,project,client,session", statuses: [200] },
  { route: "GET /sessions", what: "500 sessions", path: "/sessions?limit=500", statuses: [200] },
  { route: "GET /sessions/{id}", what: "24 entries of 15.9 MiB", path: "/sessions/fat", statuses: [200] },
  { route: "GET /sessions/{id}/outline", what: "40,000 messages", path: "/sessions/long/outline", statuses: [200] },
  {
    route: "GET /sessions/{id}/share",
    what: "24 entries of 15.9 MiB",
    path: "/sessions/fat/share",
    statuses: [200, 413],
  },
  { route: "GET /files", what: "the whole store", path: "/files?limit=500", statuses: [200] },
  {
    route: "POST /v1/traces",
    what: "10,000 spans in JSON",
    path: "/v1/traces",
    body: (nth) => json({ resourceSpans: [{ scopeSpans: [{ spans: list(10_000, (span) => spanOf(nth, span)) }] }] }),
    statuses: [200],
  },
  {
    route: "POST /api/public/otel/v1/traces",
    what: "one span with an attribute of 12 MiB",
    path: "/api/public/otel/v1/traces",
    body: (nth) => json({ resourceSpans: [{ scopeSpans: [{ spans: [spanOf(nth + 10, 1, text(12 * MiB))] }] }] }),
    statuses: [200],
  },
  {
    route: "POST /v1/logs",
    what: "10,000 records",
    path: "/v1/logs",
    body: (nth) => {
      const record = (at: number) => ({ timeUnixNano: "1763546400000000000", body: { stringValue: `${nth}.${at}` } });
      return json({ resourceLogs: [{ scopeLogs: [{ logRecords: list(10_000, record) }] }] });
    },
    statuses: [200],
  },
  {
    route: "POST /v1/metrics",
    what: "10,000 data points",
    path: "/v1/metrics",
    body: () => {
      const dataPoints = list(10_000, (at) => ({ asInt: String(at), timeUnixNano: "1763546400000000000" }));
      return json({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "m", sum: { dataPoints } }] }] }] });
    },
    statuses: [200],
  },
  {
    route: "GET /sessions/{id}/entries",
    what: "500 entries",
    path: "/sessions/long/entries?limit=500",
    statuses: [200],
  },
  {
    route: "GET /sessions/{id}/entries",
    what: "24 entries of 15.9 MiB",
    path: "/sessions/fat/entries?limit=500",
    statuses: [200],
  },
  {
    route: "GET /sessions/{id}/history",
    what: "24 messages of 15.9 MiB",
    path: "/sessions/fat/history",
    statuses: [413],
  },
  {
    route: "GET /sessions/{id}/history",
    what: "60,000 content parts, tokens counted",
    path: "/sessions/parts/history?max_tokens=1000000&format=anthropic",
    statuses: [200],
  },
  {
    route: "GET /sessions/{id}/history",
    what: "40,000 messages",
    path: "/sessions/long/history?max_messages=40000",
    statuses: [200],
  },
  { route: "GET /entries/{id}/context", what: "after 24 × 15.9 MiB", path: "/entries/fat-23/context", statuses: [413] },
  {
    route: "GET /entries/{id}/told",
    what: "a phrase of 32 KB, after 24 × 15.9 MiB",
    path: `/entries/fat-23/told?q=${"x%20".repeat(8_000)}`,
    statuses: [200, 413],
  },
  { route: "GET /memories", what: "500 memories", path: "/memories?limit=500", statuses: [200] },
  { route: "GET /memories/{id}", what: "one that is missing", path: "/memories/none", statuses: [404] },
  {
    route: "POST /memories",
    what: "40 quotes of entries of 15.9 MiB",
    path: "/memories",
    body: () =>
      json({
        status: "candidate",
        type: "knowledge",
        content: "What was said and done is known",
        evidence: list(40, (nth) => ({ entry_id: `fat-${nth % 24}`, quote: `${nth % 24}.0 ` })),
      }),
    statuses: [200, 201, 202, 400],
  },
  {
    route: "POST /memories/{id}/promote",
    what: "a reason of 1 MiB",
    path: "/memories/none/promote",
    body: verdict,
    statuses: [400, 404],
  },
  {
    route: "POST /memories/{id}/reject",
    what: "a reason of 1 MiB",
    path: "/memories/none/reject",
    body: verdict,
    statuses: [400, 404],
  },
  {
    route: "POST /memories/{id}/supersede",
    what: "a reason of 1 MiB",
    path: "/memories/none/supersede",
    body: () => json({ content: "What was said", reason: text(MiB) }),
    statuses: [400, 404],
  },
  {
    route: "POST /memories/verdicts",
    what: "12,000 ids",
    path: "/memories/verdicts",
    body: () => json({ promote: list(12_000, (nth) => `${"x".repeat(980)}${nth}`), reject: [] }),
    statuses: [400, 404],
  },
  {
    route: "POST /memories/audit",
    what: "a memory file of 1 MiB",
    path: "/memories/audit",
    body: () =>
      json({ path: "CLAUDE.md", text: list(12_000, (nth) => `- Rule ${nth}: say ${nth}, not ${nth + 1}.`).join("\n") }),
    statuses: [200, 400, 413],
  },
  {
    route: "POST /memories/import",
    what: "a memory file of 1 MiB",
    path: "/memories/import",
    body: () =>
      json({ path: "CLAUDE.md", text: list(12_000, (nth) => `- Rule ${nth}: say ${nth}, not ${nth + 1}.`).join("\n") }),
    statuses: [200, 201, 400, 413],
  },
  {
    route: "POST /interactions/{id}/extract",
    what: "14 MiB of text",
    path: "/interactions/fat-call/extract",
    body: () => "{}",
    statuses: [200, 201],
  },
  {
    route: "POST /interactions/{id}/reinforce",
    what: "14 MiB of text",
    path: "/interactions/fat-call/reinforce",
    body: () => "{}",
    statuses: [200, 201],
  },
  {
    route: "GET /recall",
    what: "a query of 7 KB",
    path: `/recall?q=${"said%20".repeat(1_000)}&budget_tokens=100000`,
    statuses: [200],
  },
  {
    route: "POST /recall",
    what: "a query of 32 KB",
    path: "/recall",
    body: () => json({ q: "said ".repeat(6_000), session_id: "recalled", budget_tokens: 100_000 }),
    statuses: [200, 201, 400],
  },
  { route: "GET /tail", what: "all entries, for 3 s", path: "/tail?after=0", statuses: [200], ends_ms: 3_000 },
  { route: "GET /export", what: "the whole store", path: "/export", statuses: [200] },
  { route: "GET /verify", what: "the whole store", path: "/verify", statuses: [200] },
  { route: "GET /doctor", what: "the whole store", path: "/doctor", statuses: [200] },
  {
    route: "POST /forget",
    what: "a session that does not exist",
    path: "/forget",
    body: () => json({ session_id: "s".repeat(512), reason: text(1_000) }),
    statuses: [200, 400, 404],
  },
  {
    route: "POST /mcp",
    what: "an entry of 15.9 MiB",
    path: "/mcp",
    body: () => call("get_entry", { id: "fat-0" }),
    headers: mcp,
    statuses: [200],
  },
  {
    route: "POST /mcp",
    what: "200,000 arguments",
    path: "/mcp",
    body: () => call("search", Object.fromEntries(list(200_000, (nth) => [`m${nth}`, 1]))),
    headers: mcp,
    statuses: [413],
  },
  {
    route: "POST /mcp",
    what: "the history of a session of 40,000 messages",
    path: "/mcp",
    body: () => call("session_context", { session_id: "long" }),
    headers: mcp,
    statuses: [200],
  },
];
