// Content blocks in Anthropic's form, which many tools write: what an answer consists of, and results of tools.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { objectIn, onlyText, textAt } from "./fields.js";
import type { AnswerPart } from "./model-answer.js";

/** The parts of an answer; results of tools are none. */
export function answerParts(id: string, blocks: readonly JsonObject[]): readonly AnswerPart[] {
  const parts = blocks.flatMap((block): readonly AnswerPart[] => {
    const call = textAt(block, "id");
    const name = textAt(block, "name");
    if (block.type === "tool_result") return [];
    if (block.type === "text") return [{ id, text: textAt(block, "text") ?? "" }];
    if (block.type === "reasoning") return [{ id, thinking: textAt(block, "text") ?? "" }];
    if (block.type === "thinking" || block.type === "redacted_thinking") {
      // Without a signature no provider takes it back.
      const isSigned = block.type === "redacted_thinking" || textAt(block, "signature") !== undefined;
      return [{ id, thinking: isSigned ? block : (textAt(block, "thinking") ?? "") }];
    }
    if (call !== undefined && name !== undefined) return [{ id, call: { id: call, name, args: block.input ?? {} } }];
    return [{ id, block }];
  });
  return [...parts, { id }];
}

/** The result in a block, as text where it is nothing else. */
export function resultIn(block: JsonObject): JsonValue {
  return onlyText(block.content) ?? block.content ?? "";
}

/** Whether a result says that it failed, itself or in what the tool wrote; undefined where it says nothing. */
export function hasFailed(block: JsonObject): boolean | undefined {
  const result = resultIn(block);
  const written = typeof result === "string" ? (objectIn(result) ?? result) : result;
  const items = (Array.isArray(written) ? written : [written]).filter(isJsonObject);
  const failed = items.some((item) => item.success === false || (textAt(item, "error") !== undefined && !item.success));
  if (block.is_error === true || failed) return true;
  return block.is_error === false || items.some(({ success }) => success === true) ? false : undefined;
}
