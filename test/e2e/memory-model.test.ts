// A model that lies in every way: nothing of it gets past the gates, the record and the queue stay whole, and a pass that
// was stopped goes on where it was.

import { writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Recorder } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { repeatableContext } from "../support/write-context.js";

const SECRET = `ghp_${"a1B2".repeat(9)}`;
let recorder: Recorder;
let url = "";
let answer: (response: ServerResponse, text: string) => void = () => undefined;
const asked: string[] = [];

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    asked.push(body);
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly content: string }[] };
    answer(response, messages[1]?.content ?? "");
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(async () => {
  asked.length = 0;
  let nowMs = Date.parse("2026-11-15T06:00:00Z");
  recorder = memoryRecorder({ ...repeatableContext(), nowMs: () => nowMs }).recorder;
  const said = { kind: "message", session_id: "s", project: "atlas" } as const;
  await recorder.append([
    { ...said, id: "u1", role: "user", content: `I want every commit message in English. The token is ${SECRET}.` },
    { ...said, id: "a1", role: "assistant", content: "Understood, all commit messages will be in English from here." },
  ]);
  nowMs += 3_600_000;
});

function says(content: string): (response: ServerResponse) => void {
  return (response) => response.end(JSON.stringify({ choices: [{ message: { content } }] }));
}

function proposes(...memories: readonly object[]): (response: ServerResponse) => void {
  return says(JSON.stringify({ memories }));
}

const extract = (more: object = {}) =>
  recorder.memories.extract({ entries_min: 1, model: { url, model: "liar", key: "k" }, ...more });

test("what a model quotes truly waits for a person, is sent masked, once for a generation, and the audit says so", async () => {
  const quote = "I want every commit message in English";
  answer = proposes({
    type: "preference",
    content: "Wants every commit message in English",
    evidence: [{ text: 1, quote }],
  });
  const { candidates, stopped } = await extract();
  expect(stopped).toBeUndefined();
  expect(candidates).toMatchObject([{ type: "preference", source: "model", status: "candidate", project: "atlas" }]);
  expect(candidates[0]?.generation).toMatch(/^[0-9a-f]{16}$/);
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toContain(SECRET);
  expect((await extract()).candidates).toEqual([]);
  expect(asked).toHaveLength(1);
  const { entries } = await recorder.listEntries({ kind: "audit" });
  expect(entries).toMatchObject([
    { action: "extracted", actor: "model:liar" },
    { action: "extraction", actor: "model:liar", target: expect.stringMatching(/^\d+$/) },
  ]);
});

test("a dry run says what would be sent, and a digest holds what the user typed, repairs and hints, and nothing else", async () => {
  const own = { session_id: "digest", project: "atlas", created_at: "2026-11-15T05:00:00Z" } as const;
  const said = { kind: "message", ...own } as const;
  const ran = { kind: "tool_call", ...own, tool: "Bash" } as const;
  await recorder.append([
    { ...said, role: "assistant", content: `${"x".repeat(500)} Shall I deploy?` },
    { ...said, role: "user", content: "Yes. Always run the tests first." },
    { ...said, role: "user", content: "y".repeat(2_000) },
    { ...said, role: "user", content: "<env>hidden</env>", injected: "environment" },
    { ...ran, args: { command: "npm run tests" }, result: 'npm error Missing script: "tests"', is_error: true },
    { ...ran, args: { command: "cat notes.txt" }, result: "long output of a tool" },
    { ...ran, args: { command: "npm run test" }, result: "5 passed" },
    ...Array.from({ length: 20 }, () => ({ ...said, role: "assistant", content: "Done." })),
  ]);
  const { planned } = await extract({ entries_min: 20, dry_run: true });
  expect(planned).toMatchObject({ sessions: 1, requests: 1, is_first: true, tokens: expect.any(Number) });
  expect([asked.length, (await recorder.listEntries({ kind: "audit" })).entries.length]).toEqual([0, 0]);
  answer = proposes();
  await extract({ entries_min: 20 });
  const { messages, response_format } = JSON.parse(asked[0] ?? "{}");
  expect(response_format).toMatchObject({ type: "json_schema", json_schema: { name: "memories" } });
  expect(messages[0].content).toMatch(/^\[hansard-extraction\] You read/);
  const { content } = messages[1];
  expect(content).toContain(`[1] assistant: ${"x".repeat(184)} Shall I deploy?`);
  expect(content).toContain("[2] user: Yes. Always run the tests first.");
  expect(content).not.toContain("y".repeat(1_201));
  expect(content).toMatch(/note: a rule found always or never, and a verb: “Always run the tests first\.”/);
  expect(content).toContain(
    'assistant: npm run tests\n[6] tool: Missing script: "tests"\n[7] assistant: npm run test\n',
  );
  for (const hidden of ["hidden", "long output", "Done."]) expect(content).not.toContain(hidden);
  const again = await extract({ entries_min: 20, dry_run: true });
  expect(again.planned).toMatchObject({ sessions: 0, tokens: 0, is_first: false });
});

