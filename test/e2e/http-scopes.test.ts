// Who may do what: every route of the interface, with every scope, and with no key, a wrong one and a revoked one.
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allows, type Scope, scopes } from "../../src/guard/scopes.js";
import { openRecorder } from "../../src/index.js";
import { createServer } from "../../src/surfaces/http/server.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { registeredNeeds } from "../support/registered-needs.js";
import { listen } from "./event-source.js";
import { type HttpResponse, serverOfFile, startServer } from "./http-client.js";

const server = serverOfFile();
const needByRoute = await registeredNeeds();
const keyByScope = new Map<Scope, string>();

beforeAll(async () => {
  await server().post("/entries", { kind: "message", id: "first", session_id: "s", role: "user", content: "c" });
  const { keys } = server().recorder;
  for (const scope of scopes) keyByScope.set(scope, (await keys.create({ scope })).key);
});

type Need = Scope | "open" | "any";

/** What each route needs, written down here and nowhere taken from: a change of it is meant. */
const expectedNeeds: { readonly [route: string]: Need } = {
  "GET /files": "read",
  "GET /health": "open",
  "GET /ready": "open",

  "POST /memories": "any",
  "GET /access": "any",

  "POST /interactions": "capture",
  "POST /interactions/{id}/response": "capture",
  "POST /entries": "capture",
  "POST /sessions/{id}/consolidate": "capture",
  "POST /sessions/{id}/clear": "capture",
  "POST /hooks/claude-code": "capture",
  "POST /v1/traces": "capture",
  "POST /v1/logs": "capture",
  "POST /v1/metrics": "capture",
  "POST /api/public/otel/v1/traces": "capture",

  "GET /metrics": "metrics",

  "GET /interactions": "read",
  "GET /interactions/{id}": "read",
  "GET /search": "read",
  "GET /session-history": "read",
  "GET /stats": "read",
  "GET /reflection": "read",
  "GET /entries/{id}/context": "read",
  "GET /entries/{id}/told": "read",
  "GET /usage": "read",
  "GET /sessions": "read",
  "GET /sessions/{id}": "read",
  "GET /sessions/{id}/entries": "read",
  "GET /sessions/{id}/history": "read",
  "GET /sessions/{id}/outline": "read",
  "GET /sessions/{id}/tree": "read",
  "GET /sessions/{id}/share": "read",
  "GET /memories": "read",
  "GET /memories/{id}": "read",
  "GET /recall": "read",
  "POST /recall": "admin",
  "GET /tail": "read",
  "GET /verify": "read",
  "GET /entries": "read",
  "GET /entries/{id}": "read",

  "POST /memories/{id}/promote": "review",
  "POST /memories/{id}/reject": "review",
  "POST /memories/{id}/supersede": "review",
  "POST /memories/verdicts": "review",
  "POST /memories/audit": "review",
  "POST /memories/import": "review",
  "POST /interactions/{id}/extract": "review",
  "POST /interactions/{id}/reinforce": "review",

  "GET /export": "admin",
  "POST /forget": "admin",
  "GET /doctor": "admin",
};

/** What the document does not describe: the page, the documents themselves, and the door for agents. */
const undescribedNeeds: { readonly [route: string]: Need } = {
  "GET /": "open",
  "GET /ui": "open",
  "GET /ui/*": "open",
  "GET /docs": "open",
  "GET /openapi.json": "open",
  "GET /mcp": "any",
  "POST /mcp": "any",
  "DELETE /mcp": "any",
};

const recorder = await openRecorder({ data: "memory:" });
const app = createServer({ recorder, version: "1.2.3" });
afterAll(async () => {
  await app.close();
  await recorder.close();
});

