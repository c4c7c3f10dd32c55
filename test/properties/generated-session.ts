// Sessions as no client should record them: every role, every broken call and result, drawn from small pools that meet.
import fc from "fast-check";
import type { EntryInput, Recorder } from "../../src/index.js";

export const sessionId = "s:1";

/** An entry of a generated session, not yet in any session. */
export interface GeneratedEntry {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Mostly a few that meet; those further on look alike once they are made fit for Anthropic. */
const callIds = ["c1", "c1", "c1", "c2", "c2", "c2", "c3", "c3", "call.1", "call:1", "call_1", "ü", "", " "];
const deepArguments = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("alpha", "beta gamma", "ends in space \n", "<|endoftext|>", "\ud800", "🙂") },
  { weight: 2, arbitrary: fc.constantFrom("", " ", "\n\t", "\u00a0") },
  fc.string({ maxLength: 6 }),
);
const callId = fc.constantFrom(...callIds);
const toolName = fc.constantFrom("read", "read", "write", "write", "read.file", "", "名", "x".repeat(80));
const argumentText = fc.constantFrom("{}", '{"a":1}', "[1]", "null", "3", "{broken", "", '"t"', deepArguments);
const argumentValue = fc.oneof(argumentText, fc.constantFrom({ a: 1 }, [1], null, 7, true));

const call: fc.Arbitrary<object> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(callId, toolName, argumentText)
      .map(([id, name, args]) => ({ id, type: "function", function: { name, arguments: args } })),
  },
  fc.tuple(callId, toolName, argumentValue).map(([id, name, args]) => ({ id, name, arguments: args })),
  fc.tuple(callId, toolName, argumentValue).map(([id, name, input]) => ({ id, custom: { name, input } })),
  fc.tuple(toolName, argumentText).map(([name, args]) => ({ type: "function", function: { name, arguments: args } })),
  fc.constantFrom<object>(
    {},
    { id: null, function: { name: "read" } },
    { id: 7, function: { name: "read", arguments: "{}" } },
    { id: "c1", function: null },
    { id: "c1", function: "read" },
    { id: "c1", function: { arguments: "{}" } },
    { id: "c2", function: { name: "read" } },
    { id: "c3", type: "function", function: { name: ["read"], arguments: "{}" } },
  ),
);

const toolUse = fc
  .tuple(callId, toolName, argumentValue)
  .map(([id, name, input]) => ({ type: "tool_use", id, name, input }));
const toolResult = fc
  .tuple(
    fc.oneof(callId, fc.constant(null)),
    fc.oneof(text, fc.constantFrom(null, {}, [], [{ type: "text", text: "r" }])),
  )
  .map(([tool_use_id, content]) => ({ type: "tool_result", tool_use_id, content, is_error: content === null }));

const part: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: text.map((value) => ({ type: "text", text: value })) },
  text,
  toolUse,
  toolResult,
  fc.constantFrom<unknown>(
    { type: "text" },
    { type: "text", text: 7 },
    { type: "text", text: "cached", cache_control: { type: "ephemeral" } },
    { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
    { type: "image_url", image_url: "data:image/png;base64,AAAA" },
    { type: "image_url" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
    { type: "image", source: {} },
    { type: "image", text: " " },
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "t" },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "d" } },
    { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    { type: "input_audio" },
    { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" } },
    { type: "file", file: {}, text: "\n" },
    { type: "refusal", refusal: "no" },
    { type: "refusal" },
    { type: "thinking", thinking: "hm", signature: "x" },
    { type: "thinking", thinking: "", signature: "y" },
    { type: "thinking", thinking: "unsigned" },
    { type: "redacted_thinking", data: "x" },
    { type: "redacted_thinking" },
    { type: null, text: "" },
    {},
    { text: "no type" },
    { unknown: [1, { two: null }] },
  ),
);
const content = fc.oneof({ weight: 3, arbitrary: text }, fc.array(part, { maxLength: 3 }));
const name = fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom("ada", "Ada <L>", "a/b"));
const calls = fc.oneof(fc.constant(undefined), fc.array(call, { maxLength: 3 }));

const user = fc.record({ role: fc.constant("user"), content, name });
const assistant = fc
  .record({ role: fc.constantFrom("assistant", "assistant", "timmy", "model"), content, name, tool_calls: calls })
  .map((message) => {
    const mayBeNull = message.tool_calls !== undefined && message.tool_calls.length > 0;
    return mayBeNull && message.content === "" ? { ...message, content: null } : message;
  });
const system = fc.record({ role: fc.constantFrom("system", "developer"), content, name });
const tool = fc.record({
  role: fc.constantFrom("tool", "tool", "function"),
  content,
  name,
  tool_call_id: fc.option(callId, { nil: undefined }),
});
const toolCall = fc.record({
  tool: toolName,
  result: fc.oneof(text, fc.constantFrom<unknown>({ ok: true }, [], undefined)),
  is_error: fc.option(fc.boolean(), { nil: undefined }),
  tool_call_id: callId,
});

function of(kind: string, fields: fc.Arbitrary<object>): fc.Arbitrary<GeneratedEntry> {
  return fields.map((given) => ({ ...given, kind }));
}

const aside: fc.Arbitrary<GeneratedEntry> = fc.constantFrom(
  { kind: "error", error: "failed" },
  { kind: "decision", decision: "go on" },
  { kind: "session_info", title: "t" },
  { kind: "raw", source: "x", record: { role: "user", content: "not said" } },
);

