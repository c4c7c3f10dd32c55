// What an entry says about its session: the first words of a prompt or an answer, whether a turn was asked, called tools,
// or was interrupted, and the files that a call touched. Stored with the row, because sessions are folded from rows alone.
import { contentTexts } from "../model/content.js";
import { firstWords } from "../model/first-words.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { type TouchedFile, touchedFiles } from "../model/touched-files.js";

/** Kept short: every row has them. */
export interface SessionFacts {
  /** The first words of a prompt; absent where it has none. */
  readonly prompt?: string;
  /** Tells prompts with the same first words apart; present with every prompt. */
  readonly asks?: number;
  /** The first words of an answer. */
  readonly answer?: string;
  /** The answer calls tools. */
  readonly calls?: true;
  /** The user interrupted. */
  readonly stops?: true;
  /** What a successful call read or changed. */
  readonly files?: readonly TouchedFile[];
}

const PROMPT_WORDS = 120;
const ANSWER_WORDS = 200;
export const TITLE_WORDS = 500;
/** Undefined where the entry says nothing that its row does not say. */
export function sessionFactsOf(kind: string, body: JsonObject): SessionFacts | undefined {
  if (typeof body.session_id !== "string" || body.session_id === "") return undefined;
  const facts = factsByKind(kind, body);
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function factsByKind(kind: string, body: JsonObject): SessionFacts {
  switch (kind) {
    case "message":
      return ofMessage(body);
    case "interaction":
      return { ...promptFacts([String(body.prompt)]), ...answerFacts([body.response], callsIn(body)) };
    case "response":
      return answerFacts([body.response], callsIn(body));
    case "tool_call": {
      const files = body.is_error === true ? [] : touchedFiles(body.tool, body.args);
      return files.length === 0 ? {} : { files };
    }
    default:
      return {};
  }
}

function ofMessage({ role, content, tool_calls, injected, extra }: JsonObject): SessionFacts {
  if (typeof role !== "string") return {};
  const texts = contentTexts(content);
  const read = readRole(role);
  if (read === "assistant") {
    const calls = (Array.isArray(tool_calls) && tool_calls.length > 0) || holds(content, CALL_TYPES);
    const isAborted = isJsonObject(extra) && extra.stop_reason === "aborted";
    return { ...answerFacts(texts, calls), ...(isAborted ? { stops: true } : {}) };
  }
  if (read !== "user") return {};
  if (INTERRUPTION.test(texts[0]?.slice(0, 64) ?? "")) return { stops: true };
  const isSaid = (injected ?? "") === "" && !isOnly(content, "tool_result");
  return isSaid ? promptFacts(texts, content) : {};
}

/** What Claude Code and Codex write into a conversation that the user interrupted. */
const INTERRUPTION = /^\s*(?:\[Request interrupted by user|<turn_aborted>)/;
const CALL_TYPES: ReadonlySet<unknown> = new Set(["tool_use", "function_call", "tool-call"]);

function promptFacts(texts: readonly string[], content?: JsonValue): SessionFacts {
  const text = texts.find((each) => each.trim() !== "") ?? "";
  const prompt = firstWords(text, PROMPT_WORDS) || (hasMedia(content) ? "[image]" : "");
  return { ...(prompt === "" ? {} : { prompt }), asks: digestOf(texts) };
}

function answerFacts(texts: readonly (JsonValue | undefined)[], calls: boolean): SessionFacts {
  const text = texts.find((each) => typeof each === "string" && each.trim() !== "");
  const answer = typeof text === "string" ? firstWords(text, ANSWER_WORDS) : "";
  return { ...(answer === "" ? {} : { answer }), ...(calls ? { calls: true } : {}) };
}

/** Tool calls that were recorded with a model's answer. */
function callsIn({ extra }: JsonObject): boolean {
  return isJsonObject(extra) && Array.isArray(extra.tool_calls) && extra.tool_calls.length > 0;
}

function holds(content: JsonValue | undefined, types: ReadonlySet<unknown>): boolean {
  return Array.isArray(content) && content.some((part) => isJsonObject(part) && types.has(part.type));
}

function isOnly(content: JsonValue | undefined, type: string): boolean {
  return (
    Array.isArray(content) && content.length > 0 && content.every((part) => isJsonObject(part) && part.type === type)
  );
}

const MEDIA_TYPES: ReadonlySet<unknown> = new Set(["image", "image_url", "input_image"]);

function hasMedia(content: JsonValue | undefined): boolean {
  return holds(content, MEDIA_TYPES);
}

/** A prompt may be as long as an entry; its beginning and its length tell it from others. */
const DIGESTED_CHARS = 512;

/** 32 bits of FNV-1a over the beginning and the length, spaces at both ends aside. */
function digestOf(texts: readonly string[]): number {
  const text = (texts.length === 1 ? (texts[0] as string) : texts.join("\n")).trim();
  let digest = 0x811c9dc5 ^ text.length;
  for (let at = 0; at < text.length && at < DIGESTED_CHARS; at += 1) {
    digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  }
  return digest >>> 0;
}
