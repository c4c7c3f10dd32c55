// Random workloads: what callers do to a recorder, the wrong things included, drawn from small pools so that they meet.
import fc from "fast-check";

export type Step =
  | { readonly does: "append"; readonly input: unknown }
  | { readonly does: "recordInteraction"; readonly input: unknown }
  | { readonly does: "completeInteraction"; readonly id: string; readonly completion: object }
  | { readonly does: "listInteractions" | "listEntries"; readonly options: object; readonly cursor?: string }
  | { readonly does: "getEntry"; readonly id: string | number }
  | { readonly does: "getInteraction"; readonly id: string }
  | { readonly does: "count" | "verify" | "health" | "reflect" | "usage" | "rebuildIndex" };

const interactionIds = ["i:1", "i:2", "i:3", "i:4", "019a85d2-7c1e-7000-8000-00000000abcd"];
const otherIds = ["a", "b", "c", "d", "e", "f", "g", "h"];
const times = [
  "2026-11-14",
  "2026-11-15T06:39:37Z",
  "2026-11-15T06:39:37.123+02:00",
  "2026-11-15T04:39:37.123Z",
  "1999-12-31 23:59",
];
const sessions = ["s", "S", "s:1", "s/1", "日本"];
const labels = ["atlas", "Atlas", "beacon", "\u202eright-to-left", "🙂"];
const references = ["m1", "m2", "", "\ud800", "m\0", 7, true];

