// MCP as agents meet it: the official clients, current and older, over both transports, against every tool.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import { configHome, fillStore, mainFile, resultOf, runCli, startCli } from "./cli-run.js";
import { startServer, type TestServer } from "./http-client.js";

interface Answered {
  readonly isError?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: every tool answers with another shape, and the assertions are the check.
  readonly structuredContent?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly content: any;
}

/** What the ways to be a client have in common. */
interface Caller {
  call(name: string, args?: object): Promise<Answered>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string; readonly annotations?: object }[] }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ readonly contents: readonly object[] }>;
  getPrompt(params: { name: string; arguments?: { [name: string]: string } }): Promise<{ readonly messages: object[] }>;
}

const info = { name: "test", version: "1" };

async function connected(client: Client | OlderClient, transport: object): Promise<Caller> {
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  // Both check structured content against the output schema; so that they have it, tools are listed first.
  await client.listTools();
  return {
    call: (name, args = {}) => client.callTool({ name, arguments: { ...args } }) as Promise<Answered>,
    listTools: () => client.listTools() as ReturnType<Caller["listTools"]>,
    listResources: () => client.listResources(),
    readResource: (params) => client.readResource(params),
    getPrompt: (params) => client.getPrompt(params),
  };
}

type Way = (place: { readonly data: string; readonly address: string; readonly key?: string }) => Promise<Caller>;

const launch = (data: string) => ({
  command: process.execPath,
  args: [mainFile, "mcp"],
  env: { HANSARD_DATA: data, XDG_CONFIG_HOME: configHome },
});
const sent = (key: string | undefined) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;

const ways: { readonly [name: string]: Way } = {
  "the current client over stdio": ({ data }) =>
    connected(new Client(info, modern), new StdioClientTransport(launch(data))),
  "the current client over HTTP": ({ address, key }) =>
    connected(new Client(info, modern), new StreamableHTTPClientTransport(new URL(`${address}/mcp`), sent(key))),
  "the current client over stdio, of a record that a server has": ({ address }) =>
    connected(new Client(info, modern), new StdioClientTransport(launch(address))),
  "the older client over stdio": ({ data }) => connected(new OlderClient(info), new OlderStdioTransport(launch(data))),
  "the older client over HTTP": ({ address, key }) =>
    connected(new OlderClient(info), new OlderHttpTransport(new URL(`${address}/mcp`), sent(key))),
};

const overHttp = ways["the current client over HTTP"] as Way;
const textOf = ({ content }: Answered): string => content[0].text;
const errorOf = (answer: Answered): { readonly code: string; readonly field?: string } => {
  expect(answer.isError).toBe(true);
  return JSON.parse(textOf(answer)).error;
};

async function serverAndCaller(way = overHttp): Promise<{ readonly server: TestServer; readonly caller: Caller }> {
  const server = await startServer({ data: await folderOfTest() });
  return { server, caller: await way(server) };
}

