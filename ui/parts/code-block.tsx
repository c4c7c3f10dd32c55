// Code, arguments and results in a frame. Long text is cut and opened step by step.
import { type ReactNode, useMemo, useState } from "react";
import { firstLine, formatSize, plural, withoutAnsi } from "../format.js";
import { Highlighted, useIsMatch } from "../highlight.js";
import { useTransientText } from "../transient-text.js";
import { useShowMore } from "./show-more.js";

const CHARS_FIRST = 4_000;
const CHARS_STEP = 200_000;
/** Shorter JSON is not folded. */
const FOLDED_CHARS = 400;

export function CodeBlock(options: {
  readonly text: string;
  readonly language?: string;
  /** Shows the end first: of long output it says most. */
  readonly fromEnd?: boolean;
  /** The text as JSON, if it is: shown folded. */
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
      Show {formatSize(text.length - chars)} {fromEnd ? "before" : "more"}
    </button>
  );
  return (
    <figure className="code">
      <figcaption>
        <span>{language.slice(0, 40)}</span>
        <CopyButton text={options.text} />
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre tabIndex={0}>{isDiff ? <Diff text={text} /> : <Highlighted text={text} />}</pre>
    </>
  );
}

function CopyButton({ text }: { readonly text: string }) {
  const [words, say] = useTransientText(1_500);
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
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id.
    <span key={at} className="diff-line" data-sign={/^(?:\+(?!\+\+)|-(?!--)|@)/.exec(line)?.[0]}>
      <Highlighted text={line} />
      {"\n"}
    </span>
  ));
}

/** Shorter values stay on one line. */
const LINE_CHARS = 72;
/** How many items of a list or object are shown at first. */
const ITEMS_FIRST = 50;

function FoldedJson({ value }: { readonly value: unknown }) {
  return (
    <div className="json">
      <Value name="" value={value} isOutermost />
    </div>
  );
}

interface ValueProps {
  /** Ends with a colon; empty for an item of a list. */
  readonly name: string;
  readonly value: unknown;
  readonly isOutermost?: boolean;
}

function Value({ name, value, isOutermost = false }: ValueProps): ReactNode {
  const text = JSON.stringify(value) ?? "";
  if (typeof value === "object" && value !== null && name.length + text.length > LINE_CHARS) {
    return <Layer name={name} value={value} text={text} isOutermost={isOutermost} />;
  }
  return (
    <p dir="auto">
      <Name name={name} />
      <Highlighted text={text} />
    </p>
  );
}

function Layer(options: {
  readonly name: string;
  readonly value: object;
  readonly text: string;
  readonly isOutermost: boolean;
}) {
  const { name, value, text, isOutermost } = options;
  const isMatching = useIsMatch();
  const [isOpen, setOpen] = useState(() => isOutermost || isMatching(text));
  const isList = Array.isArray(value);
  const items = Object.entries(value);
  const { some, more } = useShowMore(items, ITEMS_FIRST);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="quiet">{isList ? `[${plural(items.length, "item")}]` : `{${keysOf(items)}}`}</span>
      </summary>
      {isOpen &&
        some.map(([key, item]) => <Value key={key} name={isList ? "" : `${JSON.stringify(key)}: `} value={item} />)}
      {isOpen && more}
    </details>
  );
}

/** The first keys, to say what the object is. */
function keysOf(items: readonly (readonly [string, unknown])[]): string {
  const names = items.slice(0, ITEMS_FIRST).map(([key]) => key);
  return firstLine(names.join(", ") + (items.length > ITEMS_FIRST ? ", …" : ""));
}

function Name({ name }: { readonly name: string }) {
  return <span className="json-name">{name}</span>;
}

/** An image stored in the record. Remote images are never fetched: the request would reveal the reader. */
export function RecordedImage({ text, image }: { readonly text: string; readonly image: string }) {
  return <img className="picture" src={image} alt={text} />;
}
