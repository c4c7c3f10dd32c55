// Bad input over HTTP: one clear error each, with its code, field and index, and nothing stored.
import { Agent, request as httpRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type HttpResponse, serverOfFile, startServer } from "./http-client.js";

const server = serverOfFile();
const MiB = 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };
const NDJSON = { "content-type": "application/x-ndjson" };
const good = '{"kind":"error","error":"e"}';
const entry = (fields: object) => ({ kind: "error", error: "e", ...fields });
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** Refused with a 400: what, its fields in addition to a good prompt, code, field. */
const fields: readonly [string, object, string, string][] = [
  ["a blank prompt", { prompt: " \n\t " }, "prompt_blank", "prompt"],
  ["no prompt", { prompt: undefined }, "field_missing", "prompt"],
  ["a prompt that is a number", { prompt: 7 }, "prompt_blank", "prompt"],
  ["a response that is a list", { response: [] }, "field_invalid", "response"],
  ["a context pack that is text", { context_pack: "x" }, "field_invalid", "context_pack"],
  ["a memory that is null", { memories_used: [null] }, "field_invalid", "memories_used"],
  ["an id of digits alone", { id: "123" }, "id_invalid", "id"],
  ["a project called -", { project: "-" }, "label_invalid", "project"],
  ["a session called ..", { session_id: ".." }, "session_id_invalid", "session_id"],
  ["a time that is none", { created_at: "soon" }, "time_invalid", "created_at"],
  ["another kind", { kind: "error", error: "e" }, "field_invalid", "kind"],
];

/** Refused with a 400: what, the whole body, code, field. */
const bodies: readonly [string, string | Buffer | undefined, string, string?][] = [
  ["a list", '[{"prompt":"p"}]', "field_invalid", "body"],
  ["a text", '"text"', "field_invalid", "body"],
  ["null", "null", "field_invalid", "body"],
  ["nothing", undefined, "body_missing"],
  ["an empty text", "", "body_missing"],
  ["white space", " \n ", "body_missing"],
  ["broken JSON", '{"prompt": hello}', "json_invalid"],
  ["JSON that ends too soon", '{"prompt": "hel', "json_invalid"],
  ["invalid UTF-8", Buffer.from('{"prompt":"\xff"}', "latin1"), "utf8_invalid"],
  ["100,000 nested levels", `{"prompt":"p","a":${deep(100_000)}}`, "nesting_too_deep"],
  ["four million nested levels", `{"prompt":"p","a":${deep(4_000_000)}}`, "nesting_too_deep"],
];

/** Refused with a 400 by POST /entries: what, the entry or entries, code, field, index. */
const entries: readonly [string, unknown, string, string?, number?][] = [
  ["an unknown kind", { kind: "gossip" }, "kind_unknown", "kind"],
  ["a reserved kind", { kind: "audit" }, "kind_reserved", "kind"],
  ["no kind", { prompt: "p" }, "field_missing", "kind"],
  ["a message without a session", { kind: "message", role: "user", content: "x" }, "session_id_invalid", "session_id"],
  ["an unknown role", { kind: "message", session_id: "s", role: "king", content: "x" }, "role_unknown", "role"],
  ["a confidence of 2", { kind: "decision", decision: "d", confidence: 2 }, "confidence_out_of_range", "confidence"],
  ["an empty list", [], "entries_missing"],
  ["a list with a bad item", [entry({}), entry({}), { kind: "error" }], "field_missing", "error", 2],
  ["a list with an item that is no object", [entry({}), 7], "field_invalid", "entry", 1],
];

/** Refused with a 400 by POST /entries: what, the lines, code, index. */
const lines: readonly [string, string | Buffer, string, number?][] = [
  ["no lines", "\n\n", "entries_missing"],
  ["a bad line", `${good}\n\n{"kind":\n`, "json_invalid", 1],
  ["a line that is not UTF-8", Buffer.from(`${good}\n"\xff"`, "latin1"), "utf8_invalid", 1],
  ["a nested line", `${good}\n{"kind":"error","error":"e","x":${deep(100_000)}}`, "nesting_too_deep", 1],
];

/** Refused by their media type: what, the headers, field. */
const types: readonly [string, { readonly [name: string]: string }, string][] = [
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, "content-type"],
  ["a type that is none", { "content-type": ";;;" }, "content-type"],
  ["lines where one document is taken", NDJSON, "content-type"],
  ["a compressed body", { ...JSON_TYPE, "content-encoding": "gzip" }, "content-encoding"],
];

test.each(fields)("an interaction with %s is refused", async (_, given, code, field) => {
  await expectRefused(() => server().post("/interactions", { prompt: "p", ...given }), { status: 400, code, field });
});

test.each(bodies)("a body of %s is refused", async (_, body, code, field) => {
  await expectRefused(() => server().post("/interactions", body), { status: 400, code, field });
});

test.each(entries)("as entries, %s is refused", async (_, body, code, field, index) => {
  await expectRefused(() => server().post("/entries", body), { status: 400, code, field, index });
});

test.each(lines)("as lines of JSON, %s is refused", async (_, body, code, index) => {
  await expectRefused(() => server().post("/entries", body, NDJSON), { status: 400, code, index });
});

