// History is right for any session, however broken: legal for both providers, and exactly what the specification says.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { anySession, type Given, longSession, marked, recordSession, sessionId } from "./generated-session.js";
import { boundaryIn, expectedHistory, shapeOf } from "./history-oracle.js";
import { anthropicFaults, openAiFaults } from "./legality.js";

const folder = folderOfFile();

const maxMessages = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(500, Number.POSITIVE_INFINITY));

property("history is legal for OpenAI", 400, [anySession, maxMessages, fc.boolean()], async (recorder, options) => {
  expect(openAiFaults(await openAi(recorder, options), { mayPend: options.include_pending })).toEqual([]);
});

property("history is legal for Anthropic", 400, [anySession, maxMessages, fc.boolean()], async (recorder, options) => {
  const history = await recorder.session(sessionId).history({ ...options, format: "anthropic" });
  expect(anthropicFaults(history, { mayPend: options.include_pending })).toEqual([]);
});

property("history is what the specification says", 300, [anySession, maxMessages, fc.boolean()], expectAsSpecified);

property(
  "history read piece by piece from the end is what reading all at once gives",
  12,
  [longSession, fc.oneof(maxMessages, fc.integer({ min: 20, max: 200 })), fc.boolean()],
  expectAsSpecified,
);

property(
  "a smaller window is the end of a larger one",
  150,
  [anySession, maxMessages, fc.boolean()],
  async (recorder, options) => {
    const systems = (messages: readonly object[]): number => messages.filter(isSystem).length;
    const small = await openAi(recorder, options);
    const large = await openAi(recorder, { ...options, max_messages: options.max_messages + 3 });
    const talk = small.slice(systems(small));
    expect(large.slice(large.length - talk.length)).toEqual(talk);
    if (talk.length > 0) expect(large.slice(0, systems(large))).toEqual(small.slice(0, systems(small)));
  },
);

property(
  "history holds at most so many messages, unless it had to reach back to a user",
  150,
  [anySession, maxMessages, fc.boolean()],
  async (recorder, options) => {
    const talk = (await openAi(recorder, options)).filter((message) => !isSystem(message));
    const users = talk.filter((message) => "role" in message && message.role === "user");
    if (talk.length > options.max_messages) expect([talk[0]]).toEqual(users);
  },
);

property(
  "history shows nothing at or before the boundary",
  150,
  [anySession, maxMessages, fc.boolean()],
  async (recorder, options, session) => {
    const openai = await openAi(recorder, options);
    const anthropic = await recorder.session(sessionId).history({ ...options, format: "anthropic" });
    const positions = [...JSON.stringify([openai, anthropic]).matchAll(/«(\d+)»/g)].map((match) => Number(match[1]));
    const boundary = boundaryIn(session);
    expect(positions.filter((position) => position <= boundary)).toEqual([]);
  },
);

test(
  `memory and SQLite give the same history, and no entry is changed by reading it (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(anySession, longSession), maxMessages, async (session, max_messages) => {
        const data = mkdtempSync(join(folder, "store-"));
        const memory = await openRecorder({ data: "memory:" });
        const sqlite = await openRecorder({ data });
        try {
          for (const recorder of [memory, sqlite]) await recordSession(recorder, session);
          const before = await everything(sqlite, session.length);
          for (const include_pending of [false, true]) {
            for (const format of ["openai", "anthropic"] as const) {
              const options = { max_messages, include_pending, format } as { readonly format: "anthropic" };
              const expected = await memory.session(sessionId).history(options);
              expect(await sqlite.session(sessionId).history(options)).toEqual(expected);
            }
          }
          expect(await everything(sqlite, session.length)).toEqual(before);
          expect(await sqlite.verify()).toMatchObject({ ok: true, entries: session.length });
        } finally {
          await sqlite.close();
          await memory.close();
          rmSync(data, { recursive: true });
        }
      }),
      slowFuzz(8),
    ),
  fuzzTimeoutMs,
);

interface Options {
  readonly max_messages: number;
  readonly include_pending: boolean;
}

/** One test over generated sessions, each recorded in a store of its own. */
function property(
  name: string,
  runs: number,
  [sessions, max, pending]: readonly [fc.Arbitrary<readonly Given[]>, fc.Arbitrary<number>, fc.Arbitrary<boolean>],
  holds: (recorder: Recorder, options: Options, session: readonly Given[]) => Promise<void>,
): void {
  const check = async (given: readonly Given[], max_messages: number, include_pending: boolean): Promise<void> => {
    const session = marked(given);
    const recorder = await openRecorder({ data: "memory:" });
    await recordSession(recorder, session);
    await holds(recorder, { max_messages, include_pending }, session);
    await recorder.close();
  };
  test(
    `${name} (seed ${fuzzSeed})`,
    () => fc.assert(fc.asyncProperty(sessions, max, pending, check), slowFuzz(runs)),
    fuzzTimeoutMs,
  );
}

async function expectAsSpecified(recorder: Recorder, options: Options, session: readonly Given[]): Promise<void> {
  const history = await openAi(recorder, options);
  expect(history.map(shapeOf)).toEqual(expectedHistory(session, options));
}

function openAi(recorder: Recorder, options: Options): Promise<readonly object[]> {
  return recorder.session(sessionId).history(options);
}

function isSystem(message: object): boolean {
  return "role" in message && message.role === "system";
}

async function everything(recorder: Recorder, entries: number): Promise<readonly unknown[]> {
  return Promise.all(Array.from({ length: entries }, (_, index) => recorder.getEntry(index + 1)));
}
