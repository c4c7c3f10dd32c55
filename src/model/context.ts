// What a model was given for an answer, and whether a text was among it: schemas and types in one.
import { Type } from "typebox";
import type { JsonValue } from "./json.js";
import { type AnswerOf, count, named, oneOf, text } from "./schema.js";

/** An entry by its ids. */
const entryPlace = { entry_id: text, position: Type.Integer({ minimum: 1 }) };
export type EntryPlace = AnswerOf<typeof place>;
const place = Type.Object(entryPlace);

/** A message as the model was given it, with all other recorded fields. */
export interface GivenMessage {
  readonly role: string;
  readonly content?: JsonValue;
  /** The entry it comes from, if the session has one. */
  readonly entry_id?: string;
  readonly [field: string]: JsonValue | undefined;
}

const givenMessage = Type.Unsafe<GivenMessage>({
  title: "GivenMessage",
  type: "object",
  properties: {
    role: { type: "string", description: "Empty if none was recorded." },
    content: { description: "Text, content parts, or whatever was recorded." },
    entry_id: { type: "string", description: "The entry with this message, if the session has one." },
  },
  required: ["role"],
  description: "As recorded, with all other fields.",
});

const json = (description: string) => Type.Optional(Type.Unsafe<JsonValue>({ description }));

const exact = Type.Boolean({
  description: "Whether the request was recorded; otherwise the context is reconstructed from the session's history.",
});

const answer = Type.Object(entryPlace, {
  description: "The answer: for a tool call, the one that made it; for an error, the one before it.",
});

/** What followed an answer. */
export type LedTo = AnswerOf<typeof ledTo>;
const ledTo = Type.Object(
  {
    tool_calls: Type.Array(Type.Object({ ...entryPlace, tool: text, is_error: Type.Boolean() })),
    errors: Type.Array(Type.Object({ ...entryPlace, error: text })),
    feedback: Type.Array(
      Type.Object({ ...entryPlace, score: Type.Optional(Type.Number()), label: text, comment: text }),
    ),
    next: Type.Optional(Type.Object({ ...entryPlace, text }, { description: "What the user said next." })),
  },
  { description: "What followed the answer, up to the next one; texts are cut at 200 characters." },
);

export type ContextChange = AnswerOf<typeof contextChange>;
const contextChange = Type.Object({
  entry_id: Type.String({ description: "The previous answer." }),
  kept: Type.Integer({ minimum: 0, description: "How many of the messages it was given too." }),
  added: Type.Array(count, { description: "Indexes in `messages` of the new ones." }),
  removed: Type.Array(givenMessage, { description: "Messages that it was given and this answer was not." }),
  system: oneOf(["same", "changed"]),
  tools: Type.Object({ added: Type.Array(text), removed: Type.Array(text) }, { description: "By name." }),
});

const lacks = Type.Optional(
  Type.Array(text, {
    description: "What the source never records of a request, where that is known: `system prompt`, `rules files` …",
  }),
);

export type Context = AnswerOf<typeof contextAnswer>;
export const contextAnswer = named(
  "Context",
  Type.Object({
    answer,
    exact,
    source: oneOf(["context_pack", "request", "history"], {
      description: "The caller's record, a provider's request, or the session's history.",
    }),
    messages: Type.Array(givenMessage),
    system: json("As it was recorded."),
    tools: json("As they were recorded."),
    pack: Type.Optional(
      Type.Unsafe<{ readonly [name: string]: JsonValue }>({
        type: "object",
        description: "Everything else in the context pack.",
      }),
    ),
    memories: Type.Array(text),
    chunks: Type.Array(text),
    tokens: count,
    tokens_reported: Type.Optional(
      Type.Integer({ minimum: 0, description: "What the provider counted as input, cached parts included." }),
    ),
    lacks,
    previous: Type.Optional(contextChange),
    led_to: ledTo,
  }),
);
/** How the context is known. */
export type ContextSource = Context["source"];

export type GivenPlace = AnswerOf<typeof givenPlace>;
const givenPlace = Type.Object({
  entry_id: Type.Optional(text),
  role: Type.String({ description: "The message's role; `system`, `tools` or `context_pack` for other parts." }),
  snippet: text,
  tokens_from_end: Type.Integer({ minimum: 0, description: "Number of tokens after it." }),
});

const verdict = oneOf(["given", "fell_out", "never", "unknown"], {
  description:
    "`fell_out`: only earlier answers of the session were given it. `unknown`: it was not found, but the source does not " +
    "record everything that was sent.",
});

export type Told = AnswerOf<typeof toldAnswer>;
export const toldAnswer = named(
  "Told",
  Type.Object({
    verdict,
    exact,
    answer,
    given: Type.Array(givenPlace),
    last_given: Type.Optional(
      Type.Object(entryPlace, { description: "If it fell out: the newest earlier answer that was given it." }),
    ),
    first_given: Type.Optional(
      Type.Object(entryPlace, { description: "The first answer of the session that was given it." }),
    ),
    why: Type.Optional(oneOf(["clear", "consolidation", "window", "removed"])),
    nearest: Type.Optional(
      Type.Object(
        { entry_id: Type.Optional(text), role: text, snippet: text, ratio: Type.Number({ minimum: 0, maximum: 1 }) },
        { description: "Where it was not found: the passage in which at least half of its words stand together." },
      ),
    ),
    only_own_words: Type.Optional(Type.Literal(true, { description: "Only the model's own earlier answers had it." })),
    lacks,
    parent: Type.Optional(
      Type.Object(
        { session_id: text, verdict },
        { description: "For a subagent: the same for the answer of the session that it came from." },
      ),
    ),
  }),
);
/** What removed a text: a marker of the session, the length of history, or the caller. */
export type FallReason = NonNullable<Told["why"]>;

/** The result for an entry's answer, or why there is none. */
export type AnswerLookup<T> =
  | { readonly outcome: "found"; readonly found: T }
  | { readonly outcome: "erased" }
  | { readonly outcome: "no_answer"; readonly kind: string };
