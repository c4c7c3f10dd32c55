// The review queue under a flood: one key cannot fill it, and what is held back is counted and shown.
import { expect, test } from "vitest";
import { readJson, runCli } from "../e2e/cli-run.js";
import { startServer, type TestServer } from "../e2e/http-client.js";

const NAMES = ["amber", "birch", "cedar", "denim", "ebony", "flint", "grain", "hazel", "ivory", "jade"];
const WORDS = Array.from(
  { length: 120 },
  (_, nth) => `${NAMES[nth % 10]}${nth} ${NAMES[(nth * 7 + 3) % 10]}${nth * 13}`,
);

async function flood(server: TestServer, key: string, from: number, count: number): Promise<ReadonlySet<number>> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const statuses = new Set<number>();
  for (let nth = from; nth < from + count; nth += 1) {
    const content = `Use ${WORDS[nth]} for ${WORDS[nth]}`;
    const entry = { kind: "message", id: `said-${nth}`, session_id: "s", project: "p", role: "user", content };
    await server.post("/entries", entry, headers);
    const evidence = [{ entry_id: `said-${nth}`, quote: content }];
    const proposal = { status: "candidate", type: "preference", content, evidence };
    statuses.add((await server.post("/memories", proposal, headers)).status);
  }
  return statuses;
}

test("a key has at most 50 candidates waiting; the rest are held back, counted and shown", async () => {
  const server = await startServer();
  const { keys, memories } = server.recorder;
  const [noisy, calm] = [await keys.create({ scope: "capture" }), await keys.create({ scope: "capture" })];
  const reviewer = await keys.create({ scope: "review" });
  expect(await flood(server, noisy.key, 0, 60)).toEqual(new Set([202]));
  const queue = await memories.list({ status: "candidate", limit: 500 });
  expect([queue.pending, queue.held_back]).toEqual([50, 10]);
  expect(new Set(queue.memories.map(({ proposed_by }) => proposed_by))).toEqual(new Set([`key:${noisy.id}`]));
  // Others are not held back by it, and a verdict makes room for one more.
  await flood(server, calm.key, 60, 1);
  await memories.reject(queue.memories[0]?.id ?? "");
  await flood(server, noisy.key, 61, 2);
  const later = await memories.list({ limit: 0 });
  expect([later.pending, later.held_back]).toEqual([51, 11]);
  const headers = { authorization: `Bearer ${reviewer.key}` };
  expect((await server.request("/memories?limit=0", { headers })).body.held_back).toBe(11);
  const place = { data: server.address, env: { HANSARD_KEY: reviewer.key } };
  expect((await runCli(["memories"], place)).stderr).toContain("11 proposals of the last 7 days held back");
  expect((await readJson(["memories"], place)).held_back).toBe(11);
  const { results } = await server.recorder.search("kind:audit", { limit: 100 });
  expect(JSON.stringify(results)).toContain("held_back");
}, 120_000);