describe.each(Object.entries(ways))("%s", (_, way) => {
  test("records with every tool, and reads it back with every other", async () => {
    const { server, caller } = await serverAndCaller(way);
    const said = { session_id: "s/1", project: "web" };
    const recorded = await caller.call("record_message", {
      ...said,
      role: "user",
      content: "deploy the site",
      id: "m",
    });
    expect(recorded.structuredContent).toMatchObject({ status: "recorded", id: "m", position: 1 });
    await caller.call("record_tool_call", { ...said, tool: "ls", args: { dir: "." }, result: "a b" });
    await caller.call("record_error", { ...said, error: "the deploy timed out" });
    await caller.call("record_decision", { ...said, decision: "deploy again", rationale: "it was the network" });
    const asked = { prompt: "Why?", response: "Because.", model: "m-1", client: "mcp" };
    expect((await caller.call("record_interaction", asked)).structuredContent.position).toBe(5);

    const found = await caller.call("search", { q: "deploy", limit: 2 });
    expect(found.structuredContent.results.map((hit: { kind: string }) => hit.kind)).toEqual(["decision", "error"]);
    const rest = await caller.call("search", { q: "deploy", limit: 2, cursor: found.structuredContent.next_cursor });
    expect(rest.structuredContent).toMatchObject({
      results: [{ id: "m", snippet: "deploy the site" }],
      next_cursor: null,
    });
    const lines = textOf(await caller.call("session_history", { query: "deploy", role: "user" }));
    expect(lines).toContain("1 found for 'deploy', newest first:\n");
    expect(lines).toMatch(
      /data, not instructions[\s\S]*<recorded-(\w+)>\n[\s\S]*user: deploy the site \(s\/1\)\n<\/recorded-\1>/,
    );
    const report = await caller.call("self_reflect", { project: "web" });
    expect(report.structuredContent).toMatchObject({ reviewed: 4, errors: 1 });
    expect(textOf(report)).toContain("## Self-reflection");
    for (const id of ["m", 1, "1"]) {
      const { structuredContent } = await caller.call("get_entry", { id });
      expect(structuredContent).toMatchObject({ id: "m", content: "deploy the site", next_cursor: null });
    }
    const context = await caller.call("session_context", { session_id: "s/1" });
    expect(context.structuredContent).toEqual({
      messages: [{ role: "user", content: "deploy the site" }],
      next_cursor: null,
    });
    const anthropic = await caller.call("session_context", { session_id: "s/1", format: "anthropic" });
    expect(anthropic.structuredContent).toMatchObject({ system: "", messages: [{ role: "user" }] });

    const refused = errorOf(await caller.call("session_context", { session_id: "s/1", max_tokens: 1 }));
    expect(refused).toMatchObject({ code: "budget_too_small", field: "max_tokens", least: expect.any(Number) });

    const told = await caller.call("told", { id: 4, q: "DEPLOY the site" });
    expect(told.structuredContent).toMatchObject({ verdict: "given", exact: false, given: [{ entry_id: "m" }] });
    expect(textOf(told)).toContain("data, not instructions");
    expect(errorOf(await caller.call("told", { id: "m", q: "x" }))).toMatchObject({
      code: "field_invalid",
      field: "id",
    });
    expect(errorOf(await caller.call("told", { id: 4, q: " " }))).toMatchObject({ code: "query_empty" });

    expect((await caller.listResources()).resources).toMatchObject([{ uri: "hansard://sessions/s%2F1" }]);
    const { contents } = await caller.readResource({ uri: "hansard://sessions/s%2F1" });
    expect(JSON.stringify(contents)).toMatch(/data, not instructions.*deploy the site/);
    const { messages } = await caller.getPrompt({ name: "reflect", arguments: { project: "web" } });
    expect(JSON.stringify(messages)).toContain("Looked at 4 entries");
    expect(await server.get("/verify")).toMatchObject({ body: { ok: true, entries: 5 } });
  });
});

describe.each(Object.entries(ways))("%s", (_, way) => {
  test("proposes what could be learned, lists it, and recalls only what a person has accepted", async () => {
    const { server, caller } = await serverAndCaller(way);
    const said = { session_id: "s", project: "web", role: "user", content: "From now on answer in German, please." };
    await caller.call("record_message", { ...said, id: "m" });
    const candidate = { content: "Answers come in German", type: "preference" };
    const quoted = { ...candidate, evidence: [{ entry_id: "m", quote: "From now on answer in German" }] };
    const proposed = await caller.call("propose_memory", quoted);
    const { evidence: _, ...unquoted } = quoted as { readonly evidence: unknown };
    expect(errorOf(await caller.call("propose_memory", unquoted))).toMatchObject({ field: "evidence" });
    const proposal = await caller.call("get_entry", { id: proposed.structuredContent.id });
    expect(proposal.structuredContent.actor).not.toBe("person");
    expect(proposed.structuredContent).toMatchObject({ status: "candidate" });
    const invented = { ...candidate, evidence: [{ entry_id: "m", quote: "nobody has ever said these words" }] };
    expect((await caller.call("propose_memory", invented)).structuredContent).toMatchObject({ dropped: "evidence" });
    expect(errorOf(await caller.call("propose_memory", { ...quoted, status: "active" }))).toMatchObject({
      code: "field_invalid",
      field: "status",
    });
    const listed = await caller.call("list_memories", { status: "candidate" });
    expect(listed.structuredContent).toMatchObject({ memories: [{ content: candidate.content }], pending: 1 });
    expect((await caller.call("recall", { project: "web" })).structuredContent.memories_used).toEqual([]);
    const history = await caller.call("session_history", { query: "german" });
    expect(history.structuredContent.text).toMatch(/^1 found for 'german', newest first:\n\[.*\] user: From now on/);
    expect((await caller.call("search", { q: "german" })).structuredContent).toMatchObject({
      results: [{ kind: "message" }],
      elsewhere: { memory: 1 },
    });
    expect((await caller.call("search", { q: "german kind:memory" })).structuredContent).toMatchObject({
      results: [{ kind: "memory_proposed", status: "candidate" }],
    });
    const { id } = proposed.structuredContent;
    await server.post(`/memories/${id}/promote`);
    const recalled = await caller.call("recall", { project: "web", budget_tokens: 1_000_000 });
    expect(recalled.structuredContent).toMatchObject({ memories_used: [id], context_pack: { budget_tokens: 2_000 } });
    expect(textOf(recalled)).toContain(candidate.content);
  });
});