test("a server that knows no form of answers is asked without it", async () => {
  answer = (response) => {
    if (asked.at(-1)?.includes("response_format") === true)
      response.writeHead(400).end("unknown field response_format");
    else proposes()(response);
  };
  expect((await extract()).stopped).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test("a session in which an agent was asked this is not recorded, whatever tells of it", async () => {
  const folder = folderOfTest();
  const prompt = "[hansard-extraction] You read the digest of a recorded session.";
  const line = { sessionId: "own", cwd: "/srv/atlas", version: "2.1.0", timestamp: "2026-11-15T05:00:00Z", uuid: "u1" };
  const lines = [
    { ...line, type: "user", message: { role: "user", content: prompt } },
    {
      ...line,
      uuid: "u2",
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text: "none" }] },
    },
  ];
  const text = lines.map((one) => JSON.stringify(one)).join("\n");
  writeFileSync(join(folder, "own.jsonl"), `${text}\n`);
  // Far from the beginning, too.
  const early = { ...line, type: "system", content: "z".repeat(100_000), uuid: "u0" };
  writeFileSync(join(folder, "late.jsonl"), `${JSON.stringify(early)}\n${text.replaceAll('"own"', '"late"')}\n`);
  const report = await recorder.importFiles([folder]);
  expect(report.rejected).toEqual([]);
  const { sessions } = await recorder.listSessions();
  const messages = await Promise.all(
    sessions.map(({ session_id }) => recorder.listEntries({ session_id, kind: "message" })),
  );
  expect(sessions.map(({ session_id }) => session_id)).not.toContain("own");
  expect(JSON.stringify(messages)).not.toContain("hansard-extraction");
});

describe("whatever it says instead", () => {
  const quote = "I want every commit message in English";
  const lie = { type: "preference", content: "Wants every commit message in English" };
  test.each<[string, (response: ServerResponse) => void]>([
    ["invented quotes", proposes({ ...lie, evidence: [{ text: 1, quote: "I want every commit message in French" }] })],
    ["a text that was not shown", proposes({ ...lie, evidence: [{ text: 99, quote }] })],
    ["no evidence", proposes(lie)],
    [
      "numbers out of the air",
      proposes({ ...lie, content: "Wants 17 commit messages in English", evidence: [{ text: 1, quote }] }),
    ],
    ["promote me", proposes({ ...lie, status: "active", promote: true, evidence: [] })],
    [
      "guesses",
      proposes({ ...lie, content: "Maybe wants commit messages in English", evidence: [{ text: 1, quote }] }),
    ],
    ["half a document", says('{"memories": [{"type": "preference", "content": "Wants')],
    ["nothing", says("")],
    ["10 MB", says("x".repeat(10 * 1024 * 1024))],
    ["no words", (response) => response.end(JSON.stringify({ choices: [{ message: { content: null } }] }))],
    ["an error", (response) => response.writeHead(400).end("no")],
    ["429 and nothing else", (response) => response.writeHead(429, { "retry-after": "0" }).end()],
    ["a line that is cut off", (response) => response.destroy()],
    ["a way elsewhere", (response) => response.writeHead(302, { location: "https://example.com/" }).end()],
    ["no JSON at all", (response) => response.end("<html>")],
  ])("%s: nothing is proposed, and nothing breaks", async (_, lies) => {
    answer = lies;
    expect((await extract()).candidates).toEqual([]);
    expect((await recorder.memories.list()).memories).toEqual([]);
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });

  test("another project: the entry's own wins", async () => {
    answer = proposes({ ...lie, project: "elsewhere", evidence: [{ text: 1, quote }] });
    expect((await extract()).candidates).toMatchObject([{ project: "atlas" }]);
  });
});

test("what a session was given is not proposed from it, even if repeated", async () => {
  const told = "The office cat of atlas is called Wilhelmina";
  const pack = { context_pack: { text: `- ${told}\n` }, session_id: "packed", project: "atlas" };
  await recorder.recordInteraction({ ...pack, prompt: told, response: `As noted: ${told}.` });
  answer = proposes(
    { type: "knowledge", content: told, evidence: [{ text: 1, quote: told }] },
    { type: "episodic", content: told, evidence: [{ text: 2, quote: `As noted: ${told}.` }] },
  );
  const { candidates, dropped_by_gate } = await extract({ session_id: "packed" });
  expect([candidates, dropped_by_gate]).toEqual([[], { feedback_guard: 1, answer: 1 }]);
});

