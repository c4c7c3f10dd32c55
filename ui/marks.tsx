// What was searched for, marked wherever its words are shown.
import { createContext, useContext, useMemo } from "react";

const Sought = createContext<RegExp | undefined>(undefined);

/** Filters are typed in between the words, and are none. */
const FILTERS = /^(?:role|kind|project|session_id|client|since|until|tool|model|is|in):./;
/** A pattern of many words would cost more than it shows. */
const TERMS_MAX = 20;

export function Marks({ sought, children }: { readonly sought: string; readonly children: React.ReactNode }) {
  const pattern = useMemo(() => patternOf(sought), [sought]);
  return <Sought value={pattern}>{children}</Sought>;
}

/** The terms that a search text names, without those it leaves out. */
function termsOf(text: string): readonly string[] {
  const found = text.match(/-?"[^"]*(?:"|$)|\S+/g) ?? [];
  return found
    .filter((term) => !FILTERS.test(term) && !/^-./.test(term))
    .map((term) => term.replace(/^"|"$/g, ""))
    .filter((term) => term !== "")
    .slice(0, TERMS_MAX);
}

function patternOf(text: string): RegExp | undefined {
  const terms = termsOf(text).map((term) => term.normalize("NFC").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return terms.length === 0 ? undefined : new RegExp(terms.join("|"), "giu");
}

/** Whether a text holds something of what was searched for. */
export function useSought(): (text: string) => boolean {
  const pattern = useContext(Sought);
  return (text) => pattern !== undefined && text.search(pattern) !== -1;
}

/** A text with what was searched for in `<mark>`. */
export function Marked({ text }: { readonly text: string }) {
  const pattern = useContext(Sought);
  if (pattern === undefined) return breakable(text);
  const pieces: React.ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    pieces.push(text.slice(end, match.index), <mark key={match.index}>{match[0]}</mark>);
    end = match.index + match[0].length;
  }
  return end === 0 ? text : [...pieces, text.slice(end)];
}

const WORD_CHARS = 4_000;

/** A browser takes seconds to break a word of 100,000 characters, unless it is told where it may. */
function breakable(text: string): React.ReactNode {
  if (text.length < WORD_CHARS || text.split(/\s/).every((word) => word.length < WORD_CHARS)) return text;
  const pieces = text.match(/.{1,1000}/gsu) ?? [];
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other name.
  return pieces.flatMap((piece, at) => (at === 0 ? [piece] : [<wbr key={at} />, piece]));
}

/** A piece of text whose matches the server named. */
export function Snippet({
  text,
  matches,
}: {
  readonly text: string;
  readonly matches: readonly (readonly number[])[];
}) {
  const pieces: React.ReactNode[] = [];
  let end = 0;
  for (const [from = 0, until = 0] of matches) {
    pieces.push(text.slice(end, from), <mark key={from}>{text.slice(from, until)}</mark>);
    end = until;
  }
  return [...pieces, text.slice(end)];
}
