// An entry as it can be quoted, with whose words are whose.

export interface QuotableEntry {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
  readonly said: readonly { readonly by: "user" | "tool" | "assistant" | "system"; readonly text: string }[];
}
