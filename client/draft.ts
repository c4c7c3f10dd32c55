// What was captured, as it is held until the agent has done its turn, and the line of JSON that is made of it then.
import type { Surroundings } from "./context.js";
import { newId } from "./ids.js";
import { type Fields, OWN } from "./snapshot.js";

export interface Draft {
  readonly seq: number;
  readonly at_ms: number;
  /** Where the caller said so by the function it called; else the fields say it. */
  readonly kind: string | undefined;
  /** A copy of what the caller gave. */
  readonly fields: Fields;
  /** What it is part of, where it was captured through a session. */
  readonly session: Surroundings;
  /** What held where it was captured. */
  readonly context: Surroundings;
}

export interface Line {
  readonly id: string;
  readonly text: string;
}

export interface Run {
  readonly client_run: string;
  readonly labels: Surroundings;
}

export function toLine({ client_run, labels }: Run, draft: Draft): Line {
  const { seq, at_ms, fields, session, context } = draft;
  const id = typeof fields.id === "string" ? fields.id : newId(at_ms);
  const entry: { [name: string]: unknown } = {
    client_run,
    client_seq: seq,
    created_at: new Date(at_ms).toISOString(),
  };
  const kind = draft.kind ?? fields.kind;
  // A response and feedback inherit their labels from what they are about.
  if (kind !== "response" && kind !== "feedback") {
    put(entry, labels);
    put(entry, context);
  }
  // What the model was given is an interaction's.
  if (kind !== "interaction") {
    delete entry.memories_used;
    delete entry.chunks_used;
  }
  put(entry, session);
  put(entry, fields);
  put(entry, { kind, session_id: session.session_id, id });
  return { id, text: JSON.stringify(entry) };
}

/** What is undefined was not given, and does not hide what holds by default. */
function put(entry: { [name: string]: unknown }, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // A key called __proto__ is a key like any other.
    if (name !== "__proto__") entry[name] = value;
    else Object.defineProperty(entry, name, { ...OWN, value });
  }
}
