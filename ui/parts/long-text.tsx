// Text of any length: long text is opened step by step.
import { type ReactNode, useState } from "react";
import { formatCount } from "../format.js";
import { Highlighted } from "../highlight.js";
import { Markdown } from "./markdown.js";

const CHARS_FIRST = 12_000;
const CHARS_STEP = 100_000;

export function LongText({ text }: { readonly text: string }) {
  const { shown, more } = useStepwise(text);
  return (
    <div className="prose">
      <Markdown text={shown} />
      {more}
    </div>
  );
}

/** A paragraph of plain text. */
export function LongLine(options: { readonly text: string; readonly className: string; readonly lead?: ReactNode }) {
  const { text, className, lead } = options;
  const { shown, more } = useStepwise(text);
  return (
    <>
      <p className={className} dir="auto">
        {lead}
        <Highlighted text={shown} />
      </p>
      {more}
    </>
  );
}

function useStepwise(text: string): { readonly shown: string; readonly more: ReactNode } {
  const [chars, setChars] = useState(CHARS_FIRST);
  if (text.length <= chars) return { shown: text, more: null };
  const more = (
    <button type="button" className="plain" onClick={() => setChars(chars + CHARS_STEP)}>
      Show {formatCount(text.length - chars)} more characters
    </button>
  );
  return { shown: text.slice(0, chars), more };
}
