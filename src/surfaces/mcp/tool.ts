// What a tool is to a client.
import type { Caller } from "../../guard/keys.js";
import type { Need } from "../../operations/operation.js";
import type { Recorder } from "../../recorder/recorder.js";
import { recordedText } from "./bounds.js";

export type JsonSchema = { readonly [keyword: string]: unknown };

export type Arguments = { readonly [name: string]: unknown };

export interface ToolAnswer {
  readonly structured: { readonly [name: string]: unknown };
  readonly text: string;
}

export interface Tool {
  readonly title: string;
  readonly description: string;
  /** The route that does the same: one that only gets changes nothing. */
  readonly route: string;
  /** Which scopes a call needs; any of them will do. */
  readonly scopes: (args: Arguments) => readonly Need[];
  /** Schemas are made of those that HTTP documents. */
  readonly input: (schemas: Schemas) => JsonSchema;
  readonly output: (schemas: Schemas) => JsonSchema;
  readonly call: (recorder: Recorder, args: Arguments, caller: Caller) => Promise<ToolAnswer>;
}

/** The schemas of the HTTP interface by name. */
export type Schemas = { readonly [name: string]: JsonSchema };

/** An answer with recorded text; unless something reads better, the text is the document itself. */
export function recordedAnswer(
  structured: { readonly next_cursor?: string | null; readonly [name: string]: unknown },
  text = JSON.stringify(structured),
): ToolAnswer {
  return { structured, text: recordedText(text, structured.next_cursor ?? null) };
}
