// JSON as a reader takes it in: the outermost layer first, what lies deeper when it is opened.
import { type ReactNode, useState } from "react";
import { Marked, useSought } from "../marks.js";
import { countOf, plural } from "../words.js";

/** What fits into a line stays in it. */
const LINE_CHARS = 72;
/** More of one list than so many are drawn only where somebody asks. */
const ITEMS_FIRST = 50;

export function FoldedJson({ value }: { readonly value: unknown }) {
  return (
    <div className="json">
      <Value name="" value={value} isOutermost />
    </div>
  );
}

interface ValueProps {
  /** With its colon; empty for an item of a list. */
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
      <Marked text={text} />
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
  const isSought = useSought();
  const [isOpen, setOpen] = useState(() => isOutermost || isSought(text));
  const [drawn, setDrawn] = useState(ITEMS_FIRST);
  const isList = Array.isArray(value);
  const items = Object.entries(value);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="quiet">
          {isList ? `[${plural(items.length, "item")}]` : `{${items.map(first).join(", ")}}`}
        </span>
      </summary>
      {isOpen &&
        items
          .slice(0, drawn)
          .map(([key, item]) => <Value key={key} name={isList ? "" : `${JSON.stringify(key)}: `} value={item} />)}
      {isOpen && items.length > drawn && (
        <button type="button" className="plain" onClick={() => setDrawn(drawn * 10)}>
          {countOf(items.length - drawn)} more
        </button>
      )}
    </details>
  );
}

function first([key]: readonly [string, unknown]): string {
  return key;
}

function Name({ name }: { readonly name: string }) {
  return <span className="json-name">{name}</span>;
}
