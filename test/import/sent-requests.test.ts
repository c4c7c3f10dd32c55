// The requests that Claude Code wrote down, put together again: message by message what was sent, system and tools too. What was sent
// is known by the hashes in the transcript, and of the last request by its body.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashOf } from "../../src/import/claude-code/sent-requests.js";
import type { Entry, Recorder } from "../../src/index.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { sharedData } from "../support/fixtures.js";
import { importBench } from "../support/import-target.js";

const folder = sharedData("agents", "claude-code-2.1.327");
const transcripts =
  folder === undefined
    ? []
    : readdirSync(join(folder, "home"), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(folder, "home", name));

interface Sent {
  readonly hashes: readonly string[];
  readonly shape: JsonObject;
}

/** By the provider's id of the answer: the request before it in the file. */
function sentIn(path: string): ReadonlyMap<string, Sent> {
  const lists = new Map<string, readonly string[]>();
  const shapes = new Map<string, JsonObject>();
  const byAnswer = new Map<string, Sent>();
  let last: Sent | undefined;
  for (const line of readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text !== "")) {
    const record = JSON.parse(line) as JsonObject;
    if (record.type === "api-request-shape") shapes.set(String(record.shapeHash), record.shape as JsonObject);
    if (record.type === "api-request") {
      const kept = (lists.get(String(record.base)) ?? []).slice(0, record.keep as number);
      const hashes = [...kept, ...(record.tail as readonly string[])];
      lists.set(String(record.id), hashes);
      last = { hashes, shape: shapes.get(String(record.shapeHash)) as JsonObject };
    }
    if (record.type !== "assistant") continue;
    const { id } = record.message as { readonly id: string };
    if (!byAnswer.has(id)) byAnswer.set(id, last as Sent);
  }
  return byAnswer;
}

async function answersIn(recorder: Recorder): Promise<ReadonlyMap<string, string>> {
  const { entries } = await recorder.listEntries({ kind: "message", role: "assistant", limit: 500 });
  return new Map(
    entries.flatMap((entry) => {
      const { message_id } = (entry as { readonly extra: { readonly message_id?: string } }).extra;
      return message_id === undefined ? [] : [[message_id, entry.id] as const];
    }),
  );
}

/** A message as it was sent, without the entry that it was recorded in. */
function asSent({
  entry_id: _,
  ...message
}: {
  readonly entry_id?: string;
  readonly [field: string]: unknown;
}): JsonObject {
  return message as JsonObject;
}

test("the context of every answer is its request, message by message, with system and tools", async () => {
  if (folder === undefined) return;
  const bench = importBench();
  await bench.import(join(folder, "home"));
  const ids = await answersIn(bench.recorder);
  let compared = 0;
  for (const path of transcripts) {
    for (const [message_id, { hashes, shape }] of sentIn(path)) {
      const context = await bench.recorder.context(ids.get(message_id) as string);
      expect(context).toMatchObject({ exact: true, source: "request" });
      expect(context?.messages.map((message) => hashOf(asSent(message)))).toEqual(hashes);
      expect({ system: context?.system, tools: context?.tools }).toEqual({ system: shape.system, tools: shape.tools });
      compared += 1;
    }
  }
  // In two sessions and a subagent.
  expect(compared).toBe(21);
});

test("the context of the last answer is the body that was sent", async () => {
  if (folder === undefined) return;
  const bench = importBench();
  await bench.import(join(folder, "home"));
  const bodies = join(folder, "raw-api-bodies");
  const index = readFileSync(join(bodies, "index.jsonl"), "utf8").trim().split("\n");
  const { message_id, request_file } = JSON.parse(index.at(-1) as string) as { [name: string]: string };
  const body = JSON.parse(readFileSync(join(bodies, request_file as string), "utf8")) as JsonObject;
  const context = await bench.recorder.context((await answersIn(bench.recorder)).get(message_id as string) as string);
  const plain = (messages: unknown): readonly JsonValue[] =>
    (messages as readonly JsonObject[]).map((message) =>
      withoutCaching({ ...message, content: blocksOf(message.content) }),
    );
  expect(plain(context?.messages.map(asSent))).toEqual(plain(body.messages));
  expect(withoutCaching(context?.tools ?? null)).toEqual(withoutCaching(body.tools ?? null));
  // The first line of the body's system prompt is a note for billing, which no transcript has.
  const [, ...system] = body.system as readonly JsonValue[];
  expect(withoutCaching(context?.system ?? null)).toEqual(withoutCaching(system));
});

test("the first answer after a compaction was given the summary and what followed it, and nothing from before", async () => {
  const file = sharedData("more", "claude-code", "2-12_context-compaction.jsonl");
  if (file === undefined) return;
  const bench = importBench();
  await bench.import(file);
  const entries = await bench.entries();
  const [consolidation] = entries.filter(({ kind }) => kind === "consolidation");
  expect(consolidation).toMatchObject({ trigger: "manual", tokens_before: 20_965 });
  const after = entries.filter(({ position }) => position > (consolidation?.position ?? 0));
  const answer = after.find((entry) => entry.kind === "message" && entry.role === "assistant") as Entry;
  const told = async (text: string) => (await bench.recorder.told(answer.id, text))?.verdict;
  expect(await told("This session is being continued")).toBe("given");
  expect(await told("Reply with exactly the word: still-here")).toBe("given");
  const { messages } = (await bench.recorder.context(answer.id)) ?? {};
  const before = entries.filter(({ position }) => position < (consolidation?.position ?? 0)).map(({ id }) => id);
  expect(messages?.filter(({ entry_id }) => before.includes(entry_id ?? ""))).toEqual([]);
  expect(messages?.[0]).toMatchObject({ role: "user", entry_id: consolidation?.id });
});

/** A text alone and a block with it are the same. */
function blocksOf(content: JsonValue | undefined): JsonValue {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? null);
}

function withoutCaching(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutCaching);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value as JsonObject).filter(([name]) => name !== "cache_control");
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutCaching(field)]));
}
