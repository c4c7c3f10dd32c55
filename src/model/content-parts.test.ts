// How a content is shown to people, in every form that providers use.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ContentPart, contentText, messageParts, messageText } from "./content-parts.js";

describe.each<[string, unknown, string]>([
  ["a text", "as\nit is", "as\nit is"],
  ["null", null, ""],
  ["nothing", undefined, ""],
  ["no parts", [], ""],
  ["a number", 7, "7"],
  ["a truth", false, "false"],
  ["an object that nobody knows", { a: 1 }, '{"a":1}'],
  ["a list of texts, numbers and null", ["one", 2, null], "one\n2\nnull"],
])("%s", (_, content, shown) => {
  test("is shown unchanged", () => expect(contentText(content)).toBe(shown));
});

describe.each<[string, object, string]>([
  ["OpenAI's text", { type: "text", text: "said" }, "said"],
  ["OpenAI's output text", { type: "output_text", text: "said", annotations: [] }, "said"],
  ["a refusal", { type: "refusal", refusal: "I cannot." }, "I cannot."],
  [
    "an image's address",
    { type: "image_url", image_url: { url: "https://e.org/a.png" } },
    "[image: https://e.org/a.png]",
  ],
  [
    "an image's bytes",
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0" } },
    "[image: image/png]",
  ],
  ["an input image", { type: "input_image", image_url: "data:image/jpeg;base64,AAAA" }, "[image: image/jpeg]"],
  ["a sound", { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }, "[audio: wav]"],
  ["a file", { type: "file", file: { filename: "plan.pdf", file_data: "AAAA" } }, "[file: plan.pdf]"],
  ["a call", { type: "function_call", call_id: "c", name: "grep", arguments: '{"q":1}' }, 'calls grep {"q":1}'],
  ["its output", { type: "function_call_output", call_id: "c", output: "two" }, "→ two"],
  [
    "reasoning",
    { type: "reasoning", summary: [{ type: "summary_text", text: "Look first." }] },
    "(thinking) Look first.",
  ],
  [
    "Anthropic's call",
    { type: "tool_use", id: "t", name: "Bash", input: { command: "ls" } },
    'calls Bash {"command":"ls"}',
  ],
  ["a call of nothing", { type: "tool_use", id: "t", name: "now", input: {} }, "calls now"],
  ["its result", { type: "tool_result", tool_use_id: "t", content: "a.txt" }, "→ a.txt"],
  [
    "a result in parts",
    {
      type: "tool_result",
      content: [
        { type: "text", text: "a" },
        { type: "image", source: { media_type: "image/png" } },
      ],
    },
    "→ a\n[image: image/png]",
  ],
  ["a failure", { type: "tool_result", content: "no such file", is_error: true }, "→ failed: no such file"],
  ["a result of nothing", { type: "tool_result", tool_use_id: "t" }, "→ "],
  [
    "an image",
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    "[image: image/png]",
  ],
  [
    "a document",
    { type: "document", title: "Plan", source: { type: "url", url: "https://e.org/p" } },
    "[document: Plan, https://e.org/p]",
  ],
  ["thinking", { type: "thinking", thinking: "Hm.", signature: "s" }, "(thinking) Hm."],
  ["thinking that is signed and no more", { type: "thinking", thinking: "", signature: "s" }, "[thinking]"],
  ["hidden thinking", { type: "redacted_thinking", data: "AAAA" }, "[thinking, redacted]"],
  ["Gemini's text", { text: "said" }, "said"],
  ["Gemini's thought", { text: "Hm.", thought: true }, "(thinking) Hm."],
  ["Gemini's call", { functionCall: { name: "ls", args: { path: "." } } }, 'calls ls {"path":"."}'],
  ["Gemini's result", { functionResponse: { name: "ls", response: { output: "a.txt" } } }, "→ a.txt"],
  ["Gemini's failure", { function_response: { name: "ls", response: { error: "denied" } } }, "→ failed: denied"],
  ["Gemini's bytes", { inlineData: { mimeType: "image/webp", data: "AAAA" } }, "[file: image/webp]"],
  [
    "Gemini's file",
    { file_data: { file_uri: "gs://b/a.mp4", mime_type: "video/mp4" } },
    "[file: video/mp4, gs://b/a.mp4]",
  ],
  ["Gemini's code", { executableCode: { language: "PYTHON", code: "print(1)" } }, "calls code print(1)"],
  ["what it printed", { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }, "→ 1"],
  ["a whole content of Gemini's", { role: "model", parts: [{ text: "a" }, { text: "b" }] }, "a\nb"],
  ["a part of tomorrow", { type: "hologram", depth: 3 }, '[hologram] {"depth":3}'],
  ["a type that is no text", { type: 5 }, '{"type":5}'],
  ["a name that every object has", { type: "constructor" }, "[constructor]"],
])("%s", (_, part, shown) => {
  test("is shown the same way alone and among others", () => {
    expect(contentText([part])).toBe(shown);
    expect(contentText(["before", part])).toBe(`before\n${shown}`);
  });
});

