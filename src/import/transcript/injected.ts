// Text that a tool put into what its user said: taken out of prompts, and kept beside them.
import { isJsonObject, type JsonValue } from "../../model/json.js";
import { onlyText } from "./fields.js";

export interface Spoken {
  /** What the user said; undefined where all of it was put there by the tool. */
  readonly content: JsonValue | undefined;
  readonly injected: readonly string[];
}

/**
 * Takes apart a content by the tags that a tool is known to inject; `tag` matches the opening of one, its name in the
 * first group. A text that begins like this by chance, with another tag, is the user's.
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
    // One that is never closed goes on to the end only where nothing stands before it.
    if (at === -1 && (kept + rest.slice(0, match.index)).trim() !== "") break;
    const end = at === -1 ? rest.length : at + close.length;
    injected.push(rest.slice(match.index, end));
    kept += rest.slice(0, match.index);
    rest = rest.slice(end);
  }
  if (injected.length === 0) return { text: whole, injected };
  return { text: (kept + rest).trim(), injected };
}
