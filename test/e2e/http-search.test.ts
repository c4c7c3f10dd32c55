// Search over HTTP: the document, typed and given filters, pages, and every kind of bad input.
import { beforeAll, describe, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { serverOfFile, startServer } from "./http-client.js";

const server = serverOfFile();

const entries: readonly EntryInput[] = [
  { kind: "message", session_id: "s 1", role: "user", content: "Is the BUILD green?", project: "atlas" },
  { kind: "tool_call", session_id: "s 1", tool: "run", args: { command: "npm test" }, result: "412 passed" },
  { kind: "error", error: "build broke: 请解释一下 🙂 cafe\u0301", context: 'say "AND" (x*) foo:bar role:user' },
  { kind: "message", session_id: "t", role: "assistant", content: "half \ud83d alone and 🙂 whole" },
];

beforeAll(async () => {
  expect((await server().post("/entries", entries)).status).toBe(201);
});

function ask(query: { readonly [name: string]: string }): ReturnType<ReturnType<typeof server>["get"]> {
  return server().get(`/search?${new URLSearchParams(query)}`);
}

async function positions(q: string, filters: { readonly [name: string]: string } = {}): Promise<readonly number[]> {
  const { status, body } = await ask({ q, ...filters });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.results.map((hit: { readonly position: number }) => hit.position);
}

test("the document has hits with their reason, and a cursor", async () => {
  const { status, body } = await ask({ q: "build" });
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["results", "next_cursor"]);
  expect(body.next_cursor).toBeNull();
  expect(body.results).toMatchObject([
    { position: 3, kind: "error", field: "error", matches: [[0, 5]] },
    { position: 1, kind: "message", field: "content", snippet: "Is the BUILD green?", matches: [[7, 12]] },
  ]);
});

test.each<[string, { readonly [name: string]: string }, readonly number[]]>([
  ["build green", {}, [1]],
  ['"build green"', {}, [1]],
  ["build -green", {}, [3]],
  ["role:user", {}, [1]],
  ["build", { project: "atlas" }, [1]],
  ["build project:atlas", { project: "beacon" }, []],
  ['session_id:"s 1"', {}, [2, 1]],
  ["", { kind: "error" }, [3]],
  ["build", { since: "2999-01-01" }, []],
  ["build until:2000-01-01", {}, []],
  ["请", {}, [3]],
  ["解释", {}, [3]],
  ["🙂", {}, [4, 3]],
  ["CAFÉ", {}, [3]],
  ["cafe", {}, []],
  ["4", {}, [2]],
  ['"unbalanced', {}, []],
  ['say "', {}, [3]],
  ["AND", {}, [4, 3, 2]],
  ["(x*)", {}, [3]],
  ["foo:bar", {}, [3]],
  ['"role:user"', {}, [3]],
  ["*", {}, [3]],
  ["-build", {}, [4, 2]],
])("%j with %j finds %j", async (q, filters, expected) => {
  expect(await positions(q, filters)).toEqual(expected);
});

test.each<[{ readonly [name: string]: string }, string, string]>([
  [{}, "query_empty", "q"],
  [{ q: " " }, "query_empty", "q"],
  [{ q: '""', project: "" }, "query_empty", "q"],
  [{ q: "role:boss" }, "role_unknown", "q"],
  [{ q: "x kind:gossip" }, "kind_unknown", "q"],
  [{ q: "x since:yesterday" }, "time_invalid", "q"],
  [{ q: "x", role: "boss" }, "role_unknown", "role"],
  [{ q: "x", kind: "gossip" }, "kind_unknown", "kind"],
  [{ q: "x", until: "soon" }, "time_invalid", "until"],
  [{ q: "x", limit: "many" }, "limit_invalid", "limit"],
  [{ q: "x", cursor: "nonsense" }, "cursor_invalid", "cursor"],
  [{ q: "x", facets: "all" }, "field_invalid", "facets"],
  [{ q: "x", session: "s" }, "parameter_unknown", "session"],
])("%j is a 400 that says what to change", async (query, code, field) => {
  const { status, body } = await ask(query);
  expect({ status, ...body.error }).toMatchObject({ status: 400, code, field });
  expect(body.error.message).not.toBe("");
});

