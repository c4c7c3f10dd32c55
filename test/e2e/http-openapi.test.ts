// The description of the interface: valid, complete, and true of what the server really answers.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Check, Errors } from "typebox/schema";
import { expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { captureKinds } from "../../src/model/kinds.js";
import { exampleCandidates } from "../../src/operations/ids.js";
import { createServer } from "../../src/surfaces/http/server.js";
import { serverOfFile, startServer, type TestServer } from "./http-client.js";

const server = serverOfFile();

/** One entry of every kind, with all that its kind knows. */
const everyKind: { readonly [K in EntryInput["kind"]]: EntryInput & { readonly kind: K } } = {
  interaction: { kind: "interaction", id: "i", prompt: "p", memories_used: [1], usage: { a: 1 }, latency_ms: 1.5 },
  response: { kind: "response", interaction_id: "i", response: "r", model: null },
  message: { kind: "message", session_id: "s", role: "assistant", content: null, tool_calls: [{ id: "c" }] },
  tool_call: { kind: "tool_call", tool: "t", args: {}, result: [null], is_error: false, duration_ms: 3 },
  error: { kind: "error", error: "e", context: "c", extra: { more: true } },
  decision: { kind: "decision", decision: "d", rationale: "r", confidence: 0.5 },
  consolidation: { kind: "consolidation", session_id: "s", through: 1, summary: "s" },
  clear: { kind: "clear", session_id: "s" },
  withdrawal: { kind: "withdrawal", session_id: "s", withdraws: 3 },
  feedback: { kind: "feedback", entry_id: "i", score: -0.5, label: "wrong", comment: null },
  session_info: { kind: "session_info", session_id: "s", title: "t", metadata: {}, parent: "q" },
  raw: { kind: "raw", source: "x", record: { y: 1 } },
};

test("the document is valid OpenAPI", async () => {
  const { status, body } = await server().get("/openapi.json");
  expect(status).toBe(200);
  expect(body.openapi).toBe("3.1.0");
  expect(body.info.version).toBe("1.2.3");
  expect(await new Validator().validate(body)).toEqual({ valid: true });
});

test("the document names every route but those that serve pages", async () => {
  const recorder = await openRecorder({ data: "memory:" });
  const app = createServer({ recorder, version: "1.2.3" });
  await app.ready();
  const { paths } = (await app.inject("/openapi.json")).json();
  const named = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  for (const route of named) {
    const [method, url] = route.split(" ") as ["GET", string];
    expect(app.hasRoute({ method, url }), route).toBe(true);
  }
  expect(named.sort()).toEqual([
    ...[
      "GET /access",
      "GET /doctor",
      "GET /entries",
      "GET /entries/:id",
      "GET /entries/:id/context",
      "GET /entries/:id/told",
      "GET /export",
      "GET /files",
      "GET /health",
      "GET /interactions",
      "GET /interactions/:id",
    ],
    ...["GET /memories", "GET /memories/:id"],
    "GET /metrics",
    ...["GET /ready", "GET /recall", "GET /reflection"],
    ...["GET /search", "GET /session-history"],
    ...["GET /sessions", "GET /sessions/:id", "GET /sessions/:id/entries", "GET /sessions/:id/history"],
    ...["GET /sessions/:id/outline", "GET /sessions/:id/share", "GET /sessions/:id/tree"],
    ...["GET /stats", "GET /tail", "GET /usage", "GET /verify"],
    ...["POST /api/public/otel/v1/traces", "POST /entries", "POST /forget", "POST /hooks/claude-code"],
    ...["POST /interactions", "POST /interactions/:id/extract"],
    ...["POST /interactions/:id/reinforce", "POST /interactions/:id/response"],
    ...["POST /memories", "POST /memories/:id/promote", "POST /memories/:id/reject", "POST /memories/:id/supersede"],
    ...["POST /memories/audit", "POST /memories/import", "POST /memories/verdicts"],
    "POST /recall",
    ...["POST /sessions/:id/clear", "POST /sessions/:id/consolidate"],
    ...["POST /v1/logs", "POST /v1/metrics", "POST /v1/traces"],
  ]);
});

test("inputs and answers of every kind match the document", async () => {
  const { body: document } = await server().get("/openapi.json");
  for (const kind of captureKinds) expectSchema(document, "NewEntry", everyKind[kind]);
  const { withdrawal, ...others } = everyKind;
  const recorded = await server().post("/entries", Object.values(others));
  expect(recorded.status).toBe(201);
  expectSchema(document, "EntriesRecorded", recorded.body);
  // What is withdrawn has to be there before.
  const withdrawn = await server().post("/entries", { ...withdrawal, unknown: true });
  expectSchema(document, "EntriesRecorded", withdrawn.body);
  expectSchema(document, "Entry", (await server().get(`/entries/${withdrawn.body.entries[0].position}`)).body);
  for (const { position } of recorded.body.entries) {
    expectSchema(document, "Entry", (await server().get(`/entries/${position}`)).body);
  }
  expectSchema(document, "EntryPage", (await server().get("/entries")).body);
  expectSchema(document, "InteractionPage", (await server().get("/interactions")).body);
  expectSchema(document, "InteractionEntry", (await server().get("/interactions/i")).body);
  expectSchema(document, "Receipt", (await server().post("/interactions", { prompt: "p" })).body);
  expectSchema(document, "SearchPage", (await server().get("/search?q=r&facets=1")).body);
  expectSchema(document, "SearchPage", (await server().get("/search?since=1d&limit=500")).body);
  expectSchema(document, "SessionPage", (await server().get("/sessions")).body);
  expectSchema(document, "SessionSummary", (await server().get("/sessions/s")).body);
  expectSchema(document, "EntryPage", (await server().get("/sessions/s/entries")).body);
  await server().post("/entries", { kind: "message", session_id: "s", role: "user", content: ["text", { type: "x" }] });
  expectSchema(document, "History", (await server().get("/sessions/s/history")).body);
  expectSchema(document, "History", (await server().get("/sessions/s/history?format=anthropic")).body);
  expectSchema(document, "Consolidation", (await server().post("/sessions/s/consolidate", { through: 3 })).body);
  expectSchema(document, "Receipt", (await server().post("/sessions/s/clear", {})).body);
  expectSchema(document, "Reflection", (await server().get("/reflection")).body);
  expectSchema(document, "Usage", (await server().get("/usage?by=day,model,project,client,session")).body);
  const memory = await server().post("/memories", { content: "The build is green", valid_until: "2030-01-01" });
  expectSchema(document, "Memory", memory.body);
  expectSchema(document, "MemoryDetail", (await server().get(`/memories/${memory.body.id}`)).body);
  expectSchema(document, "MemoryPage", (await server().get("/memories")).body);
  expectSchema(document, "Recalled", (await server().get("/recall")).body);
  for (const kind of ["memory_proposed", "memory_promoted"]) {
    for (const entry of (await server().get(`/entries?kind=${kind}`)).body.entries)
      expectSchema(document, "Entry", entry);
  }
  expectSchema(document, "Verification", (await server().get("/verify")).body);
  expectSchema(document, "Health", (await server().get("/health")).body);
  expectSchema(document, "Error", (await server().post("/entries", [{}])).body);
});

test("the document refuses what the server refuses", async () => {
  const { body: document } = await server().get("/openapi.json");
  for (const wrong of [{ kind: "gossip" }, { kind: "error" }, { kind: "clear" }, { kind: "interaction", prompt: 7 }]) {
    expect(Check({ ...document, $ref: "#/components/schemas/NewEntry" }, wrong)).toBe(false);
    expect((await server().post("/entries", wrong)).status).toBe(400);
  }
});

test("every call has a curl example in /docs, and all of them run", async () => {
  const fresh = await startServer();
  const examples = await curlExamples(fresh);
  const { paths } = (await fresh.get("/openapi.json")).body;
  expect(examples).toHaveLength(Object.values<object>(paths).flatMap((operations) => Object.keys(operations)).length);
  for (const example of examples) {
    if (example.includes(`/memories/${exampleCandidates[0]}/`)) await proposeExamples(fresh);
    const counted = example.replace(/^curl /, "curl -sS -o /dev/null -w '%{http_code}' ");
    // A stream of events has no end; its status comes at once.
    const ending = example.startsWith("curl -N") ? " --max-time 1 2>/dev/null || true" : "";
    const { stdout } = await promisify(execFile)("bash", ["-c", counted + ending]);
    expect(stdout, example).toMatch(/^20[01]$/);
  }
});

/** Candidates for the examples to review, in addition to the one that an example proposes. */
async function proposeExamples({ recorder }: TestServer): Promise<void> {
  for (const id of exampleCandidates) {
    await recorder.memories.propose({ id, source: "person", type: "preference", content: `Asks about ${id} first` });
  }
}

test("/docs links nowhere else and runs no script", async () => {
  const { headers, text } = await server().get("/docs");
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(text).not.toMatch(/<script|style=|\son\w+=/);
  const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link as string);
  for (const link of links) {
    if (link.startsWith("#")) expect(text).toContain(`id="${link.slice(1)}"`);
    else expect((await server().get(link)).status, link).toBe(200);
  }
});

test.each(["/", "/ui/", "/ui/sessions", "/docs", "/ui/theme.js", "/ui/tokens.css", "/ui/docs.css", "/ui/icon.svg"])(
  "%s has security headers",
  async (path) => {
    const { status, headers, text } = await server().get(path);
    expect(status).toBe(200);
    expect(text).not.toBe("");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  },
);

function expectSchema(document: object, name: string, value: unknown): void {
  const schema = { ...document, $ref: `#/components/schemas/${name}` };
  expect(Check(schema, value) ? [] : Errors(schema, value)[1], `${name}: ${JSON.stringify(value)}`).toEqual([]);
}

async function curlExamples(from: TestServer): Promise<readonly string[]> {
  const { text } = await from.get("/docs");
  return [...text.matchAll(/<pre class="run"><code>(.*?)<\/code>/gs)].map(([, html]) =>
    (html as string).replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
}
