// What was searched for, marked wherever its words are shown.
import { createContext, useContext, useMemo } from "react";
import { filterNames } from "./parts/completion.js";

const Sought = createContext<RegExp | undefined>(undefined);

/** Filters are typed in between the words, and are none. */
const FILTERS = new RegExp(`^(?:session_id|${filterNames.join("|")}):.`);
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
  if (pattern === undefined) return <Breakable text={text} />;
  return <Snippet text={text} matches={matchesIn(text, pattern)} />;
}

/** Nobody counts more in one text, and each of them is an element. */
const MARKS_MAX = 500;

/** Where a text matches; neighbours without anything in between are one. */
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

/** A piece of text whose matches are named: from where, until where. */
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

/** A browser takes seconds to break a word of 100,000 characters, unless it is told where it may. */
function Breakable({ text }: { readonly text: string }): React.ReactNode {
  if (text.length < WORD_CHARS || text.split(/\s/).every((word) => word.length < WORD_CHARS)) return text;
  const pieces = text.match(/.{1,1000}/gsu) ?? [];
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other name.
  return pieces.flatMap((piece, at) => (at === 0 ? [piece] : [<wbr key={at} />, piece]));
}
