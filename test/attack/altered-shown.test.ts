// Altered bodies on every surface that shows what was recorded: lists and the like say "altered", and none shows the forged words.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { ALTERED_WORDS } from "../../src/model/entry.js";
import { itemAt } from "../../src/model/item-at.js";
import { runCli, startCli } from "../e2e/cli-run.js";
import { startServer, type TestServer } from "../e2e/http-client.js";
import { browserOfFile } from "../e2e/page-browser.js";
import { engines, type Intruder } from "./intruder.js";

const TRUE = "genuine";
/** Of the same length, so bodies in parts still fit together. */
const FORGED = "forgery";
/** Long enough that the body is stored in parts. */
const long = (start: string) => `${start} ${TRUE} ${"a text that two entries share. ".repeat(400)}`;
const PARTED = { position: 6, id: "long" };

const entries = [
  { kind: "session_info", id: "info", session_id: "s", project: "atlas", title: `A ${TRUE} title` },
  { kind: "message", id: "said", session_id: "s", project: "atlas", role: "user", content: `My ${TRUE} question` },
  { kind: "tool_call", id: "ran", session_id: "s", tool: "read", args: { path: TRUE }, result: `${TRUE} result` },
  { kind: "error", id: "failed", session_id: "s", project: "atlas", error: `ENOENT ${TRUE}`, context: TRUE },
  {
    kind: "interaction",
    id: "asked",
    session_id: "s",
    project: "atlas",
    prompt: `A ${TRUE} prompt`,
    model: "m-1",
    usage: { input_tokens: 10 },
    context_pack: { messages: [{ role: "user", content: `${TRUE} pack` }] },
  },
  { kind: "message", id: PARTED.id, session_id: "s", project: "atlas", role: "user", content: long("long") },
  { kind: "response", id: "answered", interaction_id: "asked", response: `A ${TRUE} response`, response_summary: TRUE },
  { kind: "message", id: "told", session_id: "s", role: "assistant", content: long("told"), confidence: 0.1 },
  { kind: "decision", id: "decided", session_id: "s", decision: `A ${TRUE} decision`, rationale: TRUE },
  { kind: "feedback", id: "judged", entry_id: "asked", score: -1, comment: `A ${TRUE} comment` },
  { kind: "raw", id: "brought", session_id: "s", source: TRUE, record: { text: TRUE } },
] as const;

interface Forged extends Intruder {
  readonly memory: string;
  forge(): Promise<void>;
}

/** A store with all of these, and a way to exchange the words of every body and part behind its back. */
async function recorded(intrude: () => Promise<Intruder>, engine: string): Promise<Forged> {
  const intruder = await intrude();
  const { data, log, editLog } = intruder;
  const recorder = await openRecorder({ data });
  for (const entry of entries) await recorder.append(entry as never);
  const proposed = {
    type: "project",
    project: "atlas",
    evidence: [{ entry_id: "said", quote: `My ${TRUE} question` }],
  };
  const { id: memory } = await recorder.memories.add({ ...proposed, content: `The ${TRUE} port is 4747` } as never);
  await recorder.search(TRUE);
  // A search finds an altered entry only by its index, so the texts must be in it before they are altered.
  const { position } = await recorder.health();
  await expect.poll(() => recorder.monitoring.textsThrough()).toBe(position);
  await recorder.close();
  const hex = (text: string): string => Buffer.from(text).toString("hex");
  // As hexadecimal text, since bodies in parts are no UTF-8.
  const replaced = (column: string): string =>
    engine === "sqlite"
      ? `unhex(replace(lower(hex(${column})), '${hex(TRUE)}', '${hex(FORGED)}'))`
      : `decode(replace(encode(${column}, 'hex'), '${hex(TRUE)}', '${hex(FORGED)}'), 'hex')`;
  // PostgreSQL's are compressed, and of the same length here: each gets the other's.
  const parts = log("parts");
  const other = `(SELECT bytes FROM ${parts} other WHERE other.start <> ${parts}.start LIMIT 1)`;
  const forge = () =>
    editLog(`UPDATE ${log("bodies")} SET body = ${replaced("body")};
      UPDATE ${parts} SET bytes = ${engine === "sqlite" ? replaced("bytes") : other};`);
  return { ...intruder, memory, forge };
}

