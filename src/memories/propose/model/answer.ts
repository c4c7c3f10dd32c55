// What a model answered, as proposals. Nothing in it is believed: what does not have the form is left out here with a
// reason, and everything else meets the gates.
import { isJsonObject, type JsonObject, parseJsonObject } from "../../../model/json.js";
import { type Evidence, type MemoryType, memoryTypes, type Proposal } from "../../../model/memory.js";
import type { Segment } from "./segments.js";

/** An answer is a short document; what is longer is none. */
const ANSWER_CHARS_MAX = 200_000;
const MEMORIES_MAX = 20;
const EVIDENCE_MAX = 8;
const CONTENT_CHARS_MAX = 2_000;
const QUOTE_CHARS_MAX = 4_000;

interface ModelAnswer {
  readonly proposals: readonly Proposal[];
  /** A sentence for everything that was left out. */
  readonly refused: readonly string[];
}

/** @param generation A hash of model, prompt and segmentation. */
export function parseAnswer(answer: string, segment: Segment, generation: string): ModelAnswer {
  if (answer.length > ANSWER_CHARS_MAX) return refusal(`The answer has more than ${ANSWER_CHARS_MAX} characters.`);
  const document = documentIn(answer);
  if (document === undefined) return refusal("The answer is no JSON document.");
  const { memories } = document;
  if (!Array.isArray(memories)) return refusal('The answer has no list "memories".');
  const proposals: Proposal[] = [];
  const refused: string[] = [];
  for (const [at, item] of memories.slice(0, MEMORIES_MAX).entries()) {
    const parsed = proposalIn(item, segment, generation);
    if (typeof parsed === "string") refused.push(`Statement ${at + 1}: ${parsed}`);
    else proposals.push(parsed);
  }
  const left = memories.length - MEMORIES_MAX;
  if (left > 0) refused.push(`${left} statements beyond the first ${MEMORIES_MAX} were not looked at.`);
  return { proposals, refused };
}

/** Type, content and evidence are read; whatever else it says, such as a project or a status, is not its to say. */
function proposalIn(item: unknown, segment: Segment, generation: string): Proposal | string {
  if (!isJsonObject(item)) return "it is no object.";
  const { type, content } = item;
  if (!isMemoryType(type)) return `its type is none of ${memoryTypes.join(", ")}.`;
  if (typeof content !== "string" || content.length > CONTENT_CHARS_MAX) return "its content is no sentence.";
  const evidence = evidenceIn(item, segment);
  if (typeof evidence === "string") return evidence;
  return { type, content, source: "model", evidence, project: segment.project, tags: [], generation };
}

function evidenceIn(item: JsonObject, segment: Segment): readonly Evidence[] | string {
  const given = item.evidence;
  if (!Array.isArray(given) || given.length === 0) return "it has no evidence.";
  if (given.length > EVIDENCE_MAX) return `it has more than ${EVIDENCE_MAX} quotes.`;
  const evidence: Evidence[] = [];
  for (const each of given) {
    if (!isJsonObject(each)) return "a quote of it is no object.";
    const entry_id = typeof each.text === "number" ? segment.entryIds[each.text - 1] : undefined;
    if (entry_id === undefined) return "it quotes a text that was not shown.";
    if (typeof each.quote !== "string" || each.quote.length > QUOTE_CHARS_MAX) return "a quote of it is no text.";
    evidence.push({ entry_id, quote: each.quote });
  }
  return evidence;
}

/** The answer as a document, also where a model puts it into a fence or writes a line around it. */
function documentIn(answer: string): JsonObject | undefined {
  const whole = parseJsonObject(answer);
  if (whole !== undefined) return whole;
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")];
  return from === -1 || to < from ? undefined : parseJsonObject(answer.slice(from, to + 1));
}

function isMemoryType(value: unknown): value is MemoryType {
  return (memoryTypes as readonly unknown[]).includes(value);
}

function refusal(reason: string): ModelAnswer {
  return { proposals: [], refused: [reason] };
}