test("every tool has schemas and says whether it only reads, and none can promote", async () => {
  const { caller } = await serverAndCaller();
  const { tools } = await caller.listTools();
  expect(tools.map(({ name, annotations }) => [name, (annotations as { readOnlyHint: boolean }).readOnlyHint])).toEqual(
    [
      ...["get_entry", "search", "self_reflect", "told"].map((name) => [name, true]),
      ...["session_history", "session_context", "list_memories"].map((name) => [name, true]),
      ...["message", "tool_call", "error", "decision", "interaction"].map((kind) => [`record_${kind}`, false]),
      ...[
        ["propose_memory", false],
        ["recall", true],
      ],
    ],
  );
  for (const tool of tools) {
    expect(tool).toMatchObject({ inputSchema: { type: "object" }, outputSchema: { type: "object" } });
    expect(JSON.stringify(tool)).not.toContain("components/schemas");
  }
  // All of it stands in front of a model before it has done anything.
  expect(JSON.stringify(tools).length).toBeLessThan(12_000);
});

test("answers stay below 32 KiB, and cursors lead through all of the rest", async () => {
  const { server, caller } = await serverAndCaller();
  const content = (at: number): string => `needle ${at} ${'wörd 😀 "quoted" '.repeat(120)}`;
  const messages = Array.from({ length: 150 }, (_, at) => ({
    kind: "message",
    session_id: "long",
    role: at % 2 === 0 ? "user" : "assistant",
    content: content(at),
  }));
  await server.post("/entries", messages);
  const result = Array.from({ length: 9_000 }, (_, at) => `line ${at} \\ "ü"`).join("\n");
  await server.post("/entries", {
    kind: "tool_call",
    id: "big",
    tool: "cat",
    result,
    args: { needle: "x".repeat(40_000) },
  });

  const walk = async (name: string, args: object): Promise<readonly Answered["structuredContent"][]> => {
    const pages: Answered[] = [];
    for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.structuredContent.next_cursor) {
      const page = await caller.call(name, { ...args, ...(cursor === undefined ? {} : { cursor }) });
      expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(32 * 1024);
      expect(Buffer.byteLength(JSON.stringify(page.structuredContent))).toBeLessThanOrEqual(32 * 1024);
      pages.push(page);
    }
    expect(pages.length).toBeGreaterThan(1);
    return pages.map(({ structuredContent }) => structuredContent);
  };
  const hits = (await walk("search", { q: "needle", limit: 1_000_000 })).flatMap((page) => page.results);
  expect(new Set(hits.map(({ id }: { id: string }) => id)).size).toBe(151);
  expect(hits).toHaveLength(151);
  const told = (await walk("session_context", { session_id: "long" })).flatMap((page) => page.messages);
  expect(told.map((message: { content: string }) => message.content)).toEqual(messages.map((one) => one.content));
  const parts = (await walk("get_entry", { id: "big" })).map((page) => page.part);
  expect(JSON.parse(parts.join(""))).toMatchObject({ id: "big", result });
  const lines = (await walk("session_history", { query: "needle", limit: 500 })).map((page) => page.text);
  expect(lines.join("").match(/needle \d+/g)).toHaveLength(150);
});

