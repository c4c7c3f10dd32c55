// What the record says that each answer was given, compared with what the transcript itself says, read in another way: for sessions
// of real agents where they are at hand, and always for made ones in the same shapes.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Entry, Recorder } from "../../src/index.js";
import { contentTexts } from "../../src/model/content.js";
import type { JsonObject } from "../../src/model/json.js";
import { sharedData } from "../support/fixtures.js";
import { importBench } from "../support/import-target.js";
import { textsOfRequest, wordsOfRequest } from "../support/request-texts.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { codexRequests, geminiRequests, piRequests, type WrittenRequest } from "./independent-requests.js";
import { codexSession, geminiSession, piSession } from "./made-sessions.js";

interface WrittenSession {
  readonly name: string;
  readonly path: string;
  readonly requests: (path: string) => readonly WrittenRequest[];
}

const real = (name: string, requests: WrittenSession["requests"], ...place: readonly string[]): WrittenSession[] => {
  const path = sharedData(...place);
  return path === undefined || !existsSync(path) ? [] : [{ name, path, requests }];
};

const agents = "agents";
const sessions: readonly WrittenSession[] = [
  ...real(
    "Codex 0.169",
    codexRequests,
    ...[agents, "codex-0.169.0/home/user/.codex/sessions/2026/11/18"],
    "rollout-2026-11-18T13-45-23-01a1eee7-afeb-7b63-a317-f9cf73d99826.jsonl",
  ),
  ...real("Codex 0.130", codexRequests, "more", "codex", "rollout-2-12_context-compaction.jsonl"),
  ...real("Codex 0.147", codexRequests, "more", "codex", "rollout-2-13_turn-end-terminal-text.jsonl"),
  ...real("Codex, commands of the user", codexRequests, "more", "codex", "rollout-2-15_shell-escape-command.jsonl"),
  ...real(
    "Gemini CLI 0.61",
    geminiRequests,
    ...[agents, "gemini-cli-0.61.0/home/user/.gemini/tmp/hive-gemini/chats"],
    "session-2026-11-18T13-45-6e069582.jsonl",
  ),
  ...real("Gemini CLI, compressed", geminiRequests, "more", "gemini-cli", "session-2-12_context-compaction.jsonl"),
  ...real("Gemini CLI, a call", geminiRequests, "more", "gemini-cli", "session-2-2_auto-executed-tool-call.jsonl"),
  ...real(
    "pi 0.73",
    piRequests,
    ...[agents, "pi-0.73.1/home/user/.pi/agent/sessions/--home-user-proj-hive-pi--"],
    "2026-11-18T13-46-49-732Z_01a1eee9-0004-7097-9562-0f129bf9e03a.jsonl",
  ),
  ...real("pi, compacted", piRequests, "more", "pi", "2-12_context-compaction.jsonl"),
  ...real("pi, commands of the user", piRequests, "more", "pi", "2-15_shell-escape-command.jsonl"),
  ...real("pi, a branch", piRequests, "more", "pi", "1-6_checkpoint-rewind.jsonl"),
];

const made = [
  { name: "a session as Codex writes it", file: "rollout-made.jsonl", lines: codexSession, requests: codexRequests },
  {
    name: "a chat as Gemini CLI writes it",
    file: "session-made.jsonl",
    lines: geminiSession,
    requests: geminiRequests,
  },
  { name: "a session as pi writes it", file: "made.jsonl", lines: piSession, requests: piRequests },
];

describe.each([...sessions, ...made])("$name", (session) => {
  test("every answer's context is what the transcript says it was given", async () => {
    const bench = importBench();
    const path = "path" in session ? session.path : writtenTo(session);
    const { requests } = session;
    expect((await bench.import(path)).added).toBeGreaterThan(0);
    expect((await bench.import(path)).added).toBe(0);
    const entries = await bench.entries();
    const written = requests(path);
    expect(written.length).toBeGreaterThan(0);
    const taken = new Set<string>();
    for (const one of written) {
      const answer = answerOf(entries, one, taken);
      expect({ said: one.said, turns: (await contextOf(bench.recorder, answer)).turns }).toEqual({
        said: one.said,
        turns: textsOfRequest(one.request).turns,
      });
    }
  });
});

