// JSON schemas of what a model was given.
import { type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, text } from "./shapes.js";

export function contextSchemas(): { readonly [name: string]: Schema } {
  const placed = (properties: { readonly [name: string]: Schema }, optional: readonly string[] = []): Schema =>
    object({ entry_id: text, position: { type: "integer", minimum: 1 }, ...properties }, optional);
  const place = placed({});
  const exact: Schema = {
    type: "boolean",
    description: "Whether what was sent was recorded; otherwise it is the session's history as it was then.",
  };
  const answer = {
    ...place,
    description: "The answer that is meant: what made a tool call, what came before an error.",
  };
  return {
    GivenMessage: {
      type: "object",
      properties: {
        role: { ...text, description: "Empty where none was recorded." },
        content: { description: "Text, content parts, or whatever was recorded." },
        entry_id: { ...text, description: "The entry that says it, where the session has one." },
      },
      required: ["role"],
      description: "As it was recorded, every other field included.",
    },
    Context: object(
      {
        answer,
        exact,
        source: {
          type: "string",
          enum: ["context_pack", "request", "history"],
          description: "What the caller recorded, a provider's request, or the session's history.",
        },
        messages: listOf(schemaNamed("GivenMessage")),
        system: { description: "As it was recorded." },
        tools: { description: "As they were recorded." },
        pack: { type: "object", description: "Whatever else the context pack holds." },
        memories: listOf(text),
        chunks: listOf(text),
        tokens: count,
        previous: object({
          entry_id: { ...text, description: "The answer before." },
          kept: { ...count, description: "How many of the messages were given then, too." },
          added: { ...listOf(count), description: "Places in `messages` of those that were not." },
          removed: {
            ...listOf(schemaNamed("GivenMessage")),
            description: "Messages that were given then and no longer.",
          },
        }),
        led_to: {
          ...object(
            {
              tool_calls: listOf(placed({ tool: text, is_error: { type: "boolean" } })),
              errors: listOf(placed({ error: text })),
              feedback: listOf(placed({ score: { type: "number" }, label: text, comment: text }, ["score"])),
              next: { ...placed({ text }), description: "What the user said next." },
            },
            ["next"],
          ),
          description: "What came of the answer, up to the next one; texts are cut at 200 characters.",
        },
      },
      ["system", "tools", "pack", "previous"],
    ),
    Told: object(
      {
        verdict: {
          type: "string",
          enum: ["given", "fell_out", "never"],
          description: "`fell_out`: an earlier answer of the session was given it.",
        },
        exact,
        answer,
        given: listOf(
          object(
            {
              entry_id: text,
              role: {
                ...text,
                description: "Of the message; `system`, `tools` or `context_pack` for what lies beside them.",
              },
              snippet: text,
              tokens_from_end: { ...count, description: "How many tokens followed it." },
            },
            ["entry_id"],
          ),
        ),
        last_given: { ...place, description: "The newest earlier answer that was given it, where it fell out." },
        first_given: { ...place, description: "The first answer of the session that was given it." },
        why: { type: "string", enum: ["clear", "consolidation", "window", "removed"] },
      },
      ["last_given", "first_given", "why"],
    ),
  };
}