test.each(types)("%s is a 415 with a hint", async (_, headers, field) => {
  const refused = { status: 415, code: "content_type_unsupported", field };
  const { hint } = await expectRefused(() => server().post("/interactions", '{"prompt":"p"}', headers), refused);
  expect(hint).toBeTruthy();
});

test("a parameter on a route without parameters is refused", async () => {
  const refused = { status: 400, code: "parameter_unknown", field: "project" };
  await expectRefused(() => server().post("/interactions?project=x", { prompt: "p" }), refused);
});

test("a response for an interaction that is not there is a 404", async () => {
  const refused = { status: 404, code: "interaction_not_found", field: "interaction_id" };
  await expectRefused(() => server().post("/interactions/none/response", { response: "r" }), refused);
});

test("an entry over 16 MiB is a 413, alone and in a batch", async () => {
  const large = "x".repeat(16 * MiB);
  const refused = { status: 413, code: "entry_too_large" };
  await expectRefused(() => server().post("/interactions", { prompt: "p", response: large }), refused);
  await expectRefused(() => server().post("/entries", [entry({}), entry({ context: large })]), {
    ...refused,
    index: 1,
  });
});

test("a request over 64 MiB is a 413, whether its length was announced or not", async () => {
  const refused = { status: 413, code: "request_too_large" };
  await expectRefused(() => server().post("/entries", Buffer.alloc(64 * MiB + 1, " ")), refused);
  const chunked = await postInChunks(`${server().address}/entries`, Buffer.alloc(MiB, " "), 70);
  expect(chunked).toEqual(refused);
});

test("the connection lives on after a refused body", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = new Set<unknown>();
  for (const body of ["{broken", '{"prompt":" "}', " "]) {
    const { status, socket } = await postThrough(agent, `${server().address}/interactions`, body);
    expect(status).toBe(400);
    sockets.add(socket);
  }
  expect(sockets.size).toBe(1);
});

test("a request of nearly 64 MiB with four entries of nearly 16 MiB is recorded", async () => {
  const server = await startServer();
  const error = "x".repeat(16 * MiB - 1000);
  const { status, body } = await server.post(
    "/entries",
    [1, 2, 3, 4].map(() => ({ kind: "error", error })),
  );
  expect([status, body.entries.length]).toEqual([201, 4]);
});

test("an id used again with other content is a conflict, and nothing is stored", async () => {
  const server = await startServer();
  await server.post("/interactions", { id: "i", prompt: "one" });
  const { status, body } = await server.post("/interactions", { id: "i", prompt: "two" });
  expect(status).toBe(409);
  expect(body.error).toMatchObject({ code: "id_conflict", field: "id" });
  expect((await server.get("/interactions/i")).body.prompt).toBe("one");
  expect((await server.get("/health")).body.position).toBe(1);
});

test("a batch with one bad item stores none of it", async () => {
  const server = await startServer();
  await server.post("/entries", entry({ id: "taken" }));
  const { status, body } = await server.post("/entries", [
    entry({}),
    entry({ id: "taken", error: "other" }),
    entry({}),
  ]);
  expect(status).toBe(409);
  expect(body.error).toMatchObject({ code: "id_conflict", index: 1 });
  expect((await server.get("/health")).body.position).toBe(1);
});

test("an error about broken JSON says where it is", async () => {
  const server = await startServer();
  const { message } = (await server.post("/interactions", '{"prompt": hello}')).body.error;
  expect(message).toMatch(/^the body is not valid JSON: Unexpected token 'h'/);
  const lines = await server.post("/entries", '\n{"kind" "error"}', NDJSON);
  expect(lines.body.error.message).toMatch(/^line 2 is not valid JSON: .*position 8/);
});

/** Nothing is stored by what is refused, and the answer has the usual shape. */
async function expectRefused(
  send: () => Promise<HttpResponse>,
  expected: { status: number; code: string; field?: string | undefined; index?: number | undefined },
): Promise<{ readonly hint?: string }> {
  const before = await server().recorder.health();
  const { status, body } = await send();
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error.message).toEqual(expect.any(String));
  const { code, field, index } = body.error;
  expect({ status, code, field, index }).toEqual({ field: undefined, index: undefined, ...expected });
  expect((await server().recorder.health()).position).toBe(before.position);
  return body.error;
}

function postThrough(agent: Agent, address: string, body: string): Promise<{ status: number; socket: unknown }> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(address, { method: "POST", headers: JSON_TYPE, agent }, (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode ?? 0, socket: sending.socket }));
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

function postInChunks(address: string, chunk: Buffer, count: number): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(address, { method: "POST", headers: JSON_TYPE }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (part: Buffer) => chunks.push(part));
      response.on("end", () => {
        const { error } = JSON.parse(Buffer.concat(chunks).toString()) as { error: { code: string } };
        resolve({ status: response.statusCode ?? 0, code: error.code });
      });
    });
    sending.on("error", reject);
    for (let sent = 0; sent < count; sent += 1) sending.write(chunk);
    sending.end();
  });
}