const compacted = [...sessions.filter(({ path, requests }) => isCompacted(requests(path))), ...made];

function isCompacted(written: readonly WrittenRequest[]): boolean {
  return written.some(({ compactions }) => compactions > 0);
}

describe.each(compacted)("$name", (session) => {
  test("what was said before a compaction fell out by it, unless it stayed", async () => {
    const bench = importBench();
    const path = "path" in session ? session.path : writtenTo(session);
    await bench.import(path);
    const entries = await bench.entries();
    const written = session.requests(path);
    const at = written.findIndex(({ compactions }) => compactions > 0);
    const answer = answerOf(entries, written[at] as WrittenRequest, new Set());
    const now = wordsOfRequest((written[at] as WrittenRequest).request)
      .join("\n")
      .toLowerCase();
    const before = written.slice(0, at).flatMap(({ request }) => wordsOfRequest(request));
    const phrases = new Set(before.map((text) => text.slice(0, 60).trim()).filter((text) => text !== ""));
    expect(phrases.size).toBeGreaterThan(0);
    const found = [];
    for (const phrase of phrases) {
      const { verdict, why = "" } = (await bench.recorder.told(answer.id, phrase)) ?? {};
      const expected = now.includes(phrase.toLowerCase()) ? "given" : "fell_out";
      // What the tool wrote anew when the session was taken up again was removed before.
      const isRight = verdict === expected && (verdict === "given" || ["consolidation", "removed"].includes(why));
      if (!isRight) found.push({ phrase, expected, verdict, why });
    }
    expect(found).toEqual([]);
  });
});

test("requests that Gemini CLI sent as telemetry are the contexts of answers", async () => {
  const folder = sharedData("agents", "gemini-cli-0.61.0");
  if (folder === undefined) return;
  const bench = importBench();
  await bench.import(join(folder, "home"));
  const contexts: string[] = [];
  for (const entry of await bench.entries()) {
    if (entry.kind !== "message" || entry.role !== "assistant") continue;
    contexts.push(JSON.stringify((await contextOf(bench.recorder, entry)).turns));
  }
  const bodies = readdirSync(join(folder, "otlp")).flatMap((name) =>
    sentIn(readFileSync(join(folder, "otlp", name), "utf8")),
  );
  expect(bodies.length).toBe(2);
  const missing = bodies.filter((body) => !contexts.includes(JSON.stringify(textsOfRequest(body).turns)));
  expect(missing).toEqual([]);
});

/** The requests in a body of telemetry. */
function sentIn(text: string): readonly JsonObject[] {
  const found = text.matchAll(/\{"key":"request_text","value":\{"stringValue":("(?:[^"\\]|\\.)*")/g);
  return [...found].map(([, written = ""]) => ({
    contents: JSON.parse(JSON.parse(written) as string) as JsonObject[],
  }));
}

function writtenTo({ file, lines }: { readonly file: string; readonly lines: readonly object[] }): string {
  const path = join(folderOfTest(), file);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

function answerOf(entries: readonly Entry[], { said, calls }: WrittenRequest, taken: Set<string>): Entry {
  const found = entries.find(
    (entry) =>
      entry.kind === "message" &&
      entry.role === "assistant" &&
      !taken.has(entry.id) &&
      contentTexts(entry.content).join("\n").trim() === said.trim() &&
      calls.every((id) => JSON.stringify(entry.tool_calls).includes(JSON.stringify(id))),
  );
  if (found === undefined) throw new Error(`No answer says ${JSON.stringify(said)} and calls ${calls.join(", ")}.`);
  taken.add(found.id);
  return found;
}

async function contextOf(recorder: Recorder, { id }: Entry) {
  const { messages = [], system } = (await recorder.context(id)) ?? {};
  const body = { messages, ...(system === undefined ? {} : { system }) };
  return textsOfRequest(body as unknown as JsonObject);
}