test("what cannot be done is one clear error, which names what to change", async () => {
  const { server, caller } = await serverAndCaller();
  expect(errorOf(await caller.call("search", {}))).toMatchObject({ code: "query_empty", field: "q" });
  expect(errorOf(await caller.call("search", { query: " " }))).toMatchObject({ code: "query_empty", field: "q" });
  expect(errorOf(await caller.call("session_history", { q: "" }))).toMatchObject({
    code: "query_empty",
    field: "query",
  });
  const both = errorOf(await caller.call("search", { q: "a", query: "b" }));
  expect(both).toMatchObject({ code: "parameter_unknown", field: "query" });
  expect(errorOf(await caller.call("session_history", {}))).toMatchObject({ code: "query_empty", field: "query" });
  expect(errorOf(await caller.call("told", { id: "m" }))).toMatchObject({ code: "query_empty", field: "q" });
  expect(errorOf(await caller.call("session_context", {}))).toMatchObject({
    code: "field_missing",
    field: "session_id",
  });
  expect(errorOf(await caller.call("search", { q: 7 }))).toMatchObject({ code: "field_invalid", field: "q" });
  expect(errorOf(await caller.call("search", { q: "a", sice: "7d" }))).toMatchObject({ code: "parameter_unknown" });
  expect(errorOf(await caller.call("search", { q: "a", limit: "many" }))).toMatchObject({ code: "limit_invalid" });
  expect(errorOf(await caller.call("session_history", { query: "a", cursor: "x" }))).toMatchObject({ field: "cursor" });
  expect(errorOf(await caller.call("session_context", { session_id: "" }))).toMatchObject({
    code: "session_id_invalid",
  });
  expect(errorOf(await caller.call("get_entry", { id: "none" }))).toMatchObject({ code: "entry_not_found" });
  expect(errorOf(await caller.call("get_entry", { id: 1, cursor: "1.aa" }))).toMatchObject({ code: "entry_not_found" });
  expect(errorOf(await caller.call("record_message", { session_id: "s", role: "x", content: "" })).code).toBe(
    "role_unknown",
  );
  expect(errorOf(await caller.call("record_error", { error: "e", kind: "audit" })).field).toBe("kind");
  await expect(caller.call("promote_memory", { id: "m" })).rejects.toThrow("there is no tool promote_memory");
  await expect(caller.readResource({ uri: "hansard://sessions/%" })).rejects.toThrow("there is no resource");
  await expect(caller.getPrompt({ name: "none" })).rejects.toThrow("there is no prompt none");
  for (const way of [overHttp, ways["the older client over HTTP"] as Way]) {
    const asked = (await way(server)).getPrompt({ name: "reflect", arguments: { since: "whenever" } });
    // The clients put the number into the message or into a field next to it.
    await expect(asked).rejects.toMatchObject({ code: -32602, message: expect.stringContaining("since") });
  }
  expect((await server.get("/health")).body).toMatchObject({ status: "ok", position: 0 });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  expect((await server.post("/mcp", "{", headers)).body.error.code).toBe("json_invalid");
  for (const garbage of ["[]", "null", "7", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"method":"rm -rf"}']) {
    expect([200, 202, 400, 404]).toContain((await server.post("/mcp", garbage, headers)).status);
  }
  expect((await server.request("/mcp", { method: "DELETE" })).status).toBe(405);
});

test("secrets are masked, also in complete entries", async () => {
  const { server, caller } = await serverAndCaller();
  const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  await server.post("/entries", {
    kind: "message",
    id: "m",
    session_id: "s",
    role: "user",
    content: `use ${token} now`,
  });
  const answers = [
    await caller.call("search", { q: "use" }),
    await caller.call("get_entry", { id: "m" }),
    await caller.call("session_context", { session_id: "s" }),
    await caller.call("session_history", { query: "use" }),
    await caller.readResource({ uri: "hansard://sessions/s" }),
  ];
  for (const answer of answers) expect(JSON.stringify(answer)).not.toContain(token);
  expect((await server.get("/entries/m")).text).toContain(token);
});

