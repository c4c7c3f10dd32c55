// Selecting from the log: by what the bodies say, however their JSON is written, and only in the range that is asked for.
import { expect, test } from "vitest";
import type { LogFilter } from "../log/forgetting/log-lookups.js";
import type { StoredBody } from "../log/port.js";
import { selectFromLog } from "./maintenance.js";

const recorded_at = "2026-01-02T00:00:00.000Z";

function logOf(bodies: readonly (string | undefined)[], kind = "message") {
  const stored = bodies.map((body, at): StoredBody => {
    const entry = { position: at + 1, kind, recorded_at, hash: "" };
    return body === undefined ? entry : { ...entry, body };
  });
  return {
    readBodies: async ({ after, limit }: { readonly after: number; readonly limit: number }) =>
      stored.slice(after, after + limit),
  };
}

function select(bodies: readonly (string | undefined)[], filter: LogFilter, range = {}): Promise<readonly number[]> {
  return selectFromLog(logOf(bodies), { filter, after: 0, through: bodies.length, ...range });
}

test("a session is found in any JSON spelling of its name, and nowhere else", async () => {
  const bodies = [
    '{"id":"a","session_id":"a/\\"b"}',
    '{"id":"b","session_id" : "\\u0061\\u002f\\u0022b"}',
    '{"id":"c","session_id":"a\\/\\"b"}',
    '{"id":"d","session_id":"other","content":"a/\\"b"}',
    '{"id":"e","session_id":"A/\\"b"}',
    '{"id":"f","extra":{"session_id":"a/\\"b"}}',
    undefined,
    '{"id":"g","session_id":"a/\\"b"',
    '{"id":"h","session_id":7}',
    '["a/\\"b"]',
    '{"id":"i","session_id":"a/\\"b","project":"p"}',
  ];
  expect(await select(bodies, { session_id: 'a/"b' })).toEqual([1, 2, 3, 11]);
  expect(await select(bodies, { session_id: 'a/"b' }, { after: 1, through: 10 })).toEqual([2, 3]);
  expect(await select(bodies, { project: "p" })).toEqual([11]);
});

test("a time is the entry's own, or else the log's, and what has none is left out", async () => {
  const bodies = [
    "{}",
    '{"created_at":"2026-01-01T00:00:00.000Z"}',
    '{"created_at":"2026-01-03T00:00:00.000Z"}',
    '{"created_at":"never"}',
    '{"created_at":5}',
  ];
  const until_ms = Date.parse(recorded_at);
  expect(await select(bodies, { kinds: ["message"], until_ms })).toEqual([1, 2]);
  expect(await select(bodies, { kinds: ["error"], until_ms })).toEqual([]);
});
