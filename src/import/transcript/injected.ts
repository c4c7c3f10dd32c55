// Text that a tool injected into user messages: taken out of the prompt and stored separately.
import { isJsonObject, type JsonValue } from "../../model/json.js";
import { onlyText } from "./fields.js";

export interface Spoken {
  /** What the user said; undefined where the tool injected all of it. */
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