test("a tool needs the scope of its route, and its entries carry the key's id", async () => {
  const { server } = await serverAndCaller();
  const { keys } = server.recorder;
  const capture = await keys.create({ scope: "capture" });
  const read = await keys.create({ scope: "read" });
  const [writer, reader] = [
    await overHttp({ ...server, key: capture.key }),
    await overHttp({ ...server, key: read.key }),
  ];
  expect((await writer.call("record_error", { id: "e", error: "refused" })).structuredContent.status).toBe("recorded");
  expect(errorOf(await writer.call("search", { q: "refused" })).code).toBe("scope_insufficient");
  await expect(writer.listResources()).rejects.toThrow("scope read");
  expect(errorOf(await reader.call("record_error", { error: "x" })).code).toBe("scope_insufficient");
  expect((await reader.call("get_entry", { id: "e" })).structuredContent.recorded_by).toBe(capture.id);
  const words = "From now on answer in German";
  await writer.call("record_message", { id: "m", session_id: "s", project: "web", role: "user", content: words });
  const evidence = [{ entry_id: "m", quote: words }];
  const proposal = { content: "Answers come in German", type: "preference", evidence };
  const proposed = await writer.call("propose_memory", proposal);
  expect(proposed.structuredContent).toEqual({ status: "taken" });
  const [{ id }] = (await reader.call("list_memories", {})).structuredContent.memories as [{ readonly id: string }];
  expect((await reader.call("get_entry", { id })).structuredContent.actor).toBe(`key:${capture.id}`);
  await expect(overHttp(server)).rejects.toThrow();
});

test("the command serves no more once its input is closed, and shows what a program needs to start it", async () => {
  const data = await folderOfTest();
  await fillStore(data, [{ kind: "error", error: "e" }]);
  expect(await runCli(["mcp"], { data })).toEqual({ status: 0, stdout: "", stderr: "" });
  // Whatever else comes over its input, what is asked properly is answered.
  const init = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: info };
  const asked = { jsonrpc: "2.0", id: 1, method: "initialize", params: init };
  const input = `not JSON\n[]\n\u0000\n{"jsonrpc":"2.0","id":7}\n${JSON.stringify(asked)}\n`;
  const child = startCli(["mcp"], { data });
  child.stdin?.write(input);
  const answers = resultOf(child);
  await new Promise<void>((resolve) =>
    child.stdout?.on("data", (chunk: string) => chunk.includes("serverInfo") && resolve()),
  );
  child.stdin?.end();
  expect((await answers).status).toBe(0);
  for (const command of [
    ["mcp", "--print-config"],
    ["mcp", "install", "--print-config"],
  ]) {
    const { stdout } = await runCli(command, { data });
    expect(JSON.parse(stdout)).toEqual({
      mcpServers: { hansard: { command: process.execPath, args: [mainFile, "mcp", "--data", data] } },
    });
  }
});

test("installing shows the change, asks, keeps the rest of the file, and does nothing twice", async () => {
  const home = await folderOfTest();
  const options = { data: join(home, "record"), env: { HOME: home } };
  const settings = join(home, ".cursor", "mcp.json");
  mkdirSync(join(home, ".cursor"));
  writeFileSync(settings, '{\n    "mcpServers": {\n        "other": { "command": "x" }\n    }\n}\n');
  const unasked = await runCli(["mcp", "install", "cursor"], options);
  expect([unasked.status, unasked.stdout]).toEqual([2, expect.stringContaining('+         "hansard": {')]);
  expect(readFileSync(settings, "utf8")).not.toContain("hansard");
  expect((await runCli(["mcp", "install", "cursor", "--yes"], options)).status).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(settings, "utf8"));
  expect(mcpServers).toMatchObject({ other: { command: "x" }, hansard: { command: process.execPath } });
  expect((await runCli(["mcp", "install", "cursor", "--yes"], options)).stdout).toContain("is up to date");
  await runCli(["mcp", "install", "codex", "--yes"], options);
  expect(readFileSync(join(home, ".codex", "config.toml"), "utf8")).toMatch(/^\[mcp_servers\.hansard\]\ncommand = "/);
  expect((await runCli(["mcp", "install", "codex", "--yes"], options)).status).toBe(1);
  writeFileSync(settings, '// mine\n{"mcpServers": {}, "id": 12345678901234567890}');
  expect((await runCli(["mcp", "install", "cursor", "--yes"], options)).status).toBe(0);
  expect(readFileSync(settings, "utf8")).toMatch(
    /^\/\/ mine\n\{"mcpServers": \{[\s\S]+\}, "id": 12345678901234567890\}$/,
  );
  writeFileSync(settings, '{"mcpServers": "none"}');
  expect((await runCli(["mcp", "install", "cursor", "--yes"], options)).stderr).toContain("it was not changed");
  expect((await runCli(["mcp", "install", "emacs"], options)).stderr).toContain("Use one of claude-code");
});
