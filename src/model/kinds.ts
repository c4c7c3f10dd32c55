// The table of kinds: which fields each has. Parsing, reading and the published schemas follow from it.
import type { CaptureKind, CommonFields, FieldsByKind, Kind, ReservedFieldsByKind, ReservedKind } from "./entry.js";
import { memoryKinds } from "./entry.js";
import {
  boolean,
  confidence,
  content,
  count,
  entryReference,
  type Field,
  injected,
  json,
  number,
  object,
  objects,
  position,
  positionOrZero,
  positions,
  prompt,
  references,
  required,
  role,
  runName,
  score,
  sessionReference,
  tagLabels,
  text,
  userLabel,
} from "./fields.js";
import { type Rejection, reject } from "./rejection.js";

/** Fields that entries of any kind may have. */
export const commonFields: { readonly [N in keyof CommonFields]-?: Field } = {
  client_run: runName,
  client_seq: position,
  user_id: userLabel,
  tags: tagLabels,
  parent_id: entryReference,
};

type FieldTable<F> = { readonly [N in keyof F]-?: Field<F[N]> };

interface KindRule<F> {
  readonly needs_session: boolean;
  /** Whether it is part of the conversation, which reflection reviews. */
  readonly is_conversation: boolean;
  /** Whether a search without `kind` includes it: the conversation, and feedback on it. */
  readonly is_searched: boolean;
  readonly fields: FieldTable<F>;
}

/** Types of inputs follow from these rules, so their literals are kept. */
export const kindRules = {
  interaction: {
    needs_session: false,
    is_conversation: true,
    is_searched: true,
    fields: {
      prompt,
      response: text,
      response_summary: text,
      memories_used: references,
      chunks_used: references,
      context_pack: object,
      model: text,
      usage: object,
      latency_ms: number,
      first_token_ms: number,
      error: text,
    },
  },
  response: {
    needs_session: false,
    is_conversation: false,
    is_searched: true,
    fields: {
      interaction_id: required(text),
      response: text,
      response_summary: text,
      memories_used: references,
      chunks_used: references,
      model: text,
      usage: object,
      latency_ms: number,
      first_token_ms: number,
      error: text,
    },
  },
  message: {
    needs_session: true,
    is_conversation: true,
    is_searched: true,
    fields: {
      role: required(role),
      content,
      confidence,
      tool_calls: objects,
      tool_call_id: text,
      name: text,
      injected,
    },
  },
  tool_call: {
    needs_session: false,
    is_conversation: true,
    is_searched: true,
    fields: {
      tool: required(text),
      args: object,
      result: json,
      is_error: boolean,
      duration_ms: number,
      tool_call_id: text,
    },
  },
  error: {
    needs_session: false,
    is_conversation: true,
    is_searched: true,
    fields: { error: required(text), context: text },
  },
  decision: {
    needs_session: false,
    is_conversation: true,
    is_searched: true,
    fields: { decision: required(text), rationale: text, confidence },
  },
  consolidation: {
    needs_session: true,
    is_conversation: false,
    is_searched: true,
    fields: {
      through: required(positionOrZero),
      summary: text,
      kept: positions,
      trigger: text,
      tokens_before: count,
    },
  },
  clear: { needs_session: true, is_conversation: false, is_searched: false, fields: {} },
  withdrawal: {
    needs_session: true,
    is_conversation: false,
    is_searched: false,
    fields: { withdraws: required(position) },
  },
  feedback: {
    needs_session: false,
    is_conversation: false,
    is_searched: true,
    fields: { entry_id: required(text), score, label: text, comment: text },
  },
  session_info: {
    needs_session: true,
    is_conversation: false,
    is_searched: false,
    fields: { title: text, metadata: object, parent: sessionReference },
  },
  raw: {
    needs_session: false,
    is_conversation: false,
    is_searched: false,
    fields: { source: required(text), record: required(object) },
  },
} as const satisfies { readonly [K in CaptureKind]: KindRule<FieldsByKind[K]> };

