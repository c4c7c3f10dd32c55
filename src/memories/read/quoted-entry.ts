// An entry as it can be quoted, with whose words are whose.

/** Whose words a text is. What stands in a system message was said by nobody in the conversation. */
export type Speaker = "user" | "tool" | "assistant" | "system";

export interface Spoken {
  readonly by: Speaker;
  readonly text: string;
}

/** An entry as far as it can be quoted. */
export interface QuotedEntry {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
  readonly said: readonly Spoken[];
}
