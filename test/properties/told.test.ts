// Contexts and verdicts of random sessions, against what follows from the entries alone: the history of a store that holds
// no more than came before, and a look into every context that was given.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Context, EntryInput, Recorder } from "../../src/index.js";
import { contentTexts } from "../../src/model/content.js";
import { itemAt } from "../../src/model/item-at.js";
import { type CallStep, pairCalls } from "../../src/model/same-calls.js";
import { fuzz, fuzzTimeoutMs } from "../support/fuzz.js";
import { memoryRecorder } from "../support/memory-recorder.js";

interface GeneratedEntry {
  readonly kind: string;
  readonly [field: string]: unknown;
}

interface Recorded {
  readonly entries: readonly GeneratedEntry[];
  /** Which of them were forgotten at last, from 0. */
  readonly forgotten: readonly number[];
}

/** No name of a field, role or id holds one of these. */
const words = ["amber", "basil", "cedar", "dahlia", "elder"];
const word = fc.constantFrom(...words, ...words.map((one) => one.toUpperCase()), `${words[0]} and ${words[1]}`);
const callId = fc.constantFrom("c1", "c2", "c3");
const call = fc
  .tuple(callId, word)
  .map(([id, said]) => ({ id, type: "function", function: { name: "read", arguments: JSON.stringify({ said }) } }));
const text = fc.oneof(
  { weight: 4, arbitrary: word },
  word.map((said) => [{ type: "text", text: said }]),
);

const message = fc.oneof(
  { weight: 4, arbitrary: fc.record({ role: fc.constant("user"), content: text }) },
  { weight: 4, arbitrary: fc.record({ role: fc.constant("assistant"), content: text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(fc.constant(""), word),
      tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ role: fc.constant("tool"), content: word, tool_call_id: callId }) },
  { weight: 1, arbitrary: fc.record({ role: fc.constant("system"), content: word }) },
);
const pack = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  fc.record({ text: word, memories: fc.array(fc.record({ id: fc.constant("m"), content: word }), { maxLength: 1 }) }),
  {
    weight: 3,
    arbitrary: fc.record(
      { messages: fc.array(message, { maxLength: 3 }), system: word, tools: fc.array(fc.record({ name: word })) },
      { requiredKeys: ["messages"] },
    ),
  },
);
const interaction = fc
  .record({
    prompt: word,
    response: fc.oneof(fc.constant(""), word),
    context_pack: pack,
    response_summary: fc.oneof(fc.constant(""), word),
  })
  .map((fields): GeneratedEntry => ({ kind: "interaction", ...fields }));
const marker: fc.Arbitrary<GeneratedEntry> = fc.oneof(
  fc.constant({ kind: "clear" }),
  fc.record({ kind: fc.constant("consolidation"), through: fc.integer({ min: 1, max: 12 }), summary: word }),
  fc.record({ kind: fc.constant("withdrawal"), withdraws: fc.nat() }),
);
const toolCall = fc
  .record({ tool: word, args: fc.record({ said: word }), result: word, tool_call_id: callId })
  .map((fields): GeneratedEntry => ({ kind: "tool_call", ...fields }));
const aside: fc.Arbitrary<GeneratedEntry> = fc.oneof(
  word.map((error) => ({ kind: "error", error })),
  word.map((decision) => ({ kind: "decision", decision })),
);
const response: fc.Arbitrary<GeneratedEntry> = fc.record({
  kind: fc.constant("response"),
  of: fc.nat(),
  response: word,
});

const talk = message.map((fields): GeneratedEntry => ({ kind: "message", ...fields }));
const sessions: fc.Arbitrary<Recorded> = fc
  .oneof(
    entriesOf({ weight: 12, arbitrary: talk }, { weight: 2, arbitrary: toolCall }, marker, aside),
    entriesOf({ weight: 8, arbitrary: interaction }, { weight: 2, arbitrary: response }, marker, aside),
    entriesOf(
      { weight: 6, arbitrary: talk },
      { weight: 6, arbitrary: interaction },
      ...[toolCall, response, marker, aside],
    ),
  )
  .chain((entries) =>
    fc.record({
      entries: fc.constant(entries),
      forgotten: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.uniqueArray(fc.nat(11), { maxLength: 2 })),
    }),
  );

function entriesOf(
  ...kinds: readonly fc.OneOfConstraints[] | readonly unknown[]
): fc.Arbitrary<readonly GeneratedEntry[]> {
  const any = fc.oneof(...(kinds as readonly fc.Arbitrary<GeneratedEntry>[]));
  return fc.array(any, { minLength: 2, maxLength: 12, size: "max" }).map(placed);
}

