// Who may do what: every route of the interface, with every scope, and with no key, a wrong one and a revoked one.
import { beforeAll, describe, expect, test } from "vitest";
import { allows, type Scope, scopes } from "../../src/guard/scopes.js";
import { openRecorder } from "../../src/index.js";
import { needByRoute } from "../../src/operations/scopes.js";
import { createServer } from "../../src/surfaces/http/server.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { listen } from "./event-source.js";
import { type Answer, serverOfFile, startServer } from "./http-client.js";

const server = serverOfFile();
const keyByScope = new Map<Scope, string>();
let revoked = "";

beforeAll(async () => {
  await server().post("/entries", { kind: "message", id: "first", session_id: "s", role: "user", content: "c" });
  const { keys } = server().recorder;
  for (const scope of scopes) keyByScope.set(scope, (await keys.create({ scope })).key);
  const { id, key } = await keys.create({ scope: "admin" });
  await keys.revoke(id);
  revoked = key;
});

interface Route {
  readonly method: string;
  readonly path: string;
}

/** The routes as the document of a server names them, since a new one must not be forgotten here. */
async function routes(): Promise<readonly Route[]> {
  const recorder = await openRecorder({ data: "memory:" });
  const app = createServer({ recorder, version: "1.2.3" });
  const { paths } = (await app.inject("/openapi.json")).json() as { paths: { [path: string]: object } };
  await recorder.close();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

function needOf({ method, path }: Route): string {
  return needByRoute[`${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`] as string;
}

async function ask({ method, path }: Route, authorization?: string): Promise<Pick<Answer, "status" | "body">> {
  const controller = new AbortController();
  const response = await fetch(`${server().address}${path.replace(/\{\w+\}/, "none")}`, {
    method,
    signal: controller.signal,
    headers: {
      ...(method === "POST" ? { "content-type": "application/json" } : {}),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(method === "POST" ? { body: "{}" } : {}),
  });
  // What is let in may be a stream without an end.
  const body = response.status >= 400 ? await response.json() : undefined;
  const challenge = response.headers.get("www-authenticate") ?? "";
  expect(challenge.startsWith("Bearer ")).toBe(response.status === 401 || response.status === 403);
  controller.abort();
  return { status: response.status, body };
}

const isRefusal = (status: number): boolean => status === 401 || status === 403;

describe.each(await routes())("$method $path", (route) => {
  const need = needOf(route);

  test("has a scope", () => {
    expect([...scopes, "open", "any"]).toContain(need);
  });

  test.each(scopes)("with a key of scope %s", async (scope) => {
    const { status, body } = await ask(route, `Bearer ${keyByScope.get(scope)}`);
    const isAllowed = need === "open" || need === "any" || allows(scope, need as Scope);
    if (isAllowed) expect(isRefusal(status), `${status}`).toBe(false);
    else expect([status, body.error.code]).toEqual([403, "scope_insufficient"]);
  });

  test.each([
    ["no key", undefined, "key_missing"],
    ["a wrong key", `Bearer hansard_${"0".repeat(16)}_${"A".repeat(43)}`, "key_wrong"],
    ["what is no key", "Bearer let me in", "key_wrong"],
    ["another scheme", `Basic ${btoa("admin:admin")}`, "key_wrong"],
    ["an empty header", "", "key_missing"],
  ])("with %s", async (_, authorization, code) => {
    const { status, body } = await ask(route, authorization);
    if (need === "open") expect(isRefusal(status)).toBe(false);
    else expect([status, ["key_missing", "key_wrong"].includes(body.error.code)]).toEqual([401, true]);
    if (need !== "open" && authorization !== "") expect(body.error.code).toBe(code);
  });

  test("with a key that was revoked", async () => {
    const { status, body } = await ask(route, `Bearer ${revoked}`);
    if (need === "open") expect(isRefusal(status)).toBe(false);
    else expect([status, body.error.code]).toEqual([401, "key_wrong"]);
  });

  test("with another key's id and a secret of one's own", async () => {
    const forged = `${keyByScope.get("admin")?.slice(0, 25)}${"x".repeat(43)}`;
    const { status } = await ask(route, `Bearer ${forged}`);
    expect(status === 401).toBe(need !== "open");
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
});

test("what is open shows nothing that was recorded", async () => {
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

test("a route that nobody gave a scope keeps the server from starting", () => {
  const { recorder } = memoryRecorder();
  const app = createServer({ recorder, version: "1.2.3" });
  expect(() => app.get("/secret-door", () => "come in")).toThrow("GET /secret-door has no scope");
});

test("the document says which scope each call needs", async () => {
  const { components, paths } = (await server().get("/openapi.json")).body;
  expect(components.securitySchemes).toMatchObject({ key: { type: "http", scheme: "bearer" } });
  for (const route of await routes()) {
    const need = needOf(route);
    const expected = need === "open" ? [] : [{ key: need === "any" ? [] : [need] }];
    expect(paths[route.path][route.method.toLowerCase()].security, route.path).toEqual(expected);
  }
});

test("without keys whoever reaches this machine is the person, and a key that is sent all the same does no harm", async () => {
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

test("whoever asks is told what they may do, and only who may do all which keys there are", async () => {
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

test("keys made and revoked are entries that say who did it and never hold the key", async () => {
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

test("a tail ends before its next entry once its key is revoked, or once a key exists where it had none", async () => {
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

test("who may only capture proposes in the name of the key, and whoever may review says whose word it is", async () => {
  const evidence = [{ entry_id: "spoken", quote: "I want every answer to be short" }];
  await server().recorder.append({
    kind: "message",
    id: "spoken",
    session_id: "s",
    role: "user",
    project: "p",
    content: "I want every answer to be short",
  });
  const propose = (scope: Scope, more: object): Promise<Answer> =>
    server().post(
      "/memories",
      { status: "candidate", type: "preference", content: "Wants every answer to be short", evidence, ...more },
      { authorization: `Bearer ${keyByScope.get(scope)}`, "content-type": "application/json" },
    );
  const refused = await propose("capture", { actor: "anna" });
  expect([refused.status, refused.body.error.code]).toEqual([403, "scope_insufficient"]);
  const taken = await propose("capture", {});
  expect(taken.status).toBe(201);
  const { history } = (await server().recorder.memories.get(taken.body.id)) ?? { history: [] };
  expect(history[0]?.actor).toMatch(/^key:/);
  const named = await propose("review", { actor: "anna", content: "Wants no answer to be long, ever" });
  expect((await server().recorder.memories.get(named.body.id))?.history[0]?.actor).toBe("anna");
});
