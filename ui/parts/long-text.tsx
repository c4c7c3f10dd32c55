// Speech of any length: what is too long to be read at once is opened step by step.
import { useState } from "react";
import { countOf } from "../words.js";
import { Markdown } from "./markdown.js";

const CHARS_FIRST = 12_000;
const CHARS_STEP = 100_000;

export function LongText({ text }: { readonly text: string }) {
  const [chars, setChars] = useState(CHARS_FIRST);
  const isCut = text.length > chars;
  return (
    <div className="prose">
      <Markdown text={isCut ? text.slice(0, chars) : text} />
      {isCut && (
        <button type="button" className="plain" onClick={() => setChars(chars + CHARS_STEP)}>
          Further: {countOf(text.length - chars)} more characters
        </button>
      )}
    </div>
  );
}
