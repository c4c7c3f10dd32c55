// Sessions in the shapes that tools write, made for comparing what the record says of them with what each answer was given: calls,
// a compaction, a branch that was left, a session that was taken up again.

type Lines = readonly object[];

let minute = 0;
function timestamp(): string {
  minute += 1;
  return new Date(Date.UTC(2026, 4, 4, 8, minute)).toISOString();
}

const line = (type: string, payload: object): object => ({ timestamp: timestamp(), type, payload });
const item = (payload: object): object => line("response_item", payload);
const words = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });
const answered = (text: string): object =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const called = (call_id: string, cmd: string): object =>
  item({ type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id });
const printed = (call_id: string, output: string): object =>
  item({ type: "function_call_output", call_id, output: `Process exited with code 0\nOutput:\n${output}` });
const spent = (total: number): object => {
  const usage = { input_tokens: total, output_tokens: 1, total_tokens: total + 1 };
  return line("event_msg", { type: "token_count", info: { last_token_usage: usage, total_token_usage: usage } });
};
const rules = (day: number) => words("user", `# AGENTS.md instructions\n\nNever push. Day ${day}.`);
const summary = "Another model began this: the lamps were counted.";

/** The summary stands behind what stays, and the rules are written once more. */
export const codexSession: Lines = [
  line("session_meta", { id: "made-codex", cwd: "/srv/lamps", base_instructions: { text: "Be careful." } }),
  ...[item(words("developer", "<skills_instructions>None.</skills_instructions>")), item(rules(1))],
  ...[item(words("user", "Count the lamps.")), answered("I count."), called("c1", "wc -l lamps"), spent(10)],
  ...[
    printed("c1", "3"),
    answered("Three."),
    spent(20),
    item(words("user", "And the wicks?")),
    answered("Two."),
    spent(30),
  ],
  ...[answered("the lamps were counted."), spent(40)],
  line("compacted", {
    message: summary,
    replacement_history: [
      ...[words("user", "Count the lamps."), rules(2), words("user", "And the wicks?"), words("user", summary)],
    ],
  }),
  ...[answered("On we go."), spent(50), item(words("user", "What is left?")), answered("The oil."), spent(60)],
];

const chat = (id: string, type: string, text: string, more: object = {}): object => ({
  ...{ id, timestamp: timestamp(), type, content: [{ text }], ...more },
});
const list = (...messages: readonly object[]): object => ({ $set: { messages, lastUpdated: timestamp() } });
const surroundings = (files: string) => chat("ctx", "user", `<session_context>Files: ${files}</session_context>`);
const response = { id: "call-1", name: "run_shell_command", response: { output: "3" } };
const call = { id: "call-1", name: "run_shell_command", args: { command: "wc -l lamps" } };
const ran = { ...call, status: "success", result: [{ functionResponse: response }] };
const result = (id: string): object => ({ ...chat(id, "user", ""), content: [{ functionResponse: response }] });
const listedCall = (id: string): object => ({
  ...chat(id, "gemini", ""),
  content: [{ text: "I count." }, { functionCall: call }],
});
const header = { sessionId: "made-gemini", projectHash: "h", startTime: timestamp(), lastUpdated: timestamp() };

/** Taken up again with other surroundings; then compressed, with the summary in the second place; and taken up once more. */
export const geminiSession: Lines = [
  ...[header, list(surroundings("lamps")), chat("u1", "user", "Count the lamps."), chat("a1", "gemini", "I count.")],
  ...[chat("a1", "gemini", "I count.", { toolCalls: [ran] }), result("r1"), chat("a2", "gemini", "Three.")],
  ...[
    header,
    list(
      surroundings("lamps, report"),
      chat("u1", "user", "Count the lamps."),
      listedCall("a1"),
      result("a1"),
      result("r1"),
      chat("a2", "gemini", "Three."),
    ),
  ],
  ...[chat("u2", "user", "And the wicks?"), chat("a3", "gemini", "Two.")],
  list(
    ...[surroundings("lamps, report"), chat("s1", "user", "<state_snapshot>Lamps were counted.</state_snapshot>")],
    ...[chat("g1", "gemini", "Got it."), chat("copy", "user", "And the wicks?"), chat("copy-2", "gemini", "Two.")],
  ),
  ...[chat("u3", "user", "And the oil?"), chat("a4", "gemini", "None.")],
  list(
    ...[surroundings("lamps, oil"), chat("s1", "user", "<state_snapshot>Lamps were counted.</state_snapshot>")],
    ...[chat("g1", "gemini", "Got it."), chat("copy", "user", "And the wicks?"), chat("copy-2", "gemini", "Two.")],
    ...[chat("u3", "user", "And the oil?"), chat("a4", "gemini", "None.")],
  ),
  ...[chat("u4", "user", "What is left?"), chat("a5", "gemini", "The oil.")],
];

const said = (id: string, parentId: string | null, role: string, content: readonly object[], more: object = {}) => ({
  ...{ type: "message", id, parentId, timestamp: timestamp(), message: { role, content, ...more } },
});
const text = (words: string) => [{ type: "text", text: words }];
const toolCall = { type: "toolCall", id: "p1", name: "bash", arguments: { command: "wc -l lamps" } };

/** A branch was left, and the rest was compacted. */
export const piSession: Lines = [
  { type: "session", version: 3, id: "made-pi", timestamp: timestamp(), cwd: "/srv/lamps" },
  said("u1", null, "user", text("Count the lamps.")),
  said("a1", "u1", "assistant", [...text("I count."), toolCall]),
  said("r1", "a1", "toolResult", text("3"), { toolCallId: "p1", toolName: "bash", isError: false }),
  said("a2", "r1", "assistant", text("Three.")),
  ...[said("x1", "a2", "user", text("A way that was left.")), said("x2", "x1", "assistant", text("Left."))],
  ...[said("u2", "a2", "user", text("And the wicks?")), said("a3", "u2", "assistant", text("Two."))],
  {
    ...{ type: "compaction", id: "k1", parentId: "a3", timestamp: timestamp(), summary: "Lamps were counted." },
    ...{ firstKeptEntryId: "u2", tokensBefore: 9_000 },
  },
  ...[said("u3", "k1", "user", text("What is left?")), said("a4", "u3", "assistant", text("The oil."))],
];