test.each<[string, (response: ServerResponse) => void]>([
  ["10 MB", says("x".repeat(10 * 1024 * 1024))],
  ["nothing", (response) => response.end(JSON.stringify({ choices: [{ message: { content: null } }] }))],
])("a segment answered with %s is given up and paid for, and does not block the next one", async (_, bad) => {
  await recorder.append({
    kind: "message",
    session_id: "older",
    project: "atlas",
    role: "user",
    created_at: "2026-11-15T05:00:00Z",
    content: "I want all answers to be short",
  });
  const [quote, content] = ["I want all answers to be short", "Wants all answers to be short"];
  answer = (response, text) => {
    if (text.includes(quote)) proposes({ type: "preference", content, evidence: [{ text: 1, quote }] })(response);
    else bad(response);
  };
  expect(await extract()).toMatchObject({ candidates: [{ content }], dropped_by_gate: { answer: 1 } });
  expect(asked).toHaveLength(2);
  await extract();
  expect(asked).toHaveLength(2);
});

test("a command that never stops writing is ended, with what it has started", async () => {
  const { stopped, dropped_by_gate } = await extract({ model: { via: "cat > /dev/null; yes; echo done" } });
  expect([stopped, dropped_by_gate]).toEqual([undefined, { answer: 1 }]);
});

test("a pass that fails is stopped with a reason and goes on when it is run again; 429 is waited for", async () => {
  let refusals = 1;
  answer = (response) => {
    refusals -= 1;
    if (refusals >= 0) response.writeHead(429, { "retry-after": "0" }).end();
    else response.writeHead(403).end();
  };
  expect((await extract()).stopped).toContain("403");
  expect(asked).toHaveLength(2);
  answer = proposes();
  expect((await extract()).stopped).toBeUndefined();
  expect(asked).toHaveLength(3);
});

test("an overlong segment is halved, within bounds; the daily budget counts all runs", async () => {
  answer = (response) => response.writeHead(400).end('{"error":{"code":"context_length_exceeded"}}');
  expect((await extract()).stopped).toBeUndefined();
  expect(asked.length).toBeLessThan(20);
  await recorder.append({
    kind: "message",
    session_id: "t",
    project: "atlas",
    role: "user",
    content: "Hello again there",
  });
  expect((await extract({ daily_tokens: 10, session_id: "t" })).stopped).toContain("budget");
});

test("background learning reads ended sessions of the last two days once, and backs off when the model fails", async () => {
  const old = {
    kind: "message",
    session_id: "old",
    role: "user",
    content: "I want all my tests in German",
    project: "atlas",
  } as const;
  await recorder.append({ ...old, created_at: "2026-11-12T06:00:00Z" });
  await recorder.append({ ...old, session_id: "open", created_at: "2026-11-15T06:59:00Z" });
  const troubles: unknown[] = [];
  answer = (response) => response.writeHead(403).end();
  await recorder.learn({
    entries_min: 1,
    model: { url, model: "liar" },
    look_ms: 1,
    gather_ms: 0,
    onTrouble: (error) => {
      troubles.push(error);
      const quote = "I want every commit message in English";
      const content = "Wants every commit message in English";
      answer = proposes({ type: "preference", content, evidence: [{ text: 1, quote }] });
    },
  });
  const waiting = async (): Promise<number> => (await recorder.memories.list({ status: "candidate" })).pending;
  await expect.poll(waiting).toBe(1);
  expect(troubles).toMatchObject([{ message: expect.stringContaining("403") }]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked).toHaveLength(2);
  await recorder.close();
});

test("beyond this machine only HTTPS is spoken, and a command serves as well", async () => {
  await expect(extract({ model: { url: "http://example.com/v1", model: "m" } })).rejects.toMatchObject({
    code: "field_invalid",
    field: "model_url",
  });
  const quote = "I want every commit message in English";
  const memories = [
    { type: "preference", content: "Wants every commit message in English", evidence: [{ text: 1, quote }] },
  ];
  const via = `cat > /dev/null; echo '${JSON.stringify({ memories })}'`;
  expect((await extract({ model: { via } })).candidates).toHaveLength(1);
  expect((await extract({ model: { via: "exit 3" } })).stopped).toContain("status 3");
  for (const daily_tokens of [-1, Number.NaN, "many"]) {
    await expect(extract({ daily_tokens })).rejects.toMatchObject({ code: "field_invalid", field: "daily_tokens" });
    await expect(recorder.learn({ daily_tokens } as object)).rejects.toMatchObject({ field: "daily_tokens" });
  }
  await expect(recorder.learn({ model: { url: "http://example.com", model: "m" } })).rejects.toThrow("https://");
});
