// Speech of any length: what is too long to be read at once is opened step by step.
import { type ReactNode, useState } from "react";
import { Marked } from "../marks.js";
import { countOf } from "../words.js";
import { Markdown } from "./markdown.js";

const CHARS_FIRST = 12_000;
const CHARS_STEP = 100_000;

export function LongText({ text }: { readonly text: string }) {
  const { shown, further } = useCut(text);
  return (
    <div className="prose">
      <Markdown text={shown} />
      {further}
    </div>
  );
}

/** A paragraph that is no Markdown. */
export function LongLine(options: { readonly text: string; readonly className: string; readonly lead?: ReactNode }) {
  const { text, className, lead } = options;
  const { shown, further } = useCut(text);
  return (
    <>
      <p className={className} dir="auto">
        {lead}
        <Marked text={shown} />
      </p>
      {further}
    </>
  );
}

function useCut(text: string): { readonly shown: string; readonly further: ReactNode } {
  const [chars, setChars] = useState(CHARS_FIRST);
  if (text.length <= chars) return { shown: text, further: null };
  const further = (
    <button type="button" className="plain" onClick={() => setChars(chars + CHARS_STEP)}>
      Further: {countOf(text.length - chars)} more characters
    </button>
  );
  return { shown: text.slice(0, chars), further };
}
