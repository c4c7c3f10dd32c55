// Bad addresses, parameters and methods: one clear error each.
import { connect } from "node:net";
import { expect, test } from "vitest";
import { serverOfFile, type TestServer } from "./http-client.js";

const file = serverOfFile();
const entry = (fields: object) => ({ kind: "error", error: "e", ...fields });

test.each([
  ["/entries?since=yesterday", "time_invalid", "since"],
  ["/interactions?until=2026-13-01", "time_invalid", "until"],
  ["/entries?limit=many", "limit_invalid", "limit"],
  ["/entries?cursor=garbage", "cursor_invalid", "cursor"],
  ["/interactions?cursor=%00", "cursor_invalid", "cursor"],
  ["/entries?kind=gossip", "kind_unknown", "kind"],
  ["/entries?sesion_id=x", "parameter_unknown", "sesion_id"],
  ["/interactions?kind=interaction", "parameter_unknown", "kind"],
  ["/entries?project=a&project=b", "parameter_repeated", "project"],
  ["/entries?project=%ff", "request_invalid", "project"],
  ["/entries?__proto__=x", "parameter_unknown", "__proto__"],
  ["/health?x=1", "parameter_unknown", "x"],
  ["/verify?against=x", "parameter_unknown", "against"],
])("GET %s is refused as %s", async (path, code, field) => {
  const server = file();
  const { status, body } = await server.get(path);
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code, field });
});

test("an unknown parameter is answered with the one that was meant, and the known ones", async () => {
  const server = file();
  const { hint } = (await server.get("/entries?sesion_id=x")).body.error;
  expect(hint).toBe(
    "Did you mean session_id? Parameters are project, session_id, client, user_id, tag, parent_id, kind, role, tool, file, model, is, since, until, limit, cursor.",
  );
});

test("a cursor from a list with other filters is refused", async () => {
  const server = file();
  await server.post("/entries", [entry({}), entry({})]);
  const { next_cursor } = (await server.get("/entries?limit=1")).body;
  const elsewhere = await server.get(`/entries?limit=1&kind=error&cursor=${next_cursor}`);
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([400, "cursor_invalid"]);
  expect((await server.get(`/interactions?cursor=${next_cursor}`)).status).toBe(400);
});

test.each([
  ["/interactions/none", "interaction_not_found"],
  ["/interactions/", "interaction_not_found"],
  ["/entries/none", "entry_not_found"],
  ["/entries/99", "entry_not_found"],
  ["/entries/99999999999999999999", "entry_not_found"],
  ["/nowhere", "route_not_found"],
  ["/interactions/x/y", "route_not_found"],
])("GET %s is a 404 %s", async (path, code) => {
  const server = file();
  const { status, body } = await server.get(path);
  expect([status, body.error.code]).toEqual([404, code]);
});

test("an entry of another kind is not an interaction", async () => {
  const server = file();
  await server.post("/entries", entry({ id: "e" }));
  expect((await server.get("/interactions/e")).body.error.code).toBe("interaction_not_found");
});

test.each([
  ["PUT", "/interactions", "GET, HEAD, POST"],
  ["DELETE", "/entries/x", "GET, HEAD"],
  ["POST", "/health", "GET, HEAD"],
  ["GET", "/interactions/x/response", "POST"],
])("%s %s is a 405 that names the allowed methods", async (method, path, allowed) => {
  const server = file();
  const { status, headers, body } = await server.request(path, { method });
  expect([status, body.error.code, headers.get("allow")]).toEqual([405, "method_not_allowed", allowed]);
});

test("a body sent to an unknown address is still a 404", async () => {
  const server = file();
  expect((await server.post("/nowhere", "{broken")).body.error.code).toBe("route_not_found");
  expect((await server.post("/nowhere", "x", { "content-type": "text/plain" })).status).toBe(404);
});

test("a malformed URL, an overlong id, huge headers and invalid HTTP get errors in the usual form", async () => {
  const server = file();
  expect((await server.get("/entries/%zz")).body.error).toMatchObject({ code: "request_invalid" });
  expect((await server.get(`/entries/${"a".repeat(2000)}`)).body.error).toMatchObject({ code: "request_invalid" });
  const huge = await speak(server, `GET /health HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(200_000)}\r\n\r\n`);
  expect(huge).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/);
  expect(await speak(server, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"request_invalid"/);
});

function speak(server: TestServer, text: string): Promise<string> {
  const { hostname, port } = new URL(server.address);
  return new Promise((resolve, reject) => {
    let heard = "";
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
    socket.on("data", (bytes) => {
      heard += bytes.toString();
    });
    socket.on("close", () => resolve(heard));
    socket.on("error", reject);
  });
}
