// What Cline and Roo Code put around a user's words, and add to them.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Injection } from "../model/roles.js";
import { splitInjected, textAt } from "./transcript/fields.js";

export interface WordPiece {
  readonly content: JsonValue;
  /** Undefined for what the user said. */
  readonly injected?: Injection;
}

/** Around what the user typed. */
const TYPED = /<(user_input|task|feedback|answer|user_message)\b[^<>]{0,200}>/;
const ADDED =
  /<(environment_details|SYSTEM_NOTICE|system-reminder|explicit_instructions|file_content|folder_content|workspace_diagnostics|git_working_state|url_content|hook_context|focus_chain)\b/i;
const injectionsByTag: { readonly [tag: string]: Injection } = {
  environment_details: "environment",
  explicit_instructions: "command",
  file_content: "file",
  folder_content: "file",
  hook_context: "hook",
};
/** Results of tools that were called in the text of an answer, and what the tool tells the model. */
const OWN_WORDS = /^\s*(?:\[[\w-]+(?: for [^\n]*)?\] Result:|\[(?:ERROR|TASK RESUMPTION)\])/;

/** The pieces of a user's message, in order, without results of tools. */
export function piecesOf(blocks: readonly JsonObject[]): readonly WordPiece[] {
  const hasTyped = blocks.some((block) => typedIn(textAt(block, "text") ?? "") !== undefined);
  const pieces: WordPiece[] = [];
  for (const block of blocks) {
    if (block.type === "tool_result") continue;
    const text = textAt(block, "text");
    if (block.type === "file") pieces.push({ content: [block], injected: "file" });
    else if (block.type !== "text" || text === undefined) pieces.push({ content: [block] });
    else pieces.push(...piecesOfText(text, hasTyped));
  }
  return joined(pieces);
}

function piecesOfText(text: string, hasTyped: boolean): readonly WordPiece[] {
  const { content, injected } = splitInjected(text, ADDED);
  const added = injected.map((one) => ({ content: one, injected: injectionOf(one) }));
  const rest = typeof content === "string" ? content : "";
  const typed = typedIn(rest);
  if (typed === undefined) {
    if (rest.trim() === "") return added;
    if (OWN_WORDS.test(rest)) return [{ content: rest, injected: "output" }, ...added];
    // Where typed words are marked, other text is the tool's.
    return [hasTyped ? { content: rest, injected: "other" } : { content: rest }, ...added];
  }
  const { before, words: said, after } = typed;
  const around = (words: string): readonly WordPiece[] =>
    words.trim() === "" ? [] : [{ content: words, injected: OWN_WORDS.test(words) ? "output" : "other" }];
  return [...around(before), { content: said }, ...around(after), ...added];
}

/** The words in the first tag that says that they were typed, and what is around it. */
function typedIn(
  text: string,
): { readonly before: string; readonly words: string; readonly after: string } | undefined {
  const found = TYPED.exec(text);
  if (found === null) return undefined;
  const close = `</${found[1]}>`;
  const from = found.index + found[0].length;
  const to = text.indexOf(close, from);
  if (to === -1) return undefined;
  const words = text.slice(from, to).replace(/^\n/, "").replace(/\n$/, "");
  return { before: text.slice(0, found.index), words, after: text.slice(to + close.length) };
}

function injectionOf(text: string): Injection {
  const tag = ADDED.exec(text)?.[1]?.toLowerCase() ?? "";
  return injectionsByTag[tag] ?? "reminder";
}

/** The user's pieces as one message, and what was added after it. */
function joined(pieces: readonly WordPiece[]): readonly WordPiece[] {
  const own = pieces.filter(({ injected }) => injected === undefined);
  if (own.length < 2) return pieces;
  const blocks = own.flatMap(({ content }): readonly JsonObject[] =>
    typeof content === "string"
      ? [{ type: "text", text: content }]
      : (Array.isArray(content) ? content : []).filter(isJsonObject),
  );
  const texts = blocks.every(({ type }) => type === "text") ? blocks.map(({ text }) => text).join("\n") : undefined;
  return [{ content: texts ?? [...blocks] }, ...pieces.filter(({ injected }) => injected !== undefined)];
}
