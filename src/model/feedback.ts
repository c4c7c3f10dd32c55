// What somebody thought of an entry: when it is a dislike, and how it is said in one line.

/** Feedback below 0. */
export function isDislike({ score }: { readonly score?: unknown }): boolean {
  return typeof score === "number" && score < 0;
}

/** The score, the label and the comment, as far as they were given. */
export function feedbackWords(feedback: {
  readonly score?: number;
  readonly label: string;
  readonly comment: string;
}): string {
  const { score, label, comment } = feedback;
  return [score === undefined ? "" : String(score), label, comment].filter((text) => text !== "").join(" ");
}