/** The routes as the document of a server names them, since a new one must not be forgotten here. */
async function describedRoutes(): Promise<readonly string[]> {
  const { paths } = (await app.inject("/openapi.json")).json() as { paths: { [path: string]: object } };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

test("every route is in the table, with its scope", async () => {
  expect([...(await describedRoutes())].sort()).toEqual(Object.keys(expectedNeeds).sort());
  const known = Object.entries(needByRoute).map(([route, need]) => [route.replace(/:(\w+)/g, "{$1}"), need]);
  expect(Object.fromEntries(known)).toEqual({ ...expectedNeeds, ...undescribedNeeds });
});

type Answered = { readonly status: number; readonly code: string | undefined };

/** What every route answers to somebody, each with whether it is allowed. */
async function askAll(authorization?: string): Promise<readonly (readonly [route: string, need: Need, Answered])[]> {
  const answers: [string, Need, Answered][] = [];
  for (const [route, need] of Object.entries(expectedNeeds)) {
    const [method, path = ""] = route.split(" ");
    const response = await app.inject({
      method: method as "GET",
      url: path.replace(/\{\w+\}/, "none"),
      headers: authorization === undefined ? {} : { authorization },
      ...(method === "POST" ? { payload: {} } : {}),
      // What is let in may be a stream without an end.
      payloadAsStream: true,
    });
    const { statusCode: status } = response;
    const challenge = String(response.headers["www-authenticate"] ?? "");
    expect(challenge.startsWith("Bearer "), route).toBe(isRefusal(status));
    const code = isRefusal(status) ? JSON.parse(await text(response.stream())).error.code : undefined;
    response.stream().destroy();
    answers.push([route, need, { status, code }]);
  }
  return answers;
}

const isRefusal = (status: number): boolean => status === 401 || status === 403;

describe("every route,", () => {
  const keys = new Map<Scope, string>();
  let revokedKey = "";

  beforeAll(async () => {
    for (const scope of scopes) keys.set(scope, (await recorder.keys.create({ scope })).key);
    const { id, key } = await recorder.keys.create({ scope: "admin" });
    await recorder.keys.revoke(id);
    revokedKey = key;
  });

  /** Written down here too: which scope holds which others. */
  const opened: { readonly [scope in Scope]: readonly Need[] } = {
    capture: ["open", "any", "capture"],
    metrics: ["open", "any", "metrics"],
    read: ["open", "any", "metrics", "read"],
    review: ["open", "any", "metrics", "read", "review"],
    admin: ["open", "any", "capture", "metrics", "read", "review", "admin"],
  };

  test.each(scopes)("with a key of scope %s", async (scope) => {
    for (const [route, need, { status, code }] of await askAll(`Bearer ${keys.get(scope)}`)) {
      if (opened[scope].includes(need)) expect(isRefusal(status), `${route} ${status}`).toBe(false);
      else expect([route, status, code]).toEqual([route, 403, "scope_insufficient"]);
    }
  });

  test.each([
    ["no key", () => undefined, "key_missing"],
    ["a wrong key", () => `Bearer hansard_${"0".repeat(16)}_${"A".repeat(43)}`, "key_wrong"],
    ["what is no key", () => "Bearer let me in", "key_wrong"],
    ["another scheme", () => `Basic ${btoa("admin:admin")}`, "key_wrong"],
    ["an empty header", () => "", "key_wrong"],
    ["a key that was revoked", () => `Bearer ${revokedKey}`, "key_wrong"],
    [
      "another key's id and a secret of one's own",
      () => `Bearer ${keys.get("admin")?.slice(0, 25)}${"x".repeat(43)}`,
      "key_wrong",
    ],
  ])("with %s", async (_, authorization, expected) => {
    for (const [route, need, { status, code }] of await askAll(authorization())) {
      if (need === "open") expect(isRefusal(status), `${route} ${status}`).toBe(false);
      else expect([route, status, code]).toEqual([route, 401, expected]);
    }
  });
});

test("a key of scope metrics opens the figures, and nothing that is not open anyway", async () => {
  const opened = Object.keys(needByRoute).filter((route) => allows("metrics", needByRoute[route] as Scope));
  expect(opened).toEqual(["GET /metrics"]);
  const asked = (path: string) =>
    server().request(path, { headers: { authorization: `Bearer ${keyByScope.get("metrics")}` } });
  expect((await asked("/metrics")).text).toContain("hansard_log_position");
  expect((await asked("/entries")).status).toBe(403);
});

test("HEAD needs what GET needs", async () => {
  expect((await server().request("/entries", { method: "HEAD" })).status).toBe(401);
  // An MCP stream has no head.
  expect((await server().request("/mcp", { method: "HEAD" })).status).toBe(405);
});

test("open routes show no recorded text", async () => {
  await server().recorder.append({ kind: "error", error: "open sesame" });
  for (const [route, need] of Object.entries(needByRoute)) {
    if (need !== "open") continue;
    const { status, text } = await server().get(route.replace("GET ", ""));
    expect([route, status]).toEqual([route, 200]);
    expect(text).not.toContain("sesame");
  }
});

test("a key in the address is not a key, and ends up in no answer", async () => {
  const { status, text } = await server().get(`/entries?key=${keyByScope.get("admin")}`);
  expect(status).toBe(401);
  expect(text).not.toContain("hansard_");
});

test("a route without a scope keeps the server from starting", () => {
  const { recorder } = memoryRecorder();
  const app = createServer({ recorder, version: "1.2.3" });
  expect(() => app.get("/secret-door", () => "come in")).toThrow("GET /secret-door has no scope");
});

test("the document says which scope each call needs", async () => {
  const { components, paths } = (await server().get("/openapi.json")).body;
  expect(components.securitySchemes).toMatchObject({ key: { type: "http", scheme: "bearer" } });
  for (const [route, need] of Object.entries(expectedNeeds)) {
    const [method = "", path = ""] = route.split(" ");
    const expected = need === "open" ? [] : [{ key: need === "any" ? [] : [need] }];
    expect(paths[path][method.toLowerCase()].security, route).toEqual(expected);
  }
});

test("without keys every local request is the person's, and a key that is sent does no harm", async () => {
  const open = await startServer();
  expect((await open.get("/entries")).status).toBe(200);
  const sent = { headers: { authorization: "Bearer of gifts" } };
  expect((await open.request("/export", sent)).status).toBe(200);
});

test("once a key exists everybody needs one, and revoking the last one opens nothing", async () => {
  const guarded = await startServer();
  const { id, key } = await guarded.recorder.keys.create({ scope: "read" });
  const withKey = { headers: { authorization: `Bearer ${key}` } };
  expect((await guarded.get("/entries")).status).toBe(401);
  expect((await guarded.request("/entries", withKey)).status).toBe(200);
  await guarded.recorder.keys.revoke(id);
  expect((await guarded.request("/entries", withKey)).body.error.code).toBe("key_wrong");
  expect((await guarded.get("/entries")).body.error.code).toBe("key_missing");
});

test("each caller can see its own scopes, and only a caller with full access sees the keys", async () => {
  const guarded = await startServer();
  expect((await guarded.get("/access")).body).toEqual({ actor: "person", scope: "admin", keys: [] });
  const reader = await guarded.recorder.keys.create({ scope: "read" });
  const admin = await guarded.recorder.keys.create({ scope: "admin", name: "anna" });
  const asked = (key: string) => guarded.request("/access", { headers: { authorization: `Bearer ${key}` } });
  expect((await asked(reader.key)).body).toEqual({ actor: `key:${reader.id}`, scope: "read" });
  const told = await asked(admin.key);
  expect(told.body.keys.map(({ id }: { id: string }) => id).sort()).toEqual([reader.id, admin.id].sort());
  expect(told.text).not.toContain(reader.key);
});

test("created and revoked keys are audit entries that name the actor and never contain the key", async () => {
  const guarded = await startServer();
  const { keys } = guarded.recorder;
  const { id, key } = await keys.create({ scope: "admin", name: "anna", actor: "root" });
  await keys.revoke(id, { actor: "anna" });
  await keys.revoke(id, { actor: "somebody else" });
  const { entries } = await guarded.recorder.listEntries({ kind: "audit" });
  expect(entries).toMatchObject([
    { action: "key_revoked", actor: "anna", target: id },
    { action: "key_created", actor: "root", target: id },
  ]);
  expect(JSON.stringify(await guarded.recorder.listEntries())).not.toContain(key.slice(-43));
});

test("a server on another recorder of the same store knows at once of keys made and revoked", async () => {
  const one = await startServer();
  const other = await startServer({ data: one.data });
  expect((await other.get("/entries")).status).toBe(200);
  const { id, key } = await one.recorder.keys.create({ scope: "read" });
  const withKey = { headers: { authorization: `Bearer ${key}` } };
  expect((await other.get("/entries")).status).toBe(401);
  expect((await other.request("/entries", withKey)).status).toBe(200);
  await one.recorder.keys.revoke(id);
  expect((await other.request("/entries", withKey)).status).toBe(401);
});

test("a tail ends before its next entry once its key is revoked, or once a key is required", async () => {
  const guarded = await startServer();
  const withoutKey = await listen(`${guarded.address}/tail`);
  const { keys } = guarded.recorder;
  const { id, key } = await keys.create({ scope: "read" });
  await guarded.recorder.append({ kind: "error", error: "unseen without a key" });
  await withoutKey.ended;
  const source = await listen(`${guarded.address}/tail`, { headers: { authorization: `Bearer ${key}` } });
  await guarded.recorder.append({ kind: "error", error: "seen" });
  await source.count(1);
  await keys.revoke(id);
  await guarded.recorder.append({ kind: "error", error: "unseen" });
  await source.ended;
  expect(source.text()).toContain('"seen"');
  // The note of a key comes before the key, so the tail may still see that; what is recorded afterwards it never sees.
  expect(`${withoutKey.text()} ${source.text()}`).not.toContain("unseen");
});

test("an export breaks off once its key is revoked, and asking for its headers alone writes nothing down", async () => {
  const guarded = await startServer();
  const { keys } = guarded.recorder;
  const filler = "what was said at length ".repeat(1_000);
  for (let batch = 0; batch < 4; batch += 1) {
    await guarded.recorder.append(
      Array.from({ length: 500 }, (_, index) => ({
        kind: "message",
        session_id: "s",
        role: "user",
        content: `${batch} ${index} ${filler}`,
      })),
    );
  }
  const { id, key } = await keys.create({ scope: "admin" });
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`${guarded.address}/export`, { method: "HEAD", headers })).status).toBe(405);
  const before = await guarded.recorder.listEntries({ kind: "audit" });
  expect(JSON.stringify(before)).not.toContain('"export"');
  const { body } = await fetch(`${guarded.address}/export`, { headers });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await keys.revoke(id);
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow();
});

