// How much of a session is read for its history, and how large a history may be.
import { expect, test } from "vitest";
import { composeInMemory } from "../../../test/support/memory-recorder.js";
import { assistant, type Given, result, system, user } from "../../../test/support/recorded-session.js";
import { repeatableSurroundings } from "../../../test/support/surroundings.js";
import { MemoryIndex } from "../../engines/memory/index.js";
import { MemoryLog } from "../../engines/memory/log.js";

/** Counts the bodies that are read. */
class CountedLog extends MemoryLog {
  bodies = 0;

  override getBodies(positions: readonly number[], bytes_max?: number) {
    this.bodies += positions.length;
    return super.getBodies(positions, bytes_max);
  }
}

async function counted(entries: readonly Given[]) {
  const log = new CountedLog();
  const recorder = composeInMemory({ log, index: new MemoryIndex(), surroundings: repeatableSurroundings() });
  for (let at = 0; at < entries.length; at += 5_000) {
    await recorder.append(entries.slice(at, at + 5_000).map((entry) => ({ session_id: "s", ...entry }) as never));
  }
  const session = recorder.session("s");
  const read = async (options: Parameters<typeof session.history>[0]): Promise<readonly [number, number]> => {
    log.bodies = 0;
    const history = await session.history(options);
    return [Array.isArray(history) ? history.length : Number.NaN, log.bodies];
  };
  return { session, read };
}

test("of a turn of 20,000 entries a small window reads the system's messages, the summary, the opening and its own", async () => {
  const rounds = Array.from({ length: 10_000 }, (_, nth) => [assistant("", `c${nth}`), result(`c${nth}`)]);
  const { read } = await counted([
    ...[system("be brief"), user("1"), assistant("2"), { kind: "consolidation", through: 3, summary: "so far" }],
    ...[user("go"), ...rounds.flat()],
  ]);
  for (const options of [{ max_messages: 21 }, { max_tokens: 1_000 }]) {
    const [shown, bodies] = await read(options);
    expect(shown).toBeGreaterThan(20);
    expect(bodies).toBeLessThan(options.max_tokens ?? 60);
  }
});

test("a history over 32 MiB is refused, one with fewer messages is not", async () => {
  const large = "x".repeat(5 * 1024 * 1024);
  const entries = Array.from({ length: 8 }, (_, nth) => [user(`${nth}`), assistant(large)]).flat();
  const { session, read } = await counted(entries);
  const refused = { code: "history_too_large", hint: expect.stringContaining("max_messages") };
  await expect(session.history()).rejects.toMatchObject(refused);
  await expect(session.history({ max_messages: 14, format: "anthropic" })).rejects.toMatchObject(refused);
  expect((await read({ max_messages: 12 }))[0]).toBe(12);
  // Written as JSON it is six times as long.
  const escaped = await counted(Array.from({ length: 3 }, () => user("\u0001".repeat(2.5 * 1024 * 1024))));
  await expect(escaped.session.history()).rejects.toMatchObject(refused);
});
