// What the self-reflection of the ancestor reports of its newest entries, as facts. Reimplemented from its behaviour.

export type AncestorEntry = { readonly created_at: string } & (
  | {
      readonly kind: "message";
      readonly role: "user" | "timmy" | "system";
      readonly content: string;
      readonly confidence?: number;
    }
  | { readonly kind: "tool_call"; readonly tool: string; readonly result: string; readonly is_error: boolean }
  | { readonly kind: "error"; readonly error: string; readonly context: string }
  | { readonly kind: "decision"; readonly decision: string; readonly rationale: string }
);

/** A line about one entry. */
export interface AncestorItem {
  readonly created_at: string;
  /** To the second. */
  readonly time: string;
  /** The first 120 characters. */
  readonly text: string;
}

export interface AncestorReport {
  readonly reviewed: number;
  readonly users: number;
  readonly responses: number;
  readonly errors: { readonly count: number; readonly items: readonly AncestorItem[] };
  readonly low_confidence: {
    readonly count: number;
    readonly items: readonly (AncestorItem & { readonly percent: number })[];
  };
  readonly topics: readonly { readonly word: string; readonly count: number }[];
  /** What it advises on; the topic is the one mentioned most. */
  readonly insights: readonly ("low_confidence" | "errors" | "topic" | "healthy")[];
}

/** Entries in the order in which they were recorded. */
export function ancestorReport(entries: readonly AncestorEntry[], limit: number): AncestorReport {
  const newest = entries.slice(-limit).reverse();
  const said = newest.filter((entry) => entry.kind === "message");
  const users = said.filter(({ role }) => role === "user");
  const answers = said.filter(({ role }) => role === "timmy");
  const errors = newest.filter((entry) => entry.kind === "error");
  const doubtful = answers.flatMap((entry) =>
    entry.confidence !== undefined && entry.confidence < 0.5
      ? [{ ...itemOf(entry, entry.content), percent: Math.round(entry.confidence * 100) }]
      : [],
  );
  const topics = topicsOf(users.map(({ content }) => content));
  const advice = [
    ...(doubtful.length > 0 ? (["low_confidence"] as const) : []),
    ...(errors.length > 0 ? (["errors"] as const) : []),
    ...(topics.length > 0 ? (["topic"] as const) : []),
  ];
  return {
    reviewed: newest.length,
    users: users.length,
    responses: answers.length,
    errors: { count: errors.length, items: errors.slice(0, 5).map((entry) => itemOf(entry, entry.error)) },
    low_confidence: { count: doubtful.length, items: doubtful.slice(0, 5) },
    topics,
    insights: advice.length > 0 ? advice : ["healthy"],
  };
}

function itemOf({ created_at }: AncestorEntry, text: string): AncestorItem {
  return { created_at, time: created_at.slice(0, 19), text: [...text].slice(0, 120).join("") };
}

/** Words between spaces, without punctuation around them, longer than 3 characters and said 3 times: the top 5. */
function topicsOf(texts: readonly string[]): AncestorReport["topics"] {
  const counts = new Map<string, number>();
  const words = texts.flatMap((text) => text.toLowerCase().split(/\s+/));
  for (const word of words.map((one) => one.replace(/^[.,!?"'()[\]]+|[.,!?"'()[\]]+$/g, ""))) {
    if (word.length > 3) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= 3)
    .map(([word, count]) => ({ word, count }))
    .sort((left, right) => right.count - left.count)
    .slice(0, 5);
}