const lists = [
  ...["/entries", "/entries?kind=message", "/entries?project=atlas", "/interactions", "/sessions/s/entries?excerpts=1"],
  ...[`/search?q=${TRUE}`, "/search?q=project:atlas&facets=1", `/search?q=${FORGED}%20in:context`],
];
const others = [
  ...["/sessions", "/sessions/s", `/session-history?query=${TRUE}`, "/reflection", "/usage", "/stats", "/memories"],
  ...[`/recall?project=atlas&q=${TRUE}`, "/export?masked=1", "/export?format=markdown", `/search?q=${FORGED}`],
  ...["asked", "told"].flatMap((id) => [`/entries/${id}/context`, `/entries/${id}/told?q=${FORGED}`]),
];
const wholes = ["/entries/said", "/entries/6", "/entries/long?masked=1", "/interactions/asked", "/sessions/s/history"];

async function textOf(server: TestServer, path: string): Promise<string> {
  return (await server.get(path).catch((error: Error) => ({ text: error.message }))).text;
}

async function tailed(server: TestServer, through: number): Promise<string> {
  const answer = await fetch(`${server.address}/tail?after=0`);
  let text = "";
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.includes(`id: ${through}\n`)) break;
  }
  return text;
}

describe.each(engines)("on $engine", ({ engine, intrude }) => {
  test("lists, search, timelines and tail show altered entries without their text, and health is degraded", async () => {
    const { data, memory, forge } = await recorded(intrude, engine);
    const server = await startServer({ data });
    expect((await server.get("/health")).body).toMatchObject({ status: "ok" });
    for (const path of ["/entries", "/sessions/s/entries"]) expect(await textOf(server, path)).toContain(TRUE);
    await forge();

    for (const path of lists) {
      const { status, body, text } = await server.get(path);
      const rows = body.entries ?? body.interactions ?? body.results;
      expect([path, status, text.includes(FORGED)]).toEqual([path, 200, false]);
      if (path.includes("in:context")) continue;
      expect([path, rows.length > 0]).toEqual([path, true]);
      // What the record noted of the memory's verdict was not altered.
      const altered = rows.filter(({ position }: { readonly position: number }) => position <= entries.length);
      for (const row of altered) expect(row).toMatchObject({ altered: true, id: "", session_id: "", project: "" });
      for (const row of altered) expect(row).not.toHaveProperty("prompt");
    }
    const { body } = await server.get("/sessions/s/entries");
    expect(body.entries.find((row: { position: number }) => row.position === PARTED.position)).toEqual({
      position: 6,
      id: "",
      kind: "message",
      session_id: "",
      project: "",
      client: "",
      user_id: "",
      tags: [],
      parent_id: "",
      recorded_by: "",
      created_at: expect.any(String),
      recorded_at: expect.any(String),
      hash: expect.any(String),
      altered: true,
    });
    for (const path of [...others, `/memories/${memory}`]) {
      expect([path, (await textOf(server, path)).replace(/q=\w+|"q":"\w+"/g, "").includes(FORGED)]).toEqual([
        path,
        false,
      ]);
    }
    expect(await textOf(server, `/session-history?query=${TRUE}`)).toContain(ALTERED_WORDS);
    for (const path of wholes) {
      const { status, body: refusal } = await server.get(path);
      expect([path, status, refusal.error.code]).toEqual([path, 500, "entry_corrupt"]);
    }
    const events = await tailed(server, 11);
    expect([events.includes(FORGED), events.split('"altered":true').length > 11]).toEqual([false, true]);

    const health = (await server.get("/health")).body;
    expect(health).toMatchObject({ status: "degraded", problems: [{ code: "entry_altered" }] });
    expect(health.problems[0].message).toContain(`entry ${health.problems[0].position} `);
    expect(health.problems[0].hint).toContain("hansard verify");
  });

  test("one read of any kind is enough for health", async () => {
    const { data, forge } = await recorded(intrude, engine);
    await forge();
    for (const path of ["/entries/said", "/entries", "/sessions/s/history", "/export", "tail"]) {
      const server = await startServer({ data });
      if (path === "tail") await tailed(server, 11);
      else await textOf(server, path);
      expect([path, (await server.get("/health")).body.status]).toEqual([path, "degraded"]);
      await server.close();
    }
  });

  test("recording goes on although entries are altered, and they are forgotten with their session", async () => {
    const { data, forge } = await recorded(intrude, engine);
    await forge();
    const recorder = await openRecorder({ data });
    onTestFinished(() => recorder.close());
    await recorder.append({ kind: "feedback", entry_id: "asked", score: 1 });
    await expect(recorder.append(entries[1] as never)).rejects.toMatchObject({ code: "id_conflict" });
    const { by_kind } = await recorder.forget({ session_id: "s", reason: "test" });
    expect(by_kind).toMatchObject({
      session_info: 1,
      message: 3,
      tool_call: 1,
      error: 1,
      interaction: 1,
      decision: 1,
      raw: 1,
    });
    const { entries: rows } = await recorder.listEntries({ kind: "message" });
    expect(rows).toEqual([]);
  });

  test("MCP's answers show no forged text", async () => {
    const { data, forge } = await recorded(intrude, engine);
    const server = await startServer({ data });
    await forge();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.address}/mcp`)) as never);
    onTestFinished(() => client.close());
    await client.listTools();
    const calls = [
      ["search", { q: TRUE }],
      ["session_history", { query: TRUE }],
      ["self_reflect", {}],
      ["recall", { project: "atlas", q: TRUE }],
      ["get_entry", { id: "said" }],
      ["session_context", { session_id: "s" }],
    ] as const;
    for (const [name, args] of calls) {
      const answer = JSON.stringify(await client.callTool({ name, arguments: { ...args } }));
      expect([name, answer.includes(FORGED)]).toEqual([name, false]);
      if (name === "search") expect(answer).toContain('\\"altered\\":true');
      if (name === "session_history") expect(answer).toContain(ALTERED_WORDS);
    }
  });

  test("an index built after the alteration contains nothing of it", async () => {
    const { data, forge } = await recorded(intrude, engine);
    await forge();
    const recorder = await openRecorder({ data });
    onTestFinished(() => recorder.close());
    await recorder.rebuildIndex();
    const { entries: rows } = await recorder.listEntries({ kind: "message" });
    expect(rows.map(({ position }) => position)).toEqual([8, 6, 2]);
    for (const row of rows) expect(row).toMatchObject({ altered: true });
    const answers = [recorder.listSessions(), recorder.memories.list(), recorder.search(FORGED), recorder.count()];
    expect(JSON.stringify(await Promise.all(answers))).not.toContain(FORGED);
    // A session must not look as if its unreadable entries did not exist.
    await recorder.append({ kind: "message", session_id: "s", role: "user", content: "after" });
    const corrupt = { code: "entry_corrupt" };
    await expect(recorder.session("s").history()).rejects.toMatchObject(corrupt);
    await expect(recorder.session("never seen").history()).rejects.toMatchObject(corrupt);
  });
});

test("the command line says in words that entries were altered", async () => {
  const { data, forge } = await recorded(itemAt(engines, 0).intrude, "sqlite");
  await forge();
  for (const args of [["list"], ["sessions", "s"], ["search", TRUE], ["search", TRUE, "--text"]]) {
    const { stdout, stderr } = await runCli(args, { data });
    expect([args, `${stdout}${stderr}`.includes(FORGED), stdout.includes(ALTERED_WORDS)]).toEqual([args, false, true]);
  }
  const child = startCli(["tail", "--after", "0"], { data });
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.split(ALTERED_WORDS).length > entries.length) break;
  }
  child.kill();
  expect(text).not.toContain(FORGED);
});

const open = browserOfFile();

test("the page says that entries were altered, and shows none of their words", async () => {
  const { data, forge } = await recorded(itemAt(engines, 0).intrude, "sqlite");
  const server = await startServer({ data });
  await forge();
  for (const path of ["sessions/s", "entries", `search?q=${TRUE}`]) {
    const { page, problems } = await open(`${server.address}/ui/${path}`);
    await page.getByText(ALTERED_WORDS).first().waitFor();
    // Whole reads are faults, which the console tells.
    const others = problems.filter((problem) => !problem.includes("status of 500"));
    expect([path, await page.getByText(FORGED).count(), others]).toEqual([path, 0, []]);
  }
  const { page } = await open(`${server.address}/ui/system`);
  await page
    .getByText(/does not match its hash/)
    .first()
    .waitFor();
});
