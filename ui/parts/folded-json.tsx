// JSON as a reader takes it in: the outermost layer first, what lies deeper when it is opened.
import { type ReactNode, useState } from "react";
import { Marked, useSought } from "../marks.js";
import { firstLine, plural } from "../words.js";
import { useSome } from "./some.js";

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
  const isList = Array.isArray(value);
  const items = Object.entries(value);
  const { some, more } = useSome(items, ITEMS_FIRST);
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

/** As many names as tell what it is. */
function keysOf(items: readonly (readonly [string, unknown])[]): string {
  const names = items.slice(0, ITEMS_FIRST).map(([key]) => key);
  return firstLine(names.join(", ") + (items.length > ITEMS_FIRST ? ", …" : ""));
}

function Name({ name }: { readonly name: string }) {
  return <span className="json-name">{name}</span>;
}