test.each([
  ["build role:boss", '"role:boss" at character 7 of the query: unknown role "boss"'],
  ["🙂 kind:gossip", '"kind:gossip" at character 3 of the query: unknown kind "gossip"'],
  ['x since:"last week"', '"since:\\"last week\\"" at character 3 of the query: since is not a time'],
  ["x y until:2026-13-01", '"until:2026-13-01" at character 5 of the query: until is not a time'],
  ["session_id:.. x", '"session_id:.." at character 1 of the query: session_id must not be "." or ".."'],
  [`x project:${"p".repeat(300)}`, '" at character 3 of the query: project'],
])("the refusal of %j points at the offending word", async (q, says) => {
  const { status, body } = await ask({ q });
  expect({ status, field: body.error.field }).toEqual({ status: 400, field: "q" });
  expect(body.error.message).toContain(says);
  expect(body.error.hint).toContain("put it in quotes");
  // Quoted, it is text like any other.
  expect((await ask({ q: `"${q.replaceAll('"', "")}"` })).status).toBe(200);
});

test.each<[string, readonly number[]]>([
  ["x", []],
  ["请", []],
  ["x ", [3]],
  ["-y ", [4, 2, 1]],
])("a query of 10,000 characters is answered: %j again and again finds %j", async (piece, expected) => {
  expect(await positions(piece.repeat(10_000 / piece.length))).toEqual(expected);
});

test("a query that is too long is refused by a stated limit", async () => {
  const { status, body } = await ask({ q: "x".repeat(40_000) });
  expect({ status, ...body.error }).toMatchObject({ status: 400, code: "query_too_long", field: "q" });
  expect(body.error.message).toContain("32768");
});

test("a lone surrogate cannot be sent, and is found through the library", async () => {
  const { status, body } = await server().get("/search?q=%ED%A0%BD");
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: "request_invalid" });
  const { results } = await server().recorder.search("\ud83d");
  expect(results.map(({ position }) => position)).toEqual([4]);
});

test.each(["x%80", "%C3", "%F0%9F%99"])("bytes that are no text are refused: %s", async (q) => {
  const { status, body } = await server().get(`/search?q=${q}`);
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: "request_invalid" });
});

test("facets are counted on request", async () => {
  const { body } = await ask({ q: "build", facets: "1", limit: "1" });
  expect(body.results).toHaveLength(1);
  expect(body.facets).toMatchObject({ counted: 2, complete: true, kinds: [{ kind: "error" }, { kind: "message" }] });
});

describe("pages", () => {
  test("lead to every hit, and a cursor belongs to its query", async () => {
    const first = await ask({ q: "build", limit: "1" });
    expect(first.body.results).toHaveLength(1);
    const cursor = first.body.next_cursor;
    expect(await positions("build", { limit: "1", cursor })).toEqual([1]);
    expect((await ask({ q: "builds", limit: "1", cursor })).body.error.code).toBe("cursor_invalid");
    expect((await ask({ q: "build", project: "atlas", cursor })).body.error.code).toBe("cursor_invalid");
    expect((await server().get(`/entries?cursor=${cursor}`)).body.error.code).toBe("cursor_invalid");
  });

  test("reach every hit exactly once while others are written", async () => {
    const note = (text: string): EntryInput => ({ kind: "decision", decision: text });
    await server().post(
      "/entries",
      Array.from({ length: 40 }, (_, at) => note(`pageable ${at}`)),
    );
    const before = await positions("pageable", { limit: "500" });
    const found: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const asked: { readonly [name: string]: string } = cursor === "" ? {} : { cursor };
      const writing = server().post("/entries", [
        note("pageable, but later"),
        { ...note("pageable, earlier"), created_at: "2026-01-01" },
      ]);
      const { body }: Awaited<ReturnType<typeof ask>> = await ask({ q: "pageable", limit: "7", ...asked });
      await writing;
      found.push(...body.results.map((hit: { readonly position: number }) => hit.position));
      cursor = body.next_cursor;
    }
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((position) => before.includes(position))).toEqual(before);
  });

  test("zero gives none, and more than 500 is 500", async () => {
    expect((await ask({ q: "build", limit: "0" })).body).toEqual({ results: [], next_cursor: null });
    expect(await positions("build", { limit: "100000" })).toEqual([3, 1]);
  });
});

test("what one process recorded is found by another at once", async () => {
  const other = await startServer({ data: server().data });
  for (let at = 0; at < 5; at += 1) {
    await other.recorder.append({ kind: "decision", decision: `across ${at};` });
    expect(await positions(`"across ${at};"`)).toHaveLength(1);
  }
});

test("lists take the same filters as search", async () => {
  const { body } = await server().get("/entries?role=timmy&kind=message&session_id=t&since=1d&client=-");
  expect(body.entries).toMatchObject([{ position: 4 }]);
});