/** Each gets the id of its place; what refers to an entry that is not there is left out. */
function placed(drawn: readonly GeneratedEntry[]): readonly GeneratedEntry[] {
  const entries: GeneratedEntry[] = [];
  const at = (isIt: (entry: GeneratedEntry) => boolean): readonly number[] =>
    entries.flatMap((entry, index) => (isIt(entry) ? [index + 1] : []));
  const answered = new Set<number>();
  for (const { of, withdraws, ...entry } of drawn) {
    const id = `e${entries.length + 1}`;
    if (entry.kind === "withdrawal") {
      const messages = at(({ kind }) => kind === "message");
      const named = messages[(withdraws as number) % messages.length];
      if (named !== undefined) entries.push({ ...entry, id, withdraws: named });
    } else if (entry.kind === "response") {
      const open = at(({ kind, response }) => kind === "interaction" && response === "").filter(
        (one) => !answered.has(one),
      );
      const named = open[(of as number) % open.length];
      if (named === undefined) continue;
      answered.add(named);
      entries.push({ ...entry, id, interaction_id: `e${named}` });
    } else entries.push({ ...entry, id });
  }
  return entries;
}

async function recorded({ entries, forgotten }: Recorded): Promise<Recorder> {
  const { recorder } = memoryRecorder();
  for (const entry of entries) {
    const session = entry.kind === "response" ? {} : { session_id: "s" };
    await recorder.append({ ...entry, ...session } as unknown as EntryInput);
  }
  for (const index of forgotten) {
    const entry = entries[index]?.id as string | undefined;
    const stored = entry === undefined ? undefined : await recorder.getEntry(entry);
    // A response goes with its interaction.
    if (entry !== undefined && stored !== undefined && !("erased" in stored)) {
      await recorder.forget({ entry, reason: "asked" });
    }
  }
  return recorder;
}

/** What history showed when an entry came, from a store that holds no more; a question behind it shows what leads it. */
async function historyBefore(session: Recorded, position: number): Promise<readonly unknown[]> {
  // A request that was recorded earlier is taken as its prompt and response, as if its messages were not known.
  const entries = session.entries.slice(0, position - 1).map((entry) => {
    const { messages: _, system: __, ...pack } = (entry.context_pack ?? {}) as { readonly [name: string]: unknown };
    return entry.context_pack === undefined ? entry : { ...entry, context_pack: pack };
  });
  const before = await recorded({ entries, forgotten: session.forgotten.filter((index) => index < position - 1) });
  // Before a message that was not recorded as a call, interactions are no part of what the program was given.
  await before.session("s").info({ metadata: { source: {} } });
  const hasMessages = ((await before.session("s").summary())?.messages ?? 0) > 0;
  if (hasMessages) await before.session("s").message({ role: "user", content: "behind" });
  const history = await before.session("s").history();
  return history.filter(({ content }) => content !== "behind");
}

function bare(messages: Context["messages"]): readonly unknown[] {
  return messages.map(({ entry_id: _, ...message }) => message);
}

/** As often as both have it; of several that are the same the last ones went. */
function differences(then: readonly unknown[], now: readonly unknown[]) {
  const left = then.map((one) => JSON.stringify(one));
  const added = now.flatMap((one, at) => {
    const same = left.indexOf(JSON.stringify(one));
    if (same === -1) return [at];
    left.splice(same, 1);
    return [];
  });
  return { kept: now.length - added.length, added, removed: left.map((one) => JSON.parse(one) as unknown) };
}

/** Which entries are one call, worked out from the entries alone. */
function sameCallsOf({ entries, forgotten }: Recorded) {
  const responses = new Map(
    entries.flatMap((entry) => (entry.kind === "response" ? [[entry.interaction_id, entry]] : [])),
  );
  const isGone = (id: unknown): boolean => forgotten.some((index) => entries[index]?.id === id);
  const steps = entries.flatMap(({ id, kind, role, ...fields }, index): readonly CallStep[] => {
    const position = index + 1;
    if (isGone(id)) return [];
    if (kind === "interaction") {
      const late = responses.get(id);
      const response = late === undefined || isGone(late.id) ? fields.response : late.response;
      return [{ position, by: "interaction", asked: fields.prompt as string, ...said(response) }];
    }
    if (kind !== "message" || (role !== "user" && role !== "assistant")) return [];
    const words = contentTexts(fields.content).join("\n");
    if (role === "user") return [{ position, by: "user", asked: words }];
    const calls = (fields.tool_calls ?? []) as readonly { readonly id: string }[];
    return [{ position, by: "message", ...said(words), calls: calls.map((one) => one.id) }];
  });
  return pairCalls(steps);
}

function said(text: unknown): { readonly said?: string } {
  return typeof text === "string" && text !== "" ? { said: text } : {};
}

interface GivenContext {
  readonly position: number;
  readonly kind: string;
  readonly context: Context;
  /** All that was given, as one text to look into. */
  readonly given: string;
}

