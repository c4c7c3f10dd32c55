// JSON schemas of what forgetting takes and gives.
import type { Schema } from "./operation.js";
import { listOf, object, text } from "./shapes.js";

export function forgetSchemas(): { readonly [name: string]: Schema } {
  const flag = { type: "boolean" };
  const whole = { type: "integer" };
  return {
    NewForgetting: {
      ...object(
        {
          entry: { type: ["string", "integer"], description: "The id of an entry, or its position." },
          session_id: text,
          project: text,
          reason: { ...text, description: "Why. It stays, and so must not repeat what is to be forgotten." },
          dry_run: { ...flag, description: "Only say what would go." },
        },
        ["entry", "session_id", "project", "dry_run"],
      ),
      additionalProperties: false,
    },
    Forgetting: object({
      dry_run: flag,
      entries: { ...whole, description: "How many entries lost their bodies, or would." },
      by_kind: { type: "object", additionalProperties: whole },
      positions: listOf(whole),
      redaction: {
        type: ["integer", "null"],
        description: "Position of the entry that names them; null in a dry run.",
      },
      left: {
        ...listOf(text),
        description: "What is still in the store's files, in words, and when it goes; empty where nothing is.",
      },
    }),
  };
}
