// Calls for embeddings: no conversation, but tokens are spent. They are kept as raw entries, without the vectors.
import type { RawEntry } from "./default-labels.js";
import { isJson, type Json, jsonAt, listAt, textAt, usageOf } from "./providers/provider.js";

const PATH = /(?:\/embeddings|:(?:batchEmbedContents|embedContent))$/;
/** What is embedded may be whole books; then its size says enough. */
const INPUT_CHARS_MAX = 256 * 1024;

export function asksForEmbeddings(path: string): boolean {
  return PATH.test(path);
}

export function toRaw(path: string, request: Json, answer: unknown): RawEntry {
  const input = request.input ?? request.requests ?? request.content;
  const chars = (JSON.stringify(input) ?? "").length;
  const vectors = [...listAt(answer, "data"), ...listAt(answer, "embeddings"), jsonAt(answer, "embedding")];
  const { model = textAt(answer, "model"), dimensions, encoding_format } = request;
  const count = vectors.filter((one) => isJson(one) && Object.keys(one).length > 0).length;
  const asked = {
    model,
    dimensions,
    encoding_format,
    ...(chars <= INPUT_CHARS_MAX ? { input } : { input_chars: chars }),
  };
  const usage = usageOf(isJson(answer) ? answer.usage : undefined, {
    input_tokens: [["prompt_tokens"], ["total_tokens"]],
  });
  return {
    kind: "raw",
    source: "embeddings",
    record: { path, request: asked, response: { model: textAt(answer, "model"), vectors: count } },
    extra: { model, ...(usage === undefined ? {} : { usage }) },
  };
}
