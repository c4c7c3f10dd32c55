// From an answer to what it led to: its tool calls, the errors before the next answer, what somebody thought of it, and the
// user's next words.
import { feedbackOn } from "../indexing/feedback-fold.js";
import { firstCodePoints } from "../model/code-points.js";
import type { LedTo } from "../model/context.js";
import type { Entry } from "../model/entry.js";
import { textsOfUser } from "../model/from-user.js";
import { readRole } from "../model/roles.js";
import type { EntryIndex } from "../ports/entry-index.js";
import type { EntryReader } from "../read/entry-reader.js";
import type { Answer } from "./answers.js";

/** So many entries after the answer are looked through, and so much of a text is shown. */
const LOOKED_AHEAD = 200;
const READ_AT_ONCE = 8;
const CHARS = 200;

export async function ledTo(
  { index, entries }: { readonly index: EntryIndex; readonly entries: EntryReader },
  answer: Answer,
): Promise<LedTo> {
  const after = await following({ index, entries }, answer);
  const end = after.findIndex(isAnswer);
  const own = end === -1 ? after : after.slice(0, end);
  const next = after.find(isUsers);
  return {
    tool_calls: own.flatMap((entry) => {
      if (entry.kind !== "tool_call") return [];
      return [{ ...placeOf(entry), tool: entry.tool, is_error: entry.is_error === true }];
    }),
    errors: own.flatMap((entry) => (entry.kind === "error" ? [{ ...placeOf(entry), error: cut(entry.error) }] : [])),
    feedback: await feedback({ index, entries }, answer),
    ...(next === undefined ? {} : { next: { ...placeOf(next), text: cut(wordsOf(next)) } }),
  };
}

/** As far as the user's next words. */
async function following(
  { index, entries }: Parameters<typeof ledTo>[0],
  { session_id, position }: Answer,
): Promise<readonly Entry[]> {
  const after: Entry[] = [];
  if (session_id === "") return after;
  const kinds = ["message", "interaction", "tool_call", "error"];
  const positions = await index.sessionPositions({
    session_id,
    order: "asc",
    after: position,
    limit: LOOKED_AHEAD,
    kinds,
  });
  // A few at a time, since each may be as large as an entry can be.
  for (let at = 0; at < positions.length && !after.some(isUsers); at += READ_AT_ONCE) {
    after.push(...(await entries.read(positions.slice(at, at + READ_AT_ONCE))));
  }
  return after;
}

async function feedback({ index, entries }: Parameters<typeof ledTo>[0], answer: Answer): Promise<LedTo["feedback"]> {
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

function isAnswer(entry: Entry): boolean {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "assistant");
}

function isUsers(entry: Entry): boolean {
  // Some providers carry results of tools in the user's name.
  return entry.kind === "interaction" || wordsOf(entry).trim() !== "";
}

function wordsOf(entry: Entry): string {
  return textsOfUser(entry).join("\n");
}

function cut(text: string): string {
  return firstCodePoints(text, CHARS);
}
