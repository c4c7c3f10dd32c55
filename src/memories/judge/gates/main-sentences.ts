// Which sentences of a text say most of a statement: whatever else is quoted with them neither supports it nor mends them.
import type { Sentence } from "../../text/sentences.js";
import type { Stems } from "../../text/stems.js";

export function mainSentences(sentences: readonly Sentence[], statement: string, stems: Stems): readonly Sentence[] {
  const sought = stems.of(statement);
  const language = stems.language(statement);
  const shares = sentences.map(({ text }) => sharedIn(sought, stems.of(text, language)));
  const most = Math.max(...shares);
  return sentences.filter((_, nth) => shares[nth] === most);
}

function sharedIn(sought: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let count = 0;
  for (const stem of sought) count += Number(found.has(stem));
  return count;
}
