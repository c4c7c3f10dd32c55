// Which answer of a model an entry belongs to, and the answers of a session before it.

import { NO_CALLS, sameCallsIn } from "../index/call-steps.js";
import type { EntryIndex } from "../index/port.js";
import { HAS_CONTEXT } from "../index/references.js";
import type { Entry, EntryOf, Interaction } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole, textsOfUser } from "../model/roles.js";
import type { SameCalls } from "../model/same-calls.js";
import type { EntryReader } from "../search/lists/entry-reader.js";

/** What a model answered, or the place in a session where it would have. */
export type ModelAnswer =
  | Interaction
  | EntryOf<"message">
  | EntryOf<"tool_call">
  | EntryOf<"error">
  | EntryOf<"decision">;

/** How many answers before a tool call are searched for the one that made it. */
const LOOKED_BACK = 64;

export class AnswerFinder {
  readonly #index: EntryIndex;
  readonly #entries: EntryReader;

  constructor(parts: { readonly index: EntryIndex; readonly entries: EntryReader }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** The model's answer that an entry is, or belongs to. */
  async answerOf(entry: Entry): Promise<ModelAnswer | undefined> {
    switch (entry.kind) {
      case "interaction":
        return entry;
      case "response":
        return this.#interactionOf(entry);
      case "message":
        return readRole(entry.role) === "assistant" ? entry : undefined;
      case "tool_call":
        return (await this.#callerOf(entry)) ?? (await this.#sameTurn(entry)) ?? entry;
      case "error":
      case "decision":
        return (await this.#read(await this.#before(entry, ["interaction", "message"]))) ?? entry;
      default:
        return undefined;
    }
  }

  /** The answer before one: another call, although the same call may have been recorded as a message and as an interaction. */
  async previous(answer: ModelAnswer): Promise<ModelAnswer | undefined> {
    const before = await this.#before(answer, ["interaction", "message"], LOOKED_BACK);
    const { messageOf, interactionOf } = await this.#sameCalls(answer);
    const own = [messageOf.get(answer.position), interactionOf.get(answer.position)];
    const interaction = answer.kind === "interaction" ? answer.position : interactionOf.get(answer.position);
    const other = before.find(
      (position) =>
        !own.includes(position) && (interaction === undefined || interactionOf.get(position) !== interaction),
    );
    return this.#read(other === undefined ? [] : [other]);
  }

  /** The interaction whose request was recorded for the same answer. */
  async recordedCall(message: EntryOf<"message">): Promise<Interaction | undefined> {
    const position = (await this.#sameCalls(message)).interactionOf.get(message.position);
    const interaction = await this.#read(position === undefined ? await this.#named(message) : [position]);
    return interaction?.kind === "interaction" ? interaction : undefined;
  }

  /** By the provider's id of the answer, in whichever session; none where several have the same id. */
  async #named({ extra: { message_id } }: EntryOf<"message">): Promise<readonly number[]> {
    if (typeof message_id !== "string" || message_id === "") return [];
    const references = [{ what: "answer", reference: message_id } as const, HAS_CONTEXT];
    const found = await this.#index.list({ filter: { kinds: ["interaction"], references }, limit: 2 });
    return found.length === 1 ? found.map(({ position }) => position) : [];
  }

  async #sameCalls({ session_id, position }: Entry): Promise<SameCalls> {
    if (session_id === "") return NO_CALLS;
    return sameCallsIn(this.#index, { session_id, from: position, through: position });
  }

  async #interactionOf({ interaction_id }: EntryOf<"response">): Promise<Interaction | undefined> {
    const interaction = await this.#entries.getById(interaction_id);
    return interaction?.kind === "interaction" && !("erased" in interaction) ? interaction : undefined;
  }

  async #callerOf(call: EntryOf<"tool_call">): Promise<ModelAnswer | undefined> {
    if (call.tool_call_id === "") return undefined;
    for (const position of await this.#before(call, ["interaction", "message"], LOOKED_BACK)) {
      const answer = await this.#read([position]);
      if (answer !== undefined && callIdsOf(answer).includes(call.tool_call_id)) return answer;
    }
    return undefined;
  }

  /** The answer before the call, unless the user has spoken since. */
  async #sameTurn(call: EntryOf<"tool_call">): Promise<ModelAnswer | undefined> {
    const answer = await this.#read(await this.#before(call, ["interaction", "message"]));
    if (answer === undefined || !mayHaveMade(answer, call)) return undefined;
    const { session_id, position: after } = call;
    const range = { session_id, order: "desc", limit: LOOKED_BACK, after, kinds: ["message"], role: "user" } as const;
    for (const position of await this.#index.sessionPositions(range)) {
      if (position < answer.position) break;
      const [entry] = await this.#entries.readWhole([position]);
      if (entry !== undefined && hasWordsOfUser(entry)) return undefined;
    }
    return answer;
  }

  /** One by one, since a context pack may be as large as an entry can be. */
  async #read([position]: readonly number[]): Promise<ModelAnswer | undefined> {
    const [entry] = position === undefined ? [] : await this.#entries.readWhole([position]);
    return entry?.kind === "interaction" || entry?.kind === "message" ? entry : undefined;
  }

  /** Positions of the answers of these kinds before an entry of its session, the newest first. */
  async #before(
    { session_id, position }: Entry,
    kinds: readonly ("interaction" | "message")[],
    limit = 1,
  ): Promise<readonly number[]> {
    const range = { session_id, order: "desc", limit, after: position } as const;
    const found = await Promise.all(
      kinds.map((kind) => {
        const role = kind === "message" ? { role: "assistant" } : {};
        return this.#index.sessionPositions({ ...range, kinds: [kind], ...role });
      }),
    );
    return found
      .flat()
      .sort((left, right) => right - left)
      .slice(0, limit);
  }
}

/** Results of tools in a user's message are no words of the user. */
export function hasWordsOfUser(entry: Entry): boolean {
  return textsOfUser(entry).join("").trim() !== "";
}

/** Whether the answer may have made a call that it does not name: an answer that names any call names all of them. */
export function mayHaveMade(answer: ModelAnswer, { tool_call_id }: EntryOf<"tool_call">): boolean {
  return tool_call_id === "" || callIdsOf(answer).length === 0;
}

/** The calls that an answer made, by their ids, wherever its provider puts them. */
export function callIdsOf(answer: ModelAnswer): readonly string[] {
  if (answer.kind === "interaction") return idsIn(answer.extra.tool_calls);
  if (answer.kind !== "message") return [];
  const { content } = answer;
  const inContent = Array.isArray(content)
    ? content.filter((part) => isJsonObject(part) && part.type === "tool_use")
    : [];
  return [...idsIn(answer.tool_calls), ...idsIn(inContent)];
}

function idsIn(calls: JsonValue | readonly JsonObject[] | undefined): readonly string[] {
  const list = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
  return list.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}