/** The same for kinds that only the log itself writes; capture refuses them. */
const reservedKindRules: { readonly [K in ReservedKind]: KindRule<ReservedFieldsByKind[K]> } = {
  audit: {
    needs_session: false,
    is_conversation: false,
    is_searched: false,
    fields: { action: required(text), actor: required(text), target: text },
  },
  redaction: {
    needs_session: false,
    is_conversation: false,
    is_searched: false,
    fields: { positions: required(positions), reason: text, scope: text },
  },
  memory_proposed: ofMemory({
    type: required(text),
    content: required(text),
    source: required(text),
    generation: text,
    confidence,
    tags: references,
    valid_until: text,
    cites: text,
    similar_to: references,
    conflicts_with: references,
    actor: required(text),
  }),
  memory_edited: ofMemory({
    memory_id: required(text),
    content: text,
    evidence: objects,
    said_by: text,
    said_in: text,
    said_at: text,
    actor: required(text),
  }),
  memory_promoted: ofMemory({ memory_id: required(text), actor: required(text), reason: text }),
  memory_rejected: ofMemory({ memory_id: required(text), actor: required(text), reason: text }),
  memory_superseded: ofMemory({
    memory_id: required(text),
    superseded_by: text,
    status_before: required(text),
    actor: required(text),
    reason: text,
  }),
  memory_reinforced: ofMemory({ turn_id: required(text), memories: required(objects), actor: required(text) }),
};

function ofMemory<F>(fields: FieldTable<F>): KindRule<F> {
  return { needs_session: false, is_conversation: false, is_searched: false, fields };
}

const readRules = { ...kindRules, ...reservedKindRules };

export const reservedKinds = Object.keys(reservedKindRules) as readonly ReservedKind[];

export const allKinds = Object.keys(readRules) as readonly Kind[];

/** The fields of a kind; none for an unknown one. */
export function fieldsOf(kind: string): { readonly [name: string]: Field } {
  return Object.hasOwn(readRules, kind) ? (readRules[kind as Kind].fields as { [name: string]: Field }) : {};
}

export const captureKinds = Object.keys(kindRules) as readonly CaptureKind[];

/** The kinds of the conversation. */
export const conversationKinds: readonly string[] = captureKinds.filter((kind) => kindRules[kind].is_conversation);

/** Kinds that reflection does not select. It reads responses with their interactions, and feedback with its entry. */
export const unreflectedKinds: readonly string[] = allKinds.filter(
  (kind) => !conversationKinds.includes(kind) && kind !== "response" && kind !== "feedback",
);

/** What a search without `kind` includes. */
export const searchedKinds: readonly string[] = captureKinds.filter((kind) => kindRules[kind].is_searched);

/** Kinds that a search includes only if `kind:` asks for them. It counts omitted matches under these names. */
export const optInKinds = {
  raw: ["raw"],
  memory: memoryKinds,
  audit: ["audit"],
  session_info: ["session_info"],
} as const satisfies { readonly [name: string]: readonly Kind[] };

export type OptInKind = keyof typeof optInKinds;

export function isCaptureKind(kind: unknown): kind is CaptureKind {
  return typeof kind === "string" && Object.hasOwn(kindRules, kind);
}

export function isReservedKind(kind: unknown): boolean {
  return (
    (reservedKinds as readonly unknown[]).includes(kind) || (typeof kind === "string" && kind.startsWith("memory_"))
  );
}

export function parseKind(kind: unknown): CaptureKind | Rejection {
  if (isCaptureKind(kind)) return kind;
  if (isReservedKind(kind)) {
    return reject({ code: "kind_reserved", field: "kind", message: `kind ${kind} is written by the log itself` });
  }
  const hint = `Kinds are ${captureKinds.join(", ")}.`;
  if (kind === undefined || kind === null) {
    return reject({ code: "field_missing", field: "kind", message: "kind is missing", hint });
  }
  const shown = typeof kind === "string" ? JSON.stringify(kind.slice(0, 40)) : `of type ${typeof kind}`;
  return reject({ code: "kind_unknown", field: "kind", message: `unknown kind ${shown}`, hint });
}
