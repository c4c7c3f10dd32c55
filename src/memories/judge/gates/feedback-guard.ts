// The fifth gate: what a session was given was not learned in it. Recalled text that is learned again is how memories
// breed.
import type { Evidence } from "../../../model/memory.js";
import { sentencesOf } from "../../text/sentences.js";
import { comparable } from "../comparable.js";
import type { GivenText, Ground } from "../ground.js";
import { speakersOf } from "./evidence.js";
import type { Gate } from "./gate.js";
import { mainSentences } from "./main-sentences.js";

/** A shorter text is a phrase that anybody may use. */
const ECHOED_CHARS_MIN = 20;

const inWords: { readonly [F in GivenText["from"]]: string } = {
  context_pack: "in the context pack that the session was given",
  memory: "in a memory that the session was given",
  consolidation: "in a summary of the session",
};

export const feedbackGuard: Gate = (trial, { ground, stems }) => {
  for (const each of trial.evidence) {
    // What was given does not become news by what is quoted with it.
    const main = mainSentences([...sentencesOf(each.quote)], trial.content, stems).map(({ text }) => text);
    const source = echoed(each, main, ground);
    if (source !== undefined)
      return { dropped: `What it quotes stood ${inWords[source.from]}: it was not learned there.` };
  }
  return { passed: trial };
};

function echoed(evidence: Evidence, main: readonly string[], ground: Ground): GivenText | undefined {
  const session_id = ground.entriesById.get(evidence.entry_id)?.session_id;
  const quote = comparable(evidence.quote);
  if (quote === "") return undefined;
  const parts = [quote, ...main.map(comparable).filter((part) => part.length >= ECHOED_CHARS_MIN)];
  // An assistant that wraps what it was given in words of its own still repeats it.
  const isAssistants = speakersOf(evidence, ground).every((by) => by === "assistant");
  return ground.given.find(({ session_id: given_in, words }) => {
    if (given_in !== session_id) return false;
    if (parts.some((part) => within(part, words))) return true;
    const given = words.trim();
    return isAssistants && given.length >= ECHOED_CHARS_MIN && within(given, ` ${quote} `);
  });
}

function within(part: string, whole: string): boolean {
  return whole.includes(` ${part} `) || (/[^\p{ASCII}]/u.test(part) && whole.includes(part));
}
