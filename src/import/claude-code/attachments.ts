// What the tool attached to a prompt: files, reminders and its surroundings, as far as the model was given them.

import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Injection } from "../../model/roles.js";
import { objectAt, textAt } from "../transcript/fields.js";

/** A text that was injected, or a prompt that the user typed while the model was working. */
export interface Attached {
  readonly content: JsonValue;
  /** Undefined for the user's own words. */
  readonly injected: Injection | undefined;
}

/** Undefined where the model was given nothing. */
export function readAttachment(record: JsonObject): Attached | undefined {
  const attachment = objectAt(record, "attachment");
  const type = textAt(attachment, "type") ?? "";
  if (type === "queued_command") return queued(attachment);
  // Newer versions write down how it was shown to the model.
  const rendered = renderedIn(record);
  const text = rendered ?? textOf(type, attachment);
  return text === undefined || text === "" ? undefined : { content: text, injected: injectionOf(type) };
}

function queued(attachment: JsonObject): Attached | undefined {
  const { prompt, commandMode: mode } = attachment;
  if (prompt === undefined || prompt === "") return undefined;
  return { content: prompt, injected: mode === undefined || mode === "prompt" ? undefined : "other" };
}

function renderedIn({ rendered }: JsonObject): JsonValue | undefined {
  if (!Array.isArray(rendered)) return undefined;
  const contents = rendered.flatMap((one) => (isJsonObject(one) && one.content !== undefined ? [one.content] : []));
  const [first] = contents;
  if (contents.length <= 1) return first;
  return contents.flatMap((content): readonly JsonValue[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [content],
  );
}

const injectedAs: readonly (readonly [RegExp, Injection])[] = [
  [/^(?:file|instructions|nested_memory|edited_text_file|compact_file_reference)$/, "file"],
  [/^(?:environment|session_context|model|date|date_change|opened_file_in_ide|remote_session_change)$/, "environment"],
  [/^hook_/, "hook"],
  [/^(?:invoked_skills|dynamic_skill)$/, "command"],
];

function injectionOf(type: string): Injection {
  return injectedAs.find(([pattern]) => pattern.test(type))?.[1] ?? "reminder";
}

/** Of older versions, the texts that it is known to have shown; other attachments were notes of its own. */
function textOf(type: string, attachment: JsonObject): string | undefined {
  const { content } = attachment;
  const listed = (name: string): string => linesIn(attachment[name]);
  switch (type) {
    case "file":
      return named(attachment, textAt(objectAt(objectAt(attachment, "content"), "file"), "content"));
    case "nested_memory":
      return named(attachment, textAt(objectAt(attachment, "content"), "content"));
    case "edited_text_file":
      return named(attachment, textAt(attachment, "snippet"));
    case "compact_file_reference":
      return textAt(attachment, "filename");
    case "instructions":
      return itemsIn(attachment.files)
        .map((file) => named(file, textAt(file, "content")) ?? "")
        .join("\n\n");
    case "invoked_skills":
      return itemsIn(attachment.skills)
        .map((skill) => named(skill, textAt(skill, "content")) ?? "")
        .join("\n\n");
    case "agent_listing_delta":
    case "deferred_tools_delta":
      return listed("addedLines") || listed("addedNames");
    case "mcp_instructions_delta":
      return listed("addedBlocks");
    case "hook_blocking_error":
      return textAt(objectAt(attachment, "blockingError"), "blockingError") ?? textAt(attachment, "blockingError");
    case "session_context":
      return Object.values(objectAt(attachment, "context"))
        .filter((value) => typeof value === "string")
        .join("\n\n");
    case "date":
      return textAt(attachment, "date");
    case "date_change":
      return textAt(attachment, "newDate");
    case "opened_file_in_ide":
      return textAt(attachment, "filename");
    case "hook_success":
    case "hook_additional_context":
    case "skill_listing":
    case "task_reminder":
    case "todo_reminder":
    case "critical_system_reminder":
      return typeof content === "string" ? content : linesIn(content);
    default:
      return textAt(attachment, "text");
  }
}

/** With the name of what it is from. */
function named(from: JsonObject, text: string | undefined): string | undefined {
  const name = textAt(from, "filename") ?? textAt(from, "path") ?? textAt(from, "name");
  return text === undefined || name === undefined ? text : `${name}\n\n${text}`;
}

function itemsIn(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function linesIn(list: JsonValue | undefined): string {
  if (!Array.isArray(list)) return "";
  return list
    .flatMap((item) => (typeof item === "string" ? [item] : isJsonObject(item) ? [JSON.stringify(item)] : []))
    .join("\n");
}
