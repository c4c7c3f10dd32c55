// A prompt that people start from: look back, and learn from it.
import type { Recorder } from "../../recorder/recorder.js";
import { pieceOf } from "./bounds.js";
import { recordedText } from "./recorded-text.js";

const argumentNames = ["project", "session_id", "since"] as const;

export const prompts = [
  {
    name: "reflect",
    title: "Reflect on recent work",
    description: "Looks back at what was recorded and asks what should be done differently.",
    arguments: argumentNames.map((name) => ({ name, description: `Only entries of this ${name}.`, required: false })),
  },
];

/** Undefined where there is no such prompt. */
export async function getPrompt(recorder: Recorder, name: string, args: { readonly [name: string]: string }) {
  if (name !== "reflect") return undefined;
  const { markdown } = await recorder.reflect(args);
  const task =
    "Here is a report on recent work. Name the few things that went wrong more than once or cost most, with their " +
    "likely causes, and say what to do differently from now on. Look entries up with get_entry before you rely on them.";
  const text = `${task}\n\n${recordedText(pieceOf(markdown, "").text, null)}`;
  return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
}
