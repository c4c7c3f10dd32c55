// Evidence in a frame of its own: code, arguments, results. Long ones are cut where a reader would stop, and can be opened.
import { useMemo, useState } from "react";
import { useBriefly } from "../briefly.js";
import { Marked } from "../marks.js";
import { sizeOf, withoutAnsi } from "../words.js";
import { FoldedJson } from "./folded-json.js";

const CHARS_FIRST = 4_000;
const CHARS_STEP = 200_000;
/** JSON that is shorter is read at a glance. */
const FOLDED_CHARS = 400;

export function Code(options: {
  readonly text: string;
  readonly language?: string;
  /** Of long output the end says most. */
  readonly fromEnd?: boolean;
  /** What it is as JSON, where it is: folded then. */
  readonly json?: object | undefined;
}) {
  const { language = "", fromEnd = false } = options;
  const text = useMemo(() => withoutAnsi(options.text), [options.text]);
  const isFolded = options.json !== undefined && text.length > FOLDED_CHARS;
  const [chars, setChars] = useState(CHARS_FIRST);
  const isCut = text.length > chars;
  const shown = !isCut ? text : fromEnd ? text.slice(-chars) : text.slice(0, chars);
  const more = (
    <button type="button" className="plain" onClick={() => setChars(chars + CHARS_STEP)}>
      {fromEnd ? "Earlier" : "Further"}: {sizeOf(text.length - chars)} more
    </button>
  );
  return (
    <figure className="code">
      <figcaption>
        <span>{language.slice(0, 40)}</span>
        <Copy text={options.text} />
      </figcaption>
      {isCut && !isFolded && fromEnd && more}
      {isFolded ? <FoldedJson value={options.json} /> : <Plain text={shown} isDiff={isDiff(language, shown)} />}
      {isCut && !isFolded && !fromEnd && more}
    </figure>
  );
}

function Plain({ text, isDiff }: { readonly text: string; readonly isDiff: boolean }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard. */}
      <pre tabIndex={0}>{isDiff ? <Diff text={text} /> : <Marked text={text} />}</pre>
    </>
  );
}

function Copy({ text }: { readonly text: string }) {
  const [words, say] = useBriefly(1_500);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => say("Copied"));
  return (
    <button type="button" className="plain copy" onClick={copy}>
      {words || "Copy"}
    </button>
  );
}

function isDiff(language: string, text: string): boolean {
  return language === "diff" || /^(?:diff --git |--- .+\n\+\+\+ |\*\*\* Begin Patch)/.test(text);
}

function Diff({ text }: { readonly text: string }) {
  return text.split("\n").map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name.
    <span key={at} className="diff-line" data-sign={/^(?:\+(?!\+\+)|-(?!--)|@)/.exec(line)?.[0]}>
      <Marked text={line} />
      {"\n"}
    </span>
  ));
}
