// JSON schemas of entries, made from the table of kinds: as input, as read back, and as lists show them.
import type { CaptureKind, FieldName, Kind } from "../../../model/entry.js";
import type { Field } from "../../../model/fields.js";
import { allKinds, captureKinds, commonFields, fieldsOf as fieldTableOf, kindRules } from "../../../model/kinds.js";
import { limits } from "../../../model/limits.js";
import { type Schema, schemaNamed } from "./openapi-operation.js";

/** A field without a description does not compile. */
const descriptions = {
  prompt: "What was sent to the model, kept verbatim.",
  response: "What the model answered.",
  response_summary: "A short form of the response.",
  memories_used: "Memories that went into the prompt. Numbers and booleans are kept as text.",
  chunks_used: "Chunks of documents that went into the prompt.",
  context_pack: "Everything else the model was given.",
  model: "Name of the model.",
  usage: "Token counts.",
  latency_ms: "How long the model took.",
  first_token_ms: "How long its first token took.",
  interaction_id: "The interaction that this response completes.",
  role: "Who speaks.",
  content: "Text or content parts; null only with `tool_calls`.",
  confidence: "From 0 to 1.",
  tool_calls: "Calls the assistant makes, in OpenAI's shape.",
  tool_call_id: "The call that this answers.",
  name: "Name of the speaker or tool.",
  injected: "What a program put into the conversation; empty for what was said.",
  tool: "Name of the tool.",
  args: "Arguments of the call.",
  result: "Text or JSON, whole.",
  is_error: "Whether the call failed.",
  duration_ms: "How long the call took.",
  error: "What went wrong; for an interaction or a response, why the call failed.",
  context: "Where, and what was being done.",
  decision: "What the agent decided.",
  rationale: "Why.",
  through: "Position through which the session is consolidated; 0 if nothing was dropped.",
  summary: "What the consolidated part said; history gives it to the model.",
  kept: "Positions up to `through` that history keeps.",
  trigger: "Why it was consolidated.",
  tokens_before: "How many tokens the context had before.",
  withdraws: "Position of a message of the session. History omits it from then on.",
  entry_id: "The entry that this is about.",
  score: "Rating from -1 to 1.",
  label: "Rating as a word.",
  comment: "Comment.",
  title: "Title of the session.",
  metadata: "What is known about the session; later entries win key by key.",
  parent: "The session that this one came from.",
  source: "Where it came from.",
  record: "The record as it was.",
  action: "What was done: export, forget, key_created …",
  actor: "Who did it.",
  target: "What it was done to.",
  positions: "The entries whose bodies were erased.",
  reason: "Why.",
  scope: "What was to be forgotten: entry, session, project, retention or scrub.",
  type: "What a memory is about: identity, preference, project, episodic, knowledge or adaptation.",
  generation: "Model, prompt and segmentation that proposed it, as a hash; empty where no model did.",
  tags: "Words that somebody gave it.",
  valid_until: "When it stops being true; empty if unknown.",
  cites: "A hash of the ids of the entries that are the statement's evidence; empty if there are none.",
  similar_to: "Ids of memories that say nearly the same.",
  conflicts_with: "Ids of memories that contradict it.",
  memory_id: "The memory that this is about.",
  evidence: "Quotes of entries that are a memory's evidence, each with `entry_id` and `quote`.",
  said_by: "Who said them: user, tool or assistant.",
  said_in: "The session they were said in.",
  said_at: "When they were said.",
  superseded_by: "The memory that replaces it; empty if none.",
  status_before: "What it was before: candidate or active.",
  turn_id: "The interaction or the user's message that the turn began with.",
  memories: "How memories were used in the turn: `memory_id`, and which of `given`, `used` and `confirmed` is true.",
} satisfies { readonly [N in FieldName]: string };

const givenEnvelope: { readonly [name: string]: Schema } = {
  id: {
    type: "string",
    pattern: `^[A-Za-z0-9._:-]{1,${limits.id_chars}}$`,
    description: "Makes the call safe to repeat. Not digits alone. By default a UUIDv7.",
  },
  created_at: {
    type: "string",
    description: "When it happened, as an ISO 8601 time; by default the time of recording.",
  },
  session_id: { type: "string", description: `Kept exactly; at most ${limits.session_id_bytes} bytes.` },
  project: { type: "string", description: `A label of at most ${limits.label_bytes} bytes.` },
  client: { type: "string", description: `A label of at most ${limits.label_bytes} bytes.` },
  ...common(),
  extra: { type: "object", description: "Anything else. Unknown fields are kept here too." },
};

function common(): { readonly [name: string]: Schema } {
  return {
    client_run: { ...commonFields.client_run.schema, description: "The run of the client that captured it." },
    client_seq: { ...commonFields.client_seq.schema, description: "Its number within that run: 1, 2, 3 …" },
    user_id: {
      ...commonFields.user_id.schema,
      description: `Whom it was done for; a label of at most ${limits.label_bytes} bytes.`,
    },
    tags: {
      ...commonFields.tags.schema,
      maxItems: limits.tags,
      description: `At most ${limits.tags} labels of at most ${limits.tag_bytes} bytes.`,
    },
    parent_id: {
      ...commonFields.parent_id.schema,
      description: "The id of the entry that this one was made for; it need not exist yet.",
    },
  };
}

const time: Schema = { type: "string", format: "date-time" };

