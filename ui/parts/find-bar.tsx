// Finding inside the session that is open, with how many entries hold it.
import { useEffect, useRef, useState } from "react";
import { withQuery } from "../router.js";
import { countOf } from "../words.js";

export function FindBar(options: {
  readonly q: string;
  readonly count: number | undefined;
  readonly busy: boolean;
  /** Which of the matches the reader is at, from 1; 0 for none. */
  readonly at: number;
  previous(): void;
  next(): void;
}) {
  const { q, count, busy, at, previous, next } = options;
  const [text, setText] = useState(q);
  const own = useRef(q);
  useEffect(() => {
    if (q !== own.current) setText(q);
    own.current = q;
  }, [q]);
  const change = (value: string): void => {
    setText(value);
    own.current = value;
    // Who types here looks for it here.
    withQuery({ q: value, through: "" }, { replace: true });
  };
  return (
    <search className="find">
      <input
        id="find"
        type="search"
        value={text}
        placeholder="Find in this session"
        aria-label="Find in this session"
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") (event.shiftKey ? previous : next)();
          if (event.key !== "Escape") return;
          // A field for searching would empty itself.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      <output className="quiet">
        {count === undefined
          ? ""
          : count === 0 && !busy
            ? "none"
            : `${at > 0 ? `${countOf(at)} of ` : ""}${countOf(count)}${busy ? "…" : ""}`}
      </output>
      {count !== undefined && count > 0 && (
        <>
          <button type="button" className="plain" onClick={previous} aria-label="Previous match">
            ↑
          </button>
          <button type="button" className="plain" onClick={next} aria-label="Next match">
            ↓
          </button>
        </>
      )}
    </search>
  );
}