/** Mostly ids of their own, so both happen: an interaction that is there, and an id that another kind took. */
const interactionId = fc.constantFrom(...interactionIds, ...interactionIds, ...interactionIds, "a");
const otherId = fc.constantFrom(...otherIds, ...otherIds, ...otherIds, "i:1");
const anyId = fc.constantFrom(...interactionIds, ...otherIds);
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("alpha", "beta", "", " ", "\0", "\ud800x", "🙂🙂", "line\nline") },
  fc.string({ unit: "binary", maxLength: 12 }),
);
const filledText = fc.oneof(
  fc.constantFrom("alpha", "beta"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
);
const jsonObject = fc.oneof(
  fc.constantFrom({}, { tokens: 1 }, JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')),
  fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
);
const referenceList = fc.array(fc.constantFrom(...references), { maxLength: 3 });

/** Absent, null (which means absent), or given. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constant(null), { weight: 4, arbitrary });

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, arbitrary);

const envelope = {
  id: fc.option(otherId, { nil: undefined, freq: 2 }),
  created_at: maybe(fc.constantFrom(...times)),
  session_id: maybe(fc.constantFrom(...sessions)),
  project: maybe(fc.constantFrom(...labels)),
  client: maybe(fc.constantFrom(...labels)),
};
const interactionEnvelope = { ...envelope, id: fc.option(interactionId, { nil: undefined, freq: 4 }) };
const inSession = { ...envelope, session_id: fc.constantFrom(...sessions) };
/** What a call took, in names of several providers, and counts that are none. */
const tokenCount = fc.oneof({ weight: 4, arbitrary: fc.nat(1_000) }, fc.constantFrom(-1, 1.5, 1e300, "12", null, true));
const usage = fc.oneof(
  jsonObject,
  fc.record(
    { input_tokens: tokenCount, output_tokens: tokenCount, prompt_tokens: tokenCount, cache_read_tokens: tokenCount },
    { requiredKeys: [] },
  ),
);
const callId = fc.constantFrom("c1", "c2", "c3");
const providerIds = fc.record({ message_id: callId, request_id: callId }, { requiredKeys: [] });
const answer = {
  response: seldom(text),
  response_summary: maybe(text),
  memories_used: maybe(referenceList),
  chunks_used: maybe(referenceList),
  model: maybe(text),
  usage: maybe(usage),
  extra: maybe(providerIds),
  latency_ms: maybe(fc.constantFrom(0, 12.5, -1, 1e300)),
  error: seldom(text),
};
const confidence = maybe(fc.constantFrom(0, 0.5, 1));

/** Histories that go on from each other, long enough for bodies to share parts of them. */
const said = Array.from({ length: 12 }, (_, at) => ({ role: "user", content: `${at} was said before. `.repeat(40) }));
const history = fc.nat(said.length).map((count) => ({ messages: said.slice(0, count) }));

const interaction = { prompt: filledText, ...answer, context_pack: maybe(fc.oneof(jsonObject, history)) };

function entryOf(kind: string, fields: { readonly [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<object> {
  return fc.record({ kind: fc.constant(kind), ...fields }).map(withoutUndefined);
}

const validEntry: fc.Arbitrary<object> = fc.oneof(
  { weight: 4, arbitrary: entryOf("interaction", { ...interactionEnvelope, ...interaction }) },
  { weight: 2, arbitrary: entryOf("response", { ...envelope, interaction_id: interactionId, ...answer }) },
  entryOf("message", {
    ...inSession,
    role: fc.constantFrom("user", "assistant", "system", "tool", "developer", "timmy", "function", "model"),
    content: fc.oneof(text, fc.array(fc.oneof(text, jsonObject), { maxLength: 2 })),
    confidence,
    extra: maybe(fc.record({ usage, model: text, message_id: callId, continues: anyId }, { requiredKeys: [] })),
    tool_calls: maybe(fc.array(jsonObject, { maxLength: 2 })),
    tool_call_id: maybe(text),
    name: maybe(text),
  }),
  entryOf("tool_call", {
    ...envelope,
    tool: text,
    args: maybe(jsonObject),
    result: maybe(fc.jsonValue({ maxDepth: 2 })),
    is_error: maybe(fc.boolean()),
    duration_ms: maybe(fc.nat()),
    tool_call_id: maybe(text),
  }),
  entryOf("error", { ...envelope, error: text, context: maybe(text) }),
  entryOf("decision", { ...envelope, decision: text, rationale: maybe(text), confidence }),
  entryOf("consolidation", { ...inSession, through: fc.integer({ min: 1, max: 50 }), summary: maybe(text) }),
  entryOf("clear", inSession),
  entryOf("withdrawal", { ...inSession, withdraws: fc.integer({ min: 1, max: 50 }) }),
  {
    weight: 3,
    arbitrary: entryOf("feedback", {
      ...envelope,
      entry_id: anyId,
      score: maybe(fc.constantFrom(-1, -0.5, 0, 1)),
      label: maybe(text),
      comment: maybe(text),
    }),
  },
  entryOf("session_info", {
    ...inSession,
    title: maybe(text),
    metadata: maybe(jsonObject),
    parent: maybe(fc.constant("s")),
  }),
  entryOf("raw", { ...envelope, source: text, record: jsonObject }),
);

/** A valid entry with one field made wrong, or with one that no kind knows. */
const bentEntry = fc
  .tuple(
    validEntry,
    fc.constantFrom(
      ["kind", "verdict"],
      ["kind", "audit"],
      ["kind", null],
      ["id", "12"],
      ["id", "a b"],
      ["created_at", "2026-02-30"],
      ["session_id", "-"],
      ["session_id", "."],
      ["project", "x".repeat(257)],
      ["client", "a\u0007"],
      ["prompt", " \n"],
      ["memories_used", [null]],
      ["latency_ms", "12"],
      ["confidence", 1.1],
      ["score", -1.1],
      ["withdraws", 0],
      ["extra", []],
      ["extra", { note: "kept" }],
      ["note", { also: "kept" }],
      ["position", 3],
    ) as fc.Arbitrary<readonly [string, unknown]>,
  )
  .map(([entry, [field, value]]) => ({ ...entry, [field]: value }));

const anyEntry: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: validEntry },
  { weight: 2, arbitrary: bentEntry },
  fc.jsonValue({ maxDepth: 2 }),
);

const filters = {
  project: seldom(fc.constantFrom(...labels, "-", "")),
  session_id: seldom(fc.constantFrom(...sessions, "-", "")),
  client: seldom(fc.constantFrom(...labels, "-")),
  since: seldom(fc.constantFrom(...times, "7d", "30m", "never")),
  until: seldom(fc.constantFrom(...times, "1h", "")),
  is: seldom(fc.constantFrom("error", "unanswered", "disliked")),
  limit: seldom(fc.constantFrom(1, 2, 3, 500, 1_000, "5", 0, -1, "many")),
};

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant("append" as const), input: anyEntry }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("append" as const), input: fc.array(anyEntry, { maxLength: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("recordInteraction" as const),
      input: fc.record({ ...interactionEnvelope, ...interaction }).map(withoutUndefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("completeInteraction" as const),
      id: interactionId,
      completion: fc.record({ id: envelope.id, created_at: envelope.created_at, ...answer }).map(withoutUndefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("listInteractions" as const),
      options: fc
        .record({
          ...filters,
          memory: seldom(fc.constantFrom("m1", "7", "\ud800")),
          chunk: seldom(fc.constantFrom("m2", "true", "")),
        })
        .map(withoutUndefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("listEntries" as const),
      options: fc
        .record({ ...filters, kind: seldom(fc.constantFrom("error", "raw", "audit", "", "verdict")) })
        .map(withoutUndefined),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("getEntry" as const), id: fc.oneof(anyId, fc.nat(30)) }) },
  fc.record({ does: fc.constant("getInteraction" as const), id: anyId }),
  fc.record({ does: fc.constantFrom("count", "verify", "health", "reflect", "usage", "rebuildIndex") }),
);

/** A caller that got no answer sends the same again: about every fifth step repeats an earlier one. */
export const workload: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.tuple(step, fc.nat(4), fc.nat(5)), { minLength: 40, maxLength: 120, size: "max" })
  .map((drawn) => {
    const steps: Step[] = [];
    for (const [fresh, dice, back] of drawn) steps.push((dice === 0 ? steps.at(-1 - back) : undefined) ?? fresh);
    return steps;
  });

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, given]) => given !== undefined));
}

/** What every workload ends with. */
export const lastSteps: readonly Step[] = [
  { does: "listEntries", options: { limit: 7 } },
  { does: "listInteractions", options: { limit: 500 } },
  { does: "count" },
  { does: "verify" },
];