const readEnvelope: { readonly [name: string]: Schema } = {
  position: { type: "integer", minimum: 1, description: "Position in the log: 1, 2, 3 …, without gaps." },
  id: { type: "string" },
  kind: { type: "string" },
  created_at: { ...time, description: "When it happened." },
  recorded_at: { ...time, description: "When it was recorded." },
  recorded_by: { type: "string", description: "The id of the key it came in with; empty without keys." },
  session_id: { type: "string" },
  project: { type: "string" },
  client: { type: "string" },
  user_id: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
  parent_id: { type: "string" },
  hash: { type: "string", description: "SHA-256 over the previous entry's hash and this entry." },
};

/** `NewMessageEntry`, `MessageEntry` and so on for every kind, and the unions of them. */
export function entrySchemas(): { readonly [name: string]: Schema } {
  const schemas: { [name: string]: Schema } = {
    NewInteraction: given("interaction", []),
    NewResponse: given("response", ["interaction_id"]),
    NewClear: given("clear", ["session_id"]),
    NewEntry: union(captureKinds.map((kind) => [kind, `New${nameOf(kind)}`])),
    Entry: union(allKinds.map((kind) => [kind, nameOf(kind)])),
    EntrySummary: union(allKinds.map((kind) => [kind, isSummarised(kind) ? summaryNameOf(kind) : nameOf(kind)])),
    ListedEntry: { anyOf: [schemaNamed("EntrySummary"), schemaNamed("AlteredEntry")] },
    AlteredEntry: {
      ...objectOf({ ...readEnvelope, altered: { const: true } }, [...Object.keys(readEnvelope), "altered"]),
      description:
        "An entry whose body, or whose response's body, does not match its hash. Its text is not shown, and id and labels " +
        "are empty: they are in the body too.",
    },
    ErasedEntry: objectOf({ ...readEnvelope, erased: { const: true } }, [...Object.keys(readEnvelope), "erased"]),
  };
  for (const kind of captureKinds) {
    schemas[`New${nameOf(kind)}`] = { ...given(kind, []), required: ["kind", ...requiredOf(kind)] };
  }
  for (const kind of allKinds) {
    schemas[nameOf(kind)] = read(kind);
    if (isSummarised(kind)) schemas[summaryNameOf(kind)] = summary(kind);
  }
  return schemas;
}

/** `interaction` → `InteractionEntry`, `tool_call` → `ToolCallEntry`. */
function nameOf(kind: Kind): string {
  const words = kind.split("_").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}Entry`;
}

function summaryNameOf(kind: Kind): string {
  return nameOf(kind).replace(/Entry$/, "Summary");
}

function isSummarised(kind: Kind): boolean {
  return kind === "interaction" || kind === "response";
}

function fieldsOf(kind: Kind): readonly (readonly [FieldName, Field])[] {
  return Object.entries(fieldTableOf(kind)) as unknown as readonly (readonly [FieldName, Field])[];
}

function requiredOf(kind: CaptureKind): readonly string[] {
  const fields = fieldsOf(kind).flatMap(([name, field]) => (field.required ? [name] : []));
  return kindRules[kind].needs_session ? ["session_id", ...fields] : fields;
}

function given(kind: CaptureKind, fromPath: readonly string[]): Schema {
  const fields = fieldsOf(kind)
    .filter(([name]) => !fromPath.includes(name))
    .map(([name, field]) => [name, described(name, field.required ? field.schema : orNull(field.schema))]);
  const envelope = Object.entries(givenEnvelope)
    .filter(([name]) => !fromPath.includes(name))
    .map(([name, schema]) => [name, name === "session_id" && kindRules[kind].needs_session ? schema : orNull(schema)]);
  const properties = { kind: { const: kind }, ...Object.fromEntries(fields), ...Object.fromEntries(envelope) };
  return objectOf(
    properties,
    requiredOf(kind).filter((name) => !fromPath.includes(name)),
  );
}

function read(kind: Kind): Schema {
  const fields = fieldsOf(kind).map(([name, field]) => [name, described(name, field.schema)]);
  const always = fieldsOf(kind).flatMap(([name, field]) => (field.required || field.empty !== undefined ? [name] : []));
  const properties = {
    ...readEnvelope,
    kind: { const: kind },
    ...Object.fromEntries(fields),
    ...common(),
    extra: { type: "object", description: "Unknown fields." },
    ...(kind === "interaction" ? { response_id: { type: "string", description: "The entry that completed it." } } : {}),
  };
  return objectOf(properties, [...Object.keys(readEnvelope), ...always, "extra"]);
}

function summary(kind: Kind): Schema {
  const whole = read(kind) as { readonly properties: { readonly [name: string]: Schema }; readonly required: string[] };
  const { response: _, context_pack: __, ...properties } = whole.properties;
  const response_chars = { type: "integer", description: "Length of the response in code points." };
  const required = whole.required.filter((name) => name in properties);
  const response_excerpt = { type: "string", description: "Its beginning, with `excerpts=1`." };
  return objectOf({ ...properties, response_chars, response_excerpt }, [...required, "response_chars"]);
}

function union(namesByKind: readonly (readonly [string, string])[]): Schema {
  const mapping = Object.fromEntries(namesByKind.map(([kind, name]) => [kind, schemaNamed(name).$ref]));
  const oneOf = namesByKind.map(([, name]) => schemaNamed(name));
  return { oneOf, discriminator: { propertyName: "kind", mapping } };
}

function objectOf(properties: { readonly [name: string]: unknown }, required: readonly string[]): Schema {
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

function described(name: FieldName, schema: object): Schema {
  return { ...schema, description: descriptions[name] };
}

/** Null for an optional field means absent. */
function orNull(schema: object): Schema {
  const { type } = schema as { readonly type?: unknown };
  if (typeof type === "string") return { ...schema, type: [type, "null"] };
  return schema as Schema;
}
