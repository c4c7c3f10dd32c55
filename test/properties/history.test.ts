// History is right for any session, however broken: legal for both providers, and exactly what the specification says.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnthropicHistory, openRecorder, type Recorder, RecorderError } from "../../src/index.js";
import { countTokensIn, loadTokenCounter } from "../../src/sessions/history/tokens.js";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { anySession, type GeneratedEntry, longSession, marked, recordSession, sessionId } from "./generated-session.js";
import { expectedHistory, mayShow, shapeOf } from "./history-oracle.js";
import { anthropicFaults, openAiFaults } from "./legality.js";

const folder = folderOfFile();

const maxMessages = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(500, Number.POSITIVE_INFINITY));

property("history is legal for OpenAI", 400, [anySession, maxMessages, fc.boolean()], async (recorder, options) => {
  expect(openAiFaults(await openAi(recorder, options), { mayPend: options.include_pending })).toEqual([]);
});

property("history is legal for Anthropic", 400, [anySession, maxMessages, fc.boolean()], async (recorder, options) => {
  const history = await anthropicOf(recorder, options);
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
  "a smaller window ends as a larger one does",
  150,
  [anySession, maxMessages, fc.boolean()],
  async (recorder, options) => {
    const small = await openAi(recorder, options);
    const large = await openAi(recorder, { ...options, max_messages: options.max_messages + 3 });
    // Where the newest turn is cut, the message that opens it stands in front.
    const firstAnswer = small.findIndex((message) => "role" in message && message.role === "assistant");
    const end = small.slice(firstAnswer === -1 ? small.length - 1 : firstAnswer);
    if (small.length > 0) expect(large.slice(large.length - end.length)).toEqual(end);
    if (small.length > 0) expect(large.filter(isSystem)).toEqual(small.filter(isSystem));
  },
);

property(
  "history shows nothing at or before the boundary but system messages, the summary and what is kept",
  150,
  [anySession, maxMessages, fc.boolean()],
  async (recorder, options, session) => {
    const openai = await openAi(recorder, options);
    const anthropic = await anthropicOf(recorder, options);
    const positions = [...JSON.stringify([openai, anthropic]).matchAll(/«(\d+)»/g)].map((match) => Number(match[1]));
    expect(positions.filter((position) => !mayShow(session, position))).toEqual([]);
  },
);

const budgets = fc.record({
  max_messages: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(500)),
  max_tokens: fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 150 }), fc.integer({ min: 0, max: 800 })),
  include_pending: fc.boolean(),
  format: fc.constantFrom("openai", "anthropic"),
});

