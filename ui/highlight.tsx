// Highlights matches of the search text wherever they are shown.
import { createContext, useContext, useMemo } from "react";
import { filterNames } from "./parts/completion.js";

const HighlightPattern = createContext<RegExp | undefined>(undefined);

/** Filters in the search text are not searched for. */
const FILTERS = new RegExp(`^(?:session_id|${filterNames.join("|")}):.`);
/** Limits the size of the pattern. */
const TERMS_MAX = 20;

export function HighlightProvider({ query, children }: { readonly query: string; readonly children: React.ReactNode }) {
  const pattern = useMemo(() => patternOf(query), [query]);
  return <HighlightPattern value={pattern}>{children}</HighlightPattern>;
}

/** The search terms without excluded ones and filters. */
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

/** Returns a function that tells whether a text contains a match. */
export function useIsMatch(): (text: string) => boolean {
  const pattern = useContext(HighlightPattern);
  return (text) => pattern !== undefined && text.search(pattern) !== -1;
}

/** A text with its matches in `<mark>`. */
export function Highlighted({ text }: { readonly text: string }) {
  const pattern = useContext(HighlightPattern);
  if (pattern === undefined) return <Breakable text={text} />;
  return <Snippet text={text} matches={matchesIn(text, pattern)} />;
}

/** Each match is an element, so their number is limited. */
const MARKS_MAX = 500;

/** Ranges of matches; adjacent ones are joined. */
function matchesIn(text: string, pattern: RegExp): readonly (readonly number[])[] {
  const matches: [from: number, until: number][] = [];
  for (const { index, 0: found } of text.matchAll(pattern)) {
    const last = matches.at(-1);
    if (last?.[1] === index) last[1] = index + found.length;
    else if (matches.length < MARKS_MAX) matches.push([index, index + found.length]);
    else break;
  }
  return matches;
}

/** A text with the given ranges in `<mark>`. */
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
    pieces.push(<Breakable key={end} text={text.slice(end, from)} />);
    pieces.push(
      <mark key={`mark ${from}`}>
        <Breakable text={text.slice(from, until)} />
      </mark>,
    );
    end = until;
  }
  return [...pieces, <Breakable key={end} text={text.slice(end)} />];
}

const WORD_CHARS = 4_000;

/** Browsers take seconds to wrap a word of 100,000 characters unless `<wbr>` says where. */
function Breakable({ text }: { readonly text: string }): React.ReactNode {
  if (text.length < WORD_CHARS || text.split(/\s/).every((word) => word.length < WORD_CHARS)) return text;
  const pieces = text.match(/.{1,1000}/gsu) ?? [];
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no id.
  return pieces.flatMap((piece, at) => (at === 0 ? [piece] : [<wbr key={at} />, piece]));
}
