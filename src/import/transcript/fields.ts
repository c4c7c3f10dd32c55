// Reads fields of other programs' records, which may contain anything; and splits off text that a tool injected into
// prompts.
import { isJsonObject, isNestedWithin, type JsonObject, type JsonValue, parseJsonObject } from "../../model/json.js";
import { limits } from "../../model/limits.js";

/** The text of a field; undefined if it is empty or not a text. */
export function textAt(record: JsonObject, name: string): string | undefined {
  const value = record[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object in a field; empty if it is anything else. */
export function objectAt(record: JsonObject, name: string): JsonObject {
  const value = record[name];
  return isJsonObject(value) ? value : {};
}

/** The parsed JSON object; undefined if it is none, or nested too deep to be written again. */
export function objectIn(text: string | undefined): JsonObject | undefined {
  const value = parseJsonObject(text);
  return value !== undefined && isNestedWithin(value, limits.nesting_levels) ? value : undefined;
}

/** The texts of content blocks of any provider, joined. */
export function blockTexts(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) =>
      typeof block === "string" ? [block] : isJsonObject(block) ? (textAt(block, "text") ?? []) : [],
    )
    .join("\n");
}

/** The blocks of a content; a text becomes one block, and anything that is not an object is left out. */
export function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** The number in a field; undefined if it is anything else. */
export function numberAt(record: JsonObject, name: string): number | undefined {
  const value = record[name];
  return typeof value === "number" ? value : undefined;
}

/** The text of a content that is a single text; otherwise undefined. */
export function onlyText(content: JsonValue | undefined): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || content.length !== 1) return undefined;
  const [only] = content as readonly JsonValue[];
  if (typeof only === "string") return only;
  return isJsonObject(only) && only.type === "text" && typeof only.text === "string" ? only.text : undefined;
}

export interface Spoken {
  /** What the user typed; undefined if the tool injected all of it. */
  readonly content: JsonValue | undefined;
  readonly injected: readonly string[];
}

/**
 * Splits a content at the tags that a tool is known to inject; `tag` matches an opening tag, with its name in the first group.
 * Other tags belong to the user.
 */
export function splitInjected(content: JsonValue, tag: RegExp): Spoken {
  if (typeof content === "string") {
    const { text, injected } = splitText(content, tag);
    return { content: injected.length > 0 && text === "" ? undefined : text, injected };
  }
  if (!Array.isArray(content)) return { content: undefined, injected: [] };
  const found: string[] = [];
  const blocks = content.flatMap((block): readonly JsonValue[] => {
    if (!isJsonObject(block) || typeof block.text !== "string") return [block];
    const { text, injected } = splitText(block.text, tag);
    found.push(...injected);
    if (injected.length === 0) return [block];
    return text === "" ? [] : [{ ...block, text }];
  });
  if (found.length > 0 && blocks.length === 0) return { content: undefined, injected: found };
  return { content: onlyText(blocks) ?? blocks, injected: found };
}

function splitText(whole: string, tag: RegExp): { readonly text: string; readonly injected: readonly string[] } {
  const injected: string[] = [];
  let rest = whole;
  let kept = "";
  for (let match = tag.exec(rest); match !== null; match = tag.exec(rest)) {
    const close = `</${match[1]}>`;
    const at = rest.indexOf(close, match.index);
    // An unclosed tag extends to the end only if nothing precedes it.
    if (at === -1 && (kept + rest.slice(0, match.index)).trim() !== "") break;
    const end = at === -1 ? rest.length : at + close.length;
    injected.push(rest.slice(match.index, end));
    kept += rest.slice(0, match.index);
    rest = rest.slice(end);
  }
  if (injected.length === 0) return { text: whole, injected };
  return { text: (kept + rest).trim(), injected };
}