test("a message shows its text, then its calls", () => {
  const call = { id: "c", type: "function", function: { name: "grep", arguments: '{"q":"node 16"}' } };
  expect(messageText({ content: null, tool_calls: [call] })).toBe('calls grep {"q":"node 16"}');
  expect(messageText({ content: "Let me look.", tool_calls: [call, call] })).toBe(
    'Let me look.\ncalls grep {"q":"node 16"}\ncalls grep {"q":"node 16"}',
  );
  const custom = { id: "c", type: "custom", custom: { name: "sql", input: "SELECT 1" } };
  expect(messageText({ content: "", tool_calls: [custom] })).toBe("calls sql SELECT 1");
  expect(messageText({ content: "", tool_calls: [{ id: "odd" }, 5] })).toBe(
    'calls a tool {"id":"odd"}\ncalls a tool 5',
  );
});

test("any recorded content reads as pieces with texts, and nothing is lost or throws", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom("tool_use", "tool_result", "image", "thinking", "reasoning", "file"),
      (value, type) => {
        const contents = [
          value,
          [value],
          { type, content: value, input: value, source: value, summary: value, name: value },
        ];
        for (const content of contents) {
          for (const piece of messageParts({ content, tool_calls: [value] })) {
            if (piece.is === "call") expect(typeof piece.name).toBe("string");
            else expect(typeof piece.text).toBe("string");
          }
          expect(contentText(content)).toBe(
            messageParts({ content })
              .map((piece) => contentOf(piece))
              .join("\n"),
          );
        }
      },
    ),
  );
});

test("a message without text is shown by its thoughts", () => {
  const thinking_blocks = [
    { type: "thinking", thinking: "Look first.", signature: "s" },
    { type: "redacted_thinking" },
  ];
  expect(messageText({ content: "", extra: { thinking_blocks } })).toBe("(thinking) Look first.\n[thinking, redacted]");
  expect(messageText({ content: [], extra: { reasoning_content: "Hm." } })).toBe("(thinking) Hm.");
  expect(messageText({ content: "said", extra: { thinking_blocks } })).toBe("said");
  expect(messageText({ content: "", extra: { thinking_blocks: "", reasoning: 7 } })).toBe("");
});

function contentOf(piece: ContentPart): string {
  const marks = { text: "", thing: "", thought: "(thinking) ", result: "→ ", call: "calls " } as const;
  const mark = piece.is === "result" && piece.failed ? "→ failed: " : marks[piece.is];
  if (piece.is !== "call") return mark + piece.text;
  const given = typeof piece.given === "string" ? piece.given : (JSON.stringify(piece.given ?? undefined) ?? "");
  return `${mark}${piece.name}${given === "" || given === "{}" ? "" : ` ${given}`}`;
}
