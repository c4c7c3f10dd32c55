// What a user's line of a transcript holds: what was typed, commands and what came of them, and text that the tool put there.

import { contentTexts } from "../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Injection } from "../../model/roles.js";
import { onlyText, textAt } from "../transcript/fields.js";

/** A part of a line: what the user said, or what was injected. */
export interface Piece {
  readonly content: JsonValue;
  /** Undefined for the user's own words. */
  readonly injected: Injection | undefined;
}

export type UserLine =
  | { readonly is: "said"; readonly pieces: readonly Piece[] }
  /** A slash command, as it was typed. */
  | {
      readonly is: "command";
      readonly text: string;
      readonly name: string;
      readonly args: string;
      readonly before: readonly Piece[];
    }
  /** A command of the user for the shell. */
  | { readonly is: "shell"; readonly command: string; readonly text: string }
  | { readonly is: "shell_output"; readonly output: string; readonly text: string };

/** The tags that it injects; some contain what the user typed. */
const TAG = /<(command-[a-z-]+|local-command-[a-z-]+|bash-[a-z-]+|task-notification|system-reminder|ide_[a-z_]+)\b/;

/**
 * @param companion Whether the line belongs to the command before it, whose prompt it holds.
 */
export function readUserLine(
  record: JsonObject,
  content: JsonValue,
  { isCompanion }: { readonly isCompanion: boolean },
): UserLine {
  const whole = (injected: Injection): UserLine => ({ is: "said", pieces: [{ content, injected }] });
  const text = contentTexts(content).join("\n");
  if (isCompanion) return whole("command");
  const tagged = taggedParts(content);
  const command = commandIn(tagged);
  if (command !== undefined) return command;
  const shell = tagged.find(({ tag }) => tag === "bash-input");
  if (shell !== undefined) return { is: "shell", command: inner(shell.text), text };
  const output = tagged.filter(({ tag }) => tag === "bash-stdout" || tag === "bash-stderr");
  if (output.length > 0) {
    const parts = output.map((part) => inner(part.text)).filter((part) => part !== "");
    return { is: "shell_output", output: parts.join("\n"), text };
  }
  if (record.isMeta === true) {
    const isSkill = text.startsWith("Base directory for this skill:");
    return whole(isSkill ? "command" : tagged.some(({ tag }) => tag === "system-reminder") ? "reminder" : "other");
  }
  // Messages of its own that no user typed, such as a wake-up.
  const kind = isJsonObject(record.origin) ? textAt(record.origin, "kind") : undefined;
  if (record.promptSource === "system" || (kind !== undefined && kind !== "human")) return whole("other");
  return { is: "said", pieces: joined(tagged) };
}

interface TaggedPart {
  /** Undefined for text of the user. */
  readonly tag: string | undefined;
  readonly text: string;
  /** A block that is no text. */
  readonly block?: JsonValue;
}

/** The parts of a content in their order, cut at the tags that are known. */
function taggedParts(content: JsonValue): readonly TaggedPart[] {
  if (typeof content === "string") return partsOfText(content);
  if (!Array.isArray(content)) return [{ tag: undefined, text: "", block: content }];
  return content.flatMap((block): readonly TaggedPart[] => {
    if (typeof block === "string") return partsOfText(block);
    if (!isJsonObject(block) || block.type !== "text" || typeof block.text !== "string") {
      return [{ tag: undefined, text: "", block }];
    }
    const parts = partsOfText(block.text);
    // A block of the user's words alone is kept as it is.
    return parts.length === 1 && parts[0]?.tag === undefined ? [{ tag: undefined, text: block.text, block }] : parts;
  });
}

function partsOfText(whole: string): readonly TaggedPart[] {
  const parts: TaggedPart[] = [];
  const say = (text: string): void => {
    if (text.trim() !== "") parts.push({ tag: undefined, text: parts.length === 0 ? text : text.trim() });
  };
  let rest = whole;
  for (let match = TAG.exec(rest); match !== null; match = TAG.exec(rest)) {
    const close = `</${match[1]}>`;
    const at = rest.indexOf(close, match.index);
    // An unclosed tag extends to the end only if nothing precedes it.
    const isFirst = parts.length === 0 && rest.slice(0, match.index).trim() === "";
    if (at === -1 && !isFirst) break;
    const end = at === -1 ? rest.length : at + close.length;
    say(rest.slice(0, match.index).trimEnd());
    parts.push({ tag: match[1], text: rest.slice(match.index, end) });
    rest = rest.slice(end);
  }
  if (parts.length === 0) return [{ tag: undefined, text: whole }];
  say(rest);
  return parts;
}

const INJECTED_BY_TAG: readonly (readonly [RegExp, Injection])[] = [
  [/^system-reminder$/, "reminder"],
  [/^ide_/, "environment"],
  [/^local-command-(?:stdout|stderr)$/, "output"],
];

function injectionOf(tag: string | undefined): Injection | undefined {
  if (tag === undefined) return undefined;
  return INJECTED_BY_TAG.find(([pattern]) => pattern.test(tag))?.[1] ?? "other";
}

/** Neighbours of one sort are one piece. */
function joined(parts: readonly TaggedPart[]): readonly Piece[] {
  const pieces: { injected: Injection | undefined; blocks: JsonValue[] }[] = [];
  for (const { tag, text, block } of parts) {
    const injected = injectionOf(tag);
    const last = pieces.at(-1);
    const part = block ?? { type: "text", text };
    if (last !== undefined && last.injected === injected) last.blocks.push(part);
    else pieces.push({ injected, blocks: [part] });
  }
  return pieces.map(({ injected, blocks }) => ({ injected, content: onlyText(blocks) ?? blocks }));
}

function commandIn(parts: readonly TaggedPart[]): UserLine | undefined {
  const at = parts.findIndex(({ tag }) => tag?.startsWith("command-") === true);
  if (at === -1) return undefined;
  const valueIn = (tag: string): string => inner(parts.find((part) => part.tag === tag)?.text ?? "");
  const name = valueIn("command-name") || valueIn("command-message");
  if (name === "") return undefined;
  const args = valueIn("command-args");
  const typed = name.startsWith("/") ? name : `/${name}`;
  const before = joined(parts.filter(({ tag }) => tag === undefined || !tag.startsWith("command-")));
  return { is: "command", text: args === "" ? typed : `${typed} ${args}`, name: typed, args, before };
}

/** What a tag encloses. */
function inner(text: string): string {
  return text
    .replace(/^<[^>]*>/, "")
    .replace(/<\/[^>]*>$/, "")
    .trim();
}