async function turnsOf(recorder: Recorder, entries: readonly GeneratedEntry[]): Promise<readonly GivenContext[]> {
  const turns: GivenContext[] = [];
  for (const [index, { kind, id, role, prompt }] of entries.entries()) {
    if (kind !== "interaction" && !(kind === "message" && role === "assistant")) continue;
    const context = await recorder.context(id as string).catch(() => undefined);
    if (context === undefined) continue;
    turns.push({ position: index + 1, kind, context, given: givenIn(context, prompt) });
  }
  return turns;
}

function toolsOf({ tools = [] }: Context): readonly string[] {
  return [...new Set((tools as unknown as readonly { readonly name: string }[]).map(({ name }) => name))];
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}

function givenIn({ messages, system, tools, pack }: Context, prompt: unknown): string {
  return JSON.stringify([bare(messages), system, tools, pack, prompt]).toLowerCase();
}

test(
  "a context is the earlier history, or the recorded one, and `previous` is the difference between two of them",
  async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (session) => {
        const recorder = await recorded(session);
        const turns = await turnsOf(recorder, session.entries);
        const { interactionOf } = sameCallsOf(session);
        const callOf = (position: number): number => interactionOf.get(position) ?? position;
        for (const { position, kind, context } of turns) {
          const { prompt } = itemAt(session.entries, position - 1);
          const { context_pack } = itemAt(session.entries, callOf(position) - 1);
          const sent = (context_pack as { readonly messages?: readonly unknown[] } | undefined)?.messages;
          expect([position, context.exact]).toEqual([position, sent !== undefined]);
          const history = sent ?? (await historyBefore(session, position));
          const isLast = history.findLast((one) => (one as { readonly role: string }).role === "user") as
            | { readonly content: unknown }
            | undefined;
          const isSaid =
            isLast?.content === prompt || JSON.stringify(isLast?.content ?? "").includes(`"text":"${prompt}"`);
          const asks =
            kind === "interaction" && sent === undefined && !isSaid ? [{ role: "user", content: prompt }] : [];
          expect([position, bare(context.messages)]).toEqual([position, [...history, ...asks]]);
          const before = turns.findLast(
            (turn) => turn.position < position && callOf(turn.position) !== callOf(position),
          );
          const { previous } = context;
          const expected =
            before === undefined
              ? undefined
              : {
                  entry_id: `e${before.position}`,
                  ...differences(bare(before.context.messages), bare(context.messages)),
                  system: before.context.system === context.system ? "same" : "changed",
                  tools: {
                    added: without(toolsOf(context), toolsOf(before.context)),
                    removed: without(toolsOf(before.context), toolsOf(context)),
                  },
                };
          expect(previous === undefined ? undefined : { ...previous, removed: bare(previous.removed) }).toEqual(
            expected,
          );
        }
      }),
      fuzz(150),
    );
  },
  fuzzTimeoutMs,
);

test(
  "told agrees with searching every context of the session",
  async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (session) => {
        const recorder = await recorded(session);
        const turns = await turnsOf(recorder, session.entries);
        const askable = ["interaction", "message", "tool_call", "error", "decision", "response"];
        for (const { id, kind, role } of session.entries) {
          if (!askable.includes(kind) || (kind === "message" && role !== "assistant")) continue;
          const context = await recorder.context(id as string).catch(() => undefined);
          if (context === undefined) continue;
          const { position } = context.answer;
          const { prompt } = itemAt(session.entries, position - 1);
          for (const phrase of [...words, "AMBER AND", "absent"]) {
            const told = await recorder.told(id as string, phrase);
            const isIn = (given: string): boolean => given.includes(phrase.toLowerCase());
            const earlier = turns.filter((turn) => turn.position < position && isIn(turn.given));
            const isGiven = isIn(givenIn(context, prompt));
            const verdict = isGiven ? "given" : earlier.length > 0 ? "fell_out" : "never";
            const first = earlier[0]?.position ?? (isGiven ? position : undefined);
            expect({
              id,
              phrase,
              verdict: told?.verdict,
              exact: told?.exact,
              places: (told?.given.length ?? 0) > 0,
              first: told?.first_given?.position,
              last: told?.last_given?.position,
            }).toEqual({
              id,
              phrase,
              verdict,
              exact: context.exact,
              places: isGiven,
              first,
              last: isGiven ? undefined : earlier.at(-1)?.position,
            });
            if (told?.why === undefined) continue;
            const between = session.entries.slice(told.last_given?.position, position - 1).map((entry) => entry.kind);
            const possible = ["removed", ...["clear", "consolidation"].filter((mark) => between.includes(mark))];
            expect(possible).toContain(told.why);
          }
        }
      }),
      fuzz(150),
    );
  },
  fuzzTimeoutMs,
);