test(
  `history keeps to both budgets and is legal; where it is refused, the least that would do is (seed ${fuzzSeed})`,
  async () => {
    const count = await loadTokenCounter();
    const tokensOf = (value: unknown): number => 4 + countTokensIn(JSON.stringify(value), count);
    await fc.assert(
      fc.asyncProperty(fc.oneof(anySession, longSession), budgets, async (given, options) => {
        const session = marked(given);
        const recorder = await openRecorder({ data: "memory:" });
        await recordSession(recorder, session);
        const ask = async (asked: object): Promise<readonly object[] | AnthropicHistory> =>
          recorder.session(sessionId).history({ ...options, ...asked });
        const expectWithin = (history: readonly object[] | AnthropicHistory, limits: typeof options): void => {
          const { system, messages } = "messages" in history ? history : { system: "", messages: history };
          const talk = messages.filter((message) => !isSystem(message));
          const hasSummary = /^«\d+»(?:so far|they agreed)/.test(textIn(talk[0]));
          expect(talk.length - (hasSummary ? 1 : 0)).toBeLessThanOrEqual(limits.max_messages);
          const tokens = messages.reduce(
            (sum, message) => sum + tokensOf(message),
            system === "" ? 0 : tokensOf(system),
          );
          expect(tokens).toBeLessThanOrEqual(limits.max_tokens ?? Number.POSITIVE_INFINITY);
          const mayPend = options.include_pending;
          const faults =
            "messages" in history ? anthropicFaults(history, { mayPend }) : openAiFaults(history, { mayPend });
          expect(faults).toEqual([]);
        };
        const unbounded = await ask({ max_messages: Number.POSITIVE_INFINITY, max_tokens: undefined });
        const isEmpty = (history: readonly object[] | AnthropicHistory): boolean =>
          ("messages" in history ? history.messages : history).length === 0;
        // At most once for each of the budgets.
        let limits = options;
        for (let tries = 0; ; tries += 1) {
          const answer = await ask(limits).catch((error: unknown) => error);
          if (!(answer instanceof RecorderError)) {
            expectWithin(answer as readonly object[] | AnthropicHistory, limits);
            expect(isEmpty(answer as readonly object[] | AnthropicHistory)).toBe(isEmpty(unbounded));
            break;
          }
          expect(tries).toBeLessThan(2);
          const { code, field, least = 0 } = answer;
          expect(code).toBe("budget_too_small");
          expect(least).toBeGreaterThan(limits[field as "max_messages" | "max_tokens"] as number);
          const below = { ...limits, [field as string]: least - 1 };
          await expect(ask(below)).rejects.toMatchObject({ code, field, least });
          limits = { ...limits, [field as string]: least };
        }
        await recorder.close();
      }),
      slowFuzz(250),
    );
  },
  fuzzTimeoutMs,
);

function textIn(message: object | undefined): string {
  const { content } = (message ?? {}) as { readonly content?: unknown };
  if (typeof content === "string") return content;
  const [first] = (content ?? []) as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

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
              const expected = await orRefusal(memory.session(sessionId).history(options));
              expect(await orRefusal(sqlite.session(sessionId).history(options))).toEqual(expected);
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
  [sessions, max, pending]: readonly [
    fc.Arbitrary<readonly GeneratedEntry[]>,
    fc.Arbitrary<number>,
    fc.Arbitrary<boolean>,
  ],
  holds: (recorder: Recorder, options: Options, session: readonly GeneratedEntry[]) => Promise<void>,
): void {
  const check = async (
    given: readonly GeneratedEntry[],
    max_messages: number,
    include_pending: boolean,
  ): Promise<void> => {
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

async function expectAsSpecified(
  recorder: Recorder,
  options: Options,
  session: readonly GeneratedEntry[],
): Promise<void> {
  const expected = expectedHistory(session, options);
  if (typeof expected === "number") {
    const refused = { code: "budget_too_small", field: "max_messages", least: expected };
    await expect(recorder.session(sessionId).history({ ...options })).rejects.toMatchObject(refused);
    return;
  }
  const history = await recorder.session(sessionId).history({ ...options });
  expect(history.map(shapeOf)).toEqual(expected);
}

/** Where so few messages are refused, with the least that would do. */
async function openAi(recorder: Recorder, options: Options): Promise<readonly object[]> {
  const history = await orRefusal(recorder.session(sessionId).history({ ...options }));
  return history instanceof RecorderError ? openAi(recorder, atLeast(options, history)) : history;
}

async function anthropicOf(recorder: Recorder, options: Options): Promise<AnthropicHistory> {
  const history = await orRefusal(recorder.session(sessionId).history({ ...options, format: "anthropic" }));
  return history instanceof RecorderError ? anthropicOf(recorder, atLeast(options, history)) : history;
}

function atLeast(options: Options, { least = 0 }: RecorderError): Options {
  return { ...options, max_messages: least };
}

async function orRefusal<T>(answer: Promise<T>): Promise<T | RecorderError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RecorderError && error.code === "budget_too_small") return error;
    throw error;
  }
}

function isSystem(message: object): boolean {
  return "role" in message && message.role === "system";
}

async function everything(recorder: Recorder, entries: number): Promise<readonly unknown[]> {
  return Promise.all(Array.from({ length: entries }, (_, index) => recorder.getEntry(index + 1)));
}
