// The second gate: every quote stands word for word in the entry it names, and the right people said it.

import type { Evidence, MemorySource, MemoryType } from "../../../model/memory.js";
import { codePoints } from "../../../model/normalise.js";
import type { Speaker } from "../../read/quoted-entry.js";
import type { Ground } from "../ground.js";
import type { Gate, Ruling, Trial } from "./gate.js";

/** A shorter quote could stand anywhere, unless it is all that was said. */
export const QUOTE_CHARS_MIN = 20;

/** Rules and decisions have their types from where they were found, and a person's word needs nobody else's. */
const TYPED_BY_SOURCE: ReadonlySet<MemorySource> = new Set(["rule:commands", "rule:words", "decision", "person"]);

/** Who must have said a statement of a type, where it comes from another source. */
const speakersByType: { readonly [T in MemoryType]: readonly Speaker[] } = {
  identity: ["user"],
  preference: ["user"],
  project: ["user", "tool"],
  knowledge: ["user", "tool"],
  episodic: [],
  adaptation: [],
};

const inWords: { readonly [S in Speaker]: string } = {
  user: "a user",
  tool: "a tool",
  assistant: "an assistant",
  system: "a system message",
};

export const evidence: Gate = (trial, { ground }) => {
  if (trial.evidence.length === 0) {
    return trial.source === "person"
      ? { passed: trial }
      : { dropped: "It has no evidence: nothing in the record is quoted." };
  }
  for (const each of trial.evidence) {
    const flaw = flawOf(each, ground);
    if (flaw !== undefined) return { dropped: flaw };
  }
  if (TYPED_BY_SOURCE.has(trial.source)) return { passed: trial };
  return byWhoSaidIt(trial, new Set(trial.evidence.flatMap((each) => speakersOf(each, ground))));
};

/** Who said a quote: everybody who has it in that entry. */
export function speakersOf({ entry_id, quote }: Evidence, { entriesById }: Ground): readonly Speaker[] {
  const said = entriesById.get(entry_id)?.said ?? [];
  return said.filter(({ text }) => text.includes(quote)).map(({ by }) => by);
}

function byWhoSaidIt(trial: Trial, speakers: ReadonlySet<Speaker>): Ruling {
  if ([...speakers].every((by) => by === "assistant")) return { passed: { ...trial, type: "episodic" } };
  const needed = speakersByType[trial.type];
  if (needed.length === 0 || needed.some((by) => speakers.has(by))) return { passed: trial };
  const who = needed.map((by) => inWords[by]).join(" or ");
  const instead = [...speakers].map((by) => inWords[by]).join(" and ");
  return { dropped: `A statement of type ${trial.type} needs a quote of ${who}, and this one was said by ${instead}.` };
}

function flawOf({ entry_id, quote }: Evidence, { entriesById }: Ground): string | undefined {
  const entry = entriesById.get(entry_id);
  if (entry === undefined) return `The entry ${entry_id} that it quotes is not there, or was forgotten.`;
  if (quote.trim() === "") return `The quote from entry ${entry_id} is empty.`;
  const holding = entry.said.filter(({ text }) => text.includes(quote));
  if (holding.length === 0) return `The quote does not stand word for word in entry ${entry_id}.`;
  if (codePoints(quote) >= QUOTE_CHARS_MIN || holding.some(({ text }) => text.trim() === quote.trim()))
    return undefined;
  return `The quote has fewer than ${QUOTE_CHARS_MIN} characters and is not the whole text.`;
}
