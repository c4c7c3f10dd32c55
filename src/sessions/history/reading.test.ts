// How much of a session is read for its history, and how large a history may be.
import { expect, test } from "vitest";
import { LARGE_MARK, recordLarge } from "../../../test/support/large-session.js";
import { composeInMemory } from "../../../test/support/memory-recorder.js";
import { assistant, result, type SessionEntry, system, user } from "../../../test/support/recorded-session.js";
import { repeatableContext } from "../../../test/support/write-context.js";
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

async function counted(entries: readonly SessionEntry[]) {
  const log = new CountedLog();
  const recorder = composeInMemory({ log, index: new MemoryIndex(), writeContext: repeatableContext() });
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

test("of a turn of 20,000 entries a small window reads the system messages, the summary, the opening and its own", async () => {
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
  // Following the hint is not refused again.
  expect((await read({ max_messages: 2 }))[0]).toBe(2);
  // As JSON it is six times as long.
  const escaped = await counted(Array.from({ length: 3 }, () => user("\u0001".repeat(2.5 * 1024 * 1024))));
  await expect(escaped.session.history()).rejects.toMatchObject(refused);
});

const MIB = 1024 * 1024;

const times = (count: number, ...entries: readonly SessionEntry[]): readonly SessionEntry[] =>
  Array.from({ length: count }, () => entries).flat();
const thought = (): SessionEntry => ({
  kind: "message",
  role: "assistant",
  content: [{ type: "thinking", thinking: LARGE_MARK, signature: "signed" }],
});

test("system messages over 32 MiB are refused in any request, and no more of them is read", async () => {
  const { log, session } = await recordLarge([...times(41, system(LARGE_MARK)), user("Hello")]);
  const refused = { code: "history_too_large", message: expect.stringContaining("system messages"), hint: /Withdraw/ };
  for (const options of [{}, { max_messages: 1 }, { max_tokens: 100 }, { format: "anthropic" as const }]) {
    log.chars = 0;
    const hint = expect.stringMatching(refused.hint);
    await expect(session.history(options)).rejects.toMatchObject({ ...refused, hint });
    expect(log.chars).toBeLessThan(64 * MIB);
  }
});

test("signed thinking counts if it is shown, and otherwise what is read is bounded", async () => {
  const { log, session } = await recordLarge([user("Hello"), ...times(41, thought())]);
  const refused = { code: "history_too_large", hint: expect.stringContaining("Clear or consolidate") };
  for (const options of [{ max_messages: 1 }, { format: "anthropic" as const }, { max_tokens: 100 }]) {
    log.chars = 0;
    await expect(session.history(options)).rejects.toMatchObject(refused);
    expect(log.chars).toBeLessThan(300 * MIB);
  }
  const said = { ...thought(), content: [...(thought().content as readonly object[]), { type: "text", text: "Yes." }] };
  const few = await recordLarge([user("Hello"), ...times(3, said as SessionEntry)]);
  await expect(few.session.history({ format: "anthropic" })).rejects.toMatchObject({ code: "history_too_large" });
  expect(await few.session.history()).toHaveLength(4);
  await few.session.clear();
  expect(await few.session.history({ format: "anthropic" })).toMatchObject({ messages: [] });
});

test("responses that came later are read a few at a time", async () => {
  const asked = Array.from({ length: 12 }, (_, nth): readonly SessionEntry[] => [
    { kind: "interaction", id: `i${nth}`, prompt: "?" },
    { kind: "response", interaction_id: `i${nth}`, response: LARGE_MARK },
  ]);
  const { log, session } = await recordLarge(asked.flat());
  await expect(session.history()).rejects.toMatchObject({ code: "history_too_large" });
  expect(log.chars).toBeLessThan(64 * MIB);
  expect(await session.history({ max_messages: 2 })).toHaveLength(2);
});

test("counting the tokens that the newest messages need is bounded", async () => {
  const words = Array.from({ length: 4_000 }, (_, nth) => String.fromCodePoint(0x4e00 + ((nth * 7_919) % 20_000))).join(
    "",
  );
  const { session } = await recordLarge(times(3, user(words.repeat(500))));
  const refused = { code: "history_too_large", hint: expect.stringContaining("max_messages") };
  await expect(session.history({ max_tokens: 100 })).rejects.toMatchObject(refused);
  expect(await session.history({ max_messages: 1 })).toHaveLength(1);
});
