// How often `told` is right: questions over transcripts, answered by hand from the files themselves. A question names the entry
// that it is asked of and the words that it looks for by their places, so nothing of real transcripts is kept here; what nobody
// said is written out. Of what is not found the answer is unknown: none of these sources records the system prompt. The transcripts among the fixtures have questions of their own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRecorder, type Recorder, type Told } from "../../src/index.js";
import { contentText } from "../../src/model/content-parts.js";
import type { Entry } from "../../src/model/entry.js";
import { isInjected } from "../../src/model/roles.js";

interface Question {
  /** Below the folder of transcripts. */
  readonly file: string;
  /** Which of the session's messages and tool calls it is asked of, from 1. */
  readonly asked: number;
  /** Which of them says it, and which of its words these are, from 0, the last not included. */
  readonly said?: number;
  readonly words?: readonly [number, number];
  /** Whether it is asked in capitals. */
  readonly upper?: boolean;
  /** Words that were never said. */
  readonly text?: string;
  readonly verdict: Told["verdict"];
}

export interface Measured {
  readonly questions: number;
  readonly right: number;
  readonly precision: number;
  /** Those that were answered otherwise. */
  readonly wrong: readonly string[];
}

export const PRECISION_MIN = 0.95;

const root = new URL("../../../", import.meta.url);

/** Transcripts, and the questions over them. */
export interface Source {
  readonly folder: string;
  readonly questions: string;
}

export const fixtures: Source = {
  folder: fileURLToPath(new URL("test/fixtures", root)),
  questions: fileURLToPath(new URL("test/fixtures/telling/questions.ndjson", root)),
};

/** Real ones, which are no part of the repository. */
export function realTranscripts(folder = fileURLToPath(new URL("../shared/data", root))): Source {
  return { folder, questions: fileURLToPath(new URL("test/telling/questions.ndjson", root)) };
}

export async function measure({ folder, questions: asked }: Source): Promise<Measured> {
  const questions = readFileSync(asked, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Question);
  const files = [...new Set(questions.map(({ file }) => file))];
  const wrong: string[] = [];
  for (const file of files) {
    const recorder = await openRecorder({ data: "memory:" });
    await recorder.importFiles([join(folder, file)], { timezone: "UTC" });
    const entries = await entriesIn(recorder);
    for (const question of questions.filter((one) => one.file === file)) {
      const told = await recorder.told(entries[question.asked - 1]?.id ?? "", phraseOf(question, entries));
      if (told?.verdict !== question.verdict) wrong.push(`${JSON.stringify(question)}: ${told?.verdict}`);
    }
    await recorder.close();
  }
  const right = questions.length - wrong.length;
  return { questions: questions.length, right, precision: right / questions.length, wrong };
}

/** The messages and tool calls of a file's one session, in order. */
async function entriesIn(recorder: Recorder): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const line of recorder.exportEntries()) {
    const entry = JSON.parse(line) as Entry;
    if (isOfConversation(entry)) entries.push(entry);
  }
  return entries;
}

/** Commands that the tool itself carries out are not counted, nor what a program put between. Exported lines leave out what is empty. */
function isOfConversation(entry: Entry): boolean {
  if (entry.kind === "tool_call") return true;
  return entry.kind === "message" && !isInjected(entry) && !("command" in (entry.extra ?? {}));
}

function phraseOf({ text, said = 0, words = [0, 0], upper = false }: Question, entries: readonly Entry[]): string {
  if (text !== undefined) return text;
  const entry = entries[said - 1];
  const whole = entry?.kind === "tool_call" ? contentText(entry.result) : textOf(entry);
  const phrase = whole
    .split(/\s+/)
    .filter(Boolean)
    .slice(...words)
    .join(" ");
  return upper ? phrase.toUpperCase() : phrase;
}

function textOf(entry: Entry | undefined): string {
  if (entry?.kind !== "message") return "";
  const { content } = entry;
  if (typeof content === "string") return content;
  return content.map((part) => (part as { readonly text?: string }).text ?? "").join(" ");
}
