// What a search looks through where no kind is asked for, in the week of the demo: the conversation, and no memory that
// were not accepted.
import { beforeAll, expect, test } from "vitest";
import type { SearchPage } from "../../src/index.js";
import { loadDemo } from "../../src/recorder/demo.js";
import { serverOfFile } from "./http-client.js";

const CONVERSATION = [
  "interaction",
  "response",
  "message",
  "tool_call",
  "error",
  "decision",
  "consolidation",
  "feedback",
];

const server = serverOfFile();

beforeAll(() => loadDemo(server().recorder, Date.now()));

test("an agent is handed the conversation only, whatever is waiting for a verdict or was turned down", async () => {
  const { recorder } = server();
  const { memories } = await recorder.memories.list({ limit: 500 });
  expect(new Set(memories.map(({ status }) => status))).toContain("candidate");
  const first = memories.find(({ status }) => status === "candidate");
  await server().post(`/memories/${first?.id}/reject`, { reason: "wrong" });
  for (const query of [...memories.map(({ content }) => content), "the", "e"]) {
    for (const text of [
      await recorder.sessionHistory({ query, limit: 500 }),
      (await server().get(`/session-history?${new URLSearchParams({ query, limit: "500" })}`)).body.text as string,
    ]) {
      expect(text.split("\n").filter((line) => /^\[[^\]]*\] (?:memory_|audit|session_info|raw)/.test(line))).toEqual(
        [],
      );
    }
    const page = await recorder.search(`"${query}"`, { limit: 500 });
    expect(page.results.filter(({ kind }) => !CONVERSATION.includes(kind))).toEqual([]);
    expect(page.elsewhere?.memory, query).toBeGreaterThan(0);
  }
});

test("a memory is found with its kind, and says what its status is now", async () => {
  const { recorder } = server();
  const { memories } = await recorder.memories.list({ limit: 500 });
  for (const { id, content, status } of memories) {
    const { results } = await recorder.search(`"${content}"`, { kind: "memory", limit: 500 });
    expect(results.find((hit) => hit.id === id)).toMatchObject({ kind: "memory_proposed", status });
    const lines = (await recorder.sessionHistory({ query: content, kind: "memory", limit: 500 })).split("\n");
    expect(lines.filter((line) => line.endsWith(` [${status}]`) || line.includes(` [${status}] (`))).not.toEqual([]);
  }
  const { results } = await recorder.search("kind:memory_rejected");
  expect(new Set(results.map(({ kind, status }) => `${kind} ${status}`))).toEqual(
    new Set(["memory_rejected rejected"]),
  );
});

test("facets count what is searched, and filters alone list the same entries", async () => {
  const ask = async (query: { readonly [name: string]: string }): Promise<SearchPage> =>
    (await server().get(`/search?${new URLSearchParams(query)}`)).body;
  const all = await ask({ since: "30d", facets: "1", limit: "1" });
  expect(all.facets?.kinds.filter(({ kind }) => !CONVERSATION.includes(kind))).toEqual([]);
  const { by_kind } = await server().recorder.count();
  const memories = Object.entries(by_kind).filter(([kind]) => kind.startsWith("memory_"));
  const memory = memories.reduce((sum, [, count]) => sum + count, 0);
  expect(all.elsewhere).toMatchObject({ memory, audit: by_kind.audit });
  const both = await ask({ kind: "memory,audit", facets: "1", limit: "1" });
  expect(both.facets?.counted).toBe(memory + (by_kind.audit ?? 0));
  expect(both).not.toHaveProperty("elsewhere");
});