test("a capture key proposes in its own name, and a review key can name the actor", async () => {
  const evidence = [{ entry_id: "spoken", quote: "I want every answer to be short" }];
  const authorization = `Bearer ${keyByScope.get("capture")}`;
  const spoken = { kind: "message", id: "spoken", session_id: "s", role: "user", project: "p" };
  const entry = { ...spoken, content: "I want every answer to be short" };
  const headers = { authorization, "content-type": "application/json" };
  expect((await server().post("/entries", entry, headers)).status).toBe(201);
  const propose = (scope: Scope, more: object): Promise<HttpResponse> =>
    server().post(
      "/memories",
      { status: "candidate", type: "preference", content: "Wants every answer to be short", evidence, ...more },
      { authorization: `Bearer ${keyByScope.get(scope)}`, "content-type": "application/json" },
    );
  const refused = await propose("capture", { actor: "anna" });
  expect([refused.status, refused.body.error.code]).toEqual([403, "scope_insufficient"]);
  const taken = await propose("capture", {});
  expect([taken.status, taken.body]).toEqual([202, { status: "taken" }]);
  const [candidate] = (await server().recorder.memories.list({ status: "candidate" })).memories;
  const { history } = (await server().recorder.memories.get(candidate?.id ?? "")) ?? { history: [] };
  expect(history[0]?.actor).toMatch(/^key:/);
  const named = await propose("review", { actor: "anna", content: "Wants no answer to be long, ever" });
  expect((await server().recorder.memories.get(named.body.id))?.history[0]?.actor).toBe("anna");
});
