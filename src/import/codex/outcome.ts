// The outcome of a command, as Codex writes it into the output: an exit code and a duration, in JSON or in a header.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../model/json.js";
import { blockTexts, objectAt } from "../transcript/fields.js";

/** How far from the end of an output a command's outcome is searched. */
const OUTCOME_CHARS = 300;
/** How far from the beginning: the whole command may precede it. */
const OPENING_CHARS = 4_000;

/** The first line of the header above the output of a command. */
const OUTCOME_HEAD = /^(?:Exit code:|exit_code:|Process exited|Command:|Chunk ID:|Wall time)/i;
const OUTPUT_LINE = /^Output:/m;

/** A command's outcome according to its output: in the JSON around it, or in the header lines. */
export function outcomeOf(output: JsonValue): { readonly exit_code?: number; readonly duration_ms?: number } {
  if (isJsonObject(output)) return outcomeIn(output);
  const text = typeof output === "string" ? output : blockTexts(output);
  if (text.startsWith("{")) {
    // The metadata usually follows an output of any length.
    const ending = /,("metadata":\{[^{}]*\}\})$/.exec(text.slice(-OUTCOME_CHARS))?.[1];
    const parsed = parseJsonObject(ending === undefined ? text : `{${ending}`);
    return parsed === undefined ? {} : outcomeIn(parsed);
  }
  const opening = text.slice(0, OPENING_CHARS);
  const script = /^Script (completed|failed)\nWall time/.exec(opening)?.[1];
  if (script === undefined && !OUTCOME_HEAD.test(opening)) return {};
  const head = opening.slice(0, OUTPUT_LINE.exec(opening)?.index);
  const code = /^(?:Exit code:|Process exited with code|exit_code:)\s*(-?\d+)/im.exec(head)?.[1];
  const seconds = /^Wall time:? ([\d.]+) seconds/m.exec(head)?.[1];
  return {
    ...(code === undefined ? {} : { exit_code: Number(code) }),
    ...(script === undefined ? {} : { exit_code: script === "failed" ? 1 : 0 }),
    ...(seconds === undefined ? {} : { duration_ms: Math.round(Number(seconds) * 1_000) }),
  };
}

/** Older versions wrap an output in JSON, with line breaks as `\n`. */
export function wrappedOutput(text: string): { readonly output: string; readonly metadata: JsonObject } | undefined {
  const { output, metadata, ...others } = (text.startsWith("{") ? parseJsonObject(text) : undefined) ?? {};
  const isWrapped = typeof output === "string" && isJsonObject(metadata) && Object.keys(others).length === 0;
  return isWrapped ? { output, metadata } : undefined;
}

function outcomeIn(output: JsonObject): { readonly exit_code?: number; readonly duration_ms?: number } {
  const metadata = objectAt(output, "metadata");
  const code = metadata.exit_code ?? output.exit_code ?? (output.success === false ? 1 : undefined);
  const seconds = metadata.duration_seconds;
  return {
    ...(typeof code === "number" ? { exit_code: code } : {}),
    ...(typeof seconds === "number" ? { duration_ms: Math.round(seconds * 1_000) } : {}),
  };
}
