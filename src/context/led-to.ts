// From an answer to what it led to: its tool calls, the errors before the next answer, what somebody thought of it, and the
// user's next words.
import { feedbackOn } from "../index/feedback-fold.js";
import type { EntryIndex } from "../index/port.js";
import type { LedTo } from "../model/context.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { firstCodePoints } from "../model/normalise.js";
import { readRole, textsOfUser } from "../model/roles.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import { type Answer, callIdsOf, hasWordsOfUser, mayHaveMade } from "./answers.js";

/** So many entries after the answer are looked through, and so much of a text is shown. */
const LOOKED_AHEAD = 200;
const READ_AT_ONCE = 8;
const CHARS = 200;

interface Sources {
  readonly index: EntryIndex;
  readonly entries: EntryReader;
}

export async function ledTo(sources: Sources, answer: Answer): Promise<LedTo> {
  const after = await following(sources, answer);
  const end = after.findIndex(isAnswer);
  const own = end === -1 ? after : after.slice(0, end);
  const next = after.find(isUsers);
  return {
    tool_calls: callsOf(answer, after).map((call) => {
      return { ...placeOf(call), tool: call.tool, is_error: call.is_error === true };
    }),
    errors: own.flatMap((entry) => (entry.kind === "error" ? [{ ...placeOf(entry), error: cut(entry.error) }] : [])),
    feedback: await feedback(sources, answer),
    ...(next === undefined ? {} : { next: { ...placeOf(next), text: cut(textsOfUser(next).join("\n")) } }),
  };
}

/** As far as the next answer and the user's next words, whichever comes later. */
async function following({ index, entries }: Sources, { session_id, position }: Answer): Promise<readonly Entry[]> {
  const after: Entry[] = [];
  if (session_id === "") return after;
  const kinds = ["message", "interaction", "tool_call", "error"];
  const range = { session_id, order: "asc", after: position, limit: LOOKED_AHEAD, kinds } as const;
  const positions = await index.sessionPositions(range);
  const isEnough = (): boolean => after.some(isAnswer) && after.some(isUsers);
  // A few at a time, since each may be as large as an entry can be.
  for (let at = 0; at < positions.length && !isEnough(); at += READ_AT_ONCE) {
    after.push(...(await entries.read(positions.slice(at, at + READ_AT_ONCE))));
  }
  return isEnough() ? after.slice(0, Math.max(after.findIndex(isAnswer), after.findIndex(isUsers)) + 1) : after;
}

/** The calls that it names, up to where another answer names them, and those without a name before anybody speaks. */
function callsOf(answer: Answer, after: readonly Entry[]): readonly EntryOf<"tool_call">[] {
  const named = new Set(callIdsOf(answer));
  const calls: EntryOf<"tool_call">[] = [];
  let isNext = true;
  for (const entry of after) {
    if (entry.kind === "tool_call") {
      if (named.has(entry.tool_call_id) || (isNext && mayHaveMade(answer, entry))) calls.push(entry);
    }
    if (isAnswer(entry)) for (const id of callIdsOf(entry)) named.delete(id);
    if (isAnswer(entry) || isUsers(entry)) isNext = false;
  }
  return calls;
}

async function feedback({ index, entries }: Sources, answer: Answer): Promise<LedTo["feedback"]> {
  const { response_id } = answer as { readonly response_id?: string };
  const ids = [answer.id, ...(response_id === undefined ? [] : [response_id])];
  const found = await entries.read([...(await feedbackOn(index, ids)).values()].flat());
  return found.flatMap((entry) => {
    if (entry.kind !== "feedback") return [];
    const { score, label, comment } = entry;
    return [{ ...placeOf(entry), ...(score === undefined ? {} : { score }), label, comment: cut(comment) }];
  });
}

function placeOf({ id, position }: Entry) {
  return { entry_id: id, position };
}

function isAnswer(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "assistant");
}

function isUsers(entry: Entry): boolean {
  return entry.kind === "interaction" || hasWordsOfUser(entry);
}

function cut(text: string): string {
  return firstCodePoints(text, CHARS);
}