/** Takes back one of the messages before it, whichever; where there is none it is left out of the session. */
const withdrawal: fc.Arbitrary<GeneratedEntry> = fc.record({ kind: fc.constant("withdrawal"), withdraws: fc.nat() });

/** Talk without any boundary; users are rare, so windows have to reach back. */
const talk: fc.Arbitrary<GeneratedEntry> = fc.oneof(
  { weight: 2, arbitrary: of("message", user) },
  { weight: 6, arbitrary: of("message", assistant) },
  { weight: 5, arbitrary: of("message", tool) },
  { weight: 2, arbitrary: of("tool_call", toolCall) },
  { weight: 1, arbitrary: of("message", system) },
  { weight: 1, arbitrary: aside },
  { weight: 1, arbitrary: withdrawal },
);
const interaction: fc.Arbitrary<GeneratedEntry> = of(
  "interaction",
  fc.record({ prompt: fc.constantFrom("p", "q r"), response: text }),
);
const boundary: fc.Arbitrary<GeneratedEntry> = fc.oneof(
  fc.constant({ kind: "clear" }),
  fc.record(
    {
      kind: fc.constant("consolidation"),
      through: fc.integer({ min: 0, max: 40 }),
      summary: fc.constantFrom("so far", "they agreed", " "),
      kept: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }),
    },
    { requiredKeys: ["kind", "through"] },
  ),
);

/** A question, calls and their results, in an order that is seldom the right one. */
const exchange: fc.Arbitrary<readonly GeneratedEntry[]> = fc
  .tuple(
    of("message", user),
    of("message", assistant),
    fc.array(of("message", tool), { maxLength: 3 }),
    of("message", assistant),
  )
  .chain(([asks, calls, results, answers]) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([asks, calls, ...results, answers]) },
      fc.shuffledSubarray([asks, calls, ...results, answers]),
    ),
  );

function sessionOf(
  pieces: fc.Arbitrary<readonly GeneratedEntry[]>,
  length: { readonly minLength?: number; readonly maxLength: number },
): fc.Arbitrary<readonly GeneratedEntry[]> {
  return fc.array(pieces, { ...length, size: "max" }).map((parts) => withdrawn(parts.flat()));
}

/** Each withdrawal names a message before it by the position that this will have in an empty store. */
function withdrawn(session: readonly GeneratedEntry[]): readonly GeneratedEntry[] {
  const placed: GeneratedEntry[] = [];
  const messages: number[] = [];
  for (const entry of session) {
    if (entry.kind === "withdrawal") {
      const withdraws = messages[(entry.withdraws as number) % messages.length];
      if (withdraws !== undefined) placed.push({ kind: "withdrawal", withdraws });
      continue;
    }
    placed.push(entry);
    if (entry.kind === "message") messages.push(placed.length);
  }
  return placed;
}

/** Anything in any order. */
export const anySession: fc.Arbitrary<readonly GeneratedEntry[]> = fc.oneof(
  {
    weight: 5,
    arbitrary: sessionOf(
      fc.oneof(
        { weight: 12, arbitrary: fc.tuple(talk) },
        { weight: 8, arbitrary: exchange },
        { weight: 1, arbitrary: fc.tuple(fc.oneof(boundary, interaction, interaction)) },
      ),
      { maxLength: 20 },
    ),
  },
  sessionOf(fc.tuple(fc.oneof({ weight: 8, arbitrary: interaction }, aside, boundary)), { maxLength: 12 }),
);

/** Longer than two looks of the reader, which takes 64 entries or more at first. */
export const longSession: fc.Arbitrary<readonly GeneratedEntry[]> = fc
  .tuple(
    sessionOf(
      fc.oneof(
        { weight: 10, arbitrary: fc.tuple(of("message", assistant)) },
        { weight: 20, arbitrary: fc.tuple(talk) },
        { weight: 1, arbitrary: exchange },
      ),
      { minLength: 250, maxLength: 450 },
    ),
    fc.nat(200),
  )
  .map(([entries, boundaryAt]) => {
    const withBoundary = [...entries.slice(0, boundaryAt), { kind: "clear" }, ...entries.slice(boundaryAt)];
    return withdrawn(withBoundary);
  });

/**
 * The same session with each text marked by the position its entry will have in an empty store, so what history
 * shows can be traced back. Blank texts stay blank, since that is what they are there for.
 */
export function marked(session: readonly GeneratedEntry[]): readonly GeneratedEntry[] {
  return session.map((entry, index) => {
    const fields = Object.entries(entry).map(([field, value]) => {
      const isText =
        typeof value === "string" && ["content", "result", "prompt", "response", "summary"].includes(field);
      return [field, isText && value.trim() !== "" ? `«${index + 1}»${value}` : value] as const;
    });
    return Object.fromEntries(fields) as unknown as GeneratedEntry;
  });
}

/** In batches, since what is withdrawn has to be there before; in an empty store entry n then has position n + 1. */
export async function recordSession(recorder: Recorder, session: readonly GeneratedEntry[]): Promise<void> {
  let batch: GeneratedEntry[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await recorder.append(batch as unknown as readonly EntryInput[]);
    batch = [];
  };
  for (const entry of session) {
    if (entry.kind === "withdrawal") await flush();
    batch.push({ ...entry, session_id: sessionId });
  }
  await flush();
}
