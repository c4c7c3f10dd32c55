// The keyboard: what each key does on the view that is open, while nobody is typing.
import { useEffect, useRef } from "react";

export type Keys = { readonly [key: string]: () => void };

/** Two keys after each other count as one where the second comes this soon. */
const SEQUENCE_MS = 800;

/** What is open, each with its keys as it was last drawn. */
const listening = new Set<{ readonly current: Keys }>();
let before: { readonly key: string; readonly atMs: number } = { key: "", atMs: 0 };

addEventListener("keydown", (event) => {
  // When it was pressed, which a busy page hears of later.
  const { key, timeStamp: atMs } = event;
  const two = atMs - before.atMs < SEQUENCE_MS ? `${before.key} ${key}` : "";
  before = { key, atMs };
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  if (isTaken(event) || document.querySelector("dialog[open]") !== null) return;
  // Two keys of any view come before one key of another: `g s` leaves a view in which `s` alone does something.
  const action = actionOf(two) ?? actionOf(key);
  if (action === undefined) return;
  event.preventDefault();
  action();
});

function actionOf(name: string): Keys[string] | undefined {
  for (const { current } of listening) if (Object.hasOwn(current, name)) return current[name];
  return undefined;
}

/** Keys as the browser names them, `"g g"` for two after each other. Whatever is open together has different ones. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    listening.add(current);
    return () => void listening.delete(current);
  }, []);
}

/** Whether the key is meant for what has the focus: somebody types there, or opens a link or presses a button. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  return key === "Enter" && /^(?:A|BUTTON|SUMMARY)$/.test(target.tagName);
}

/** Moves the focus along links or rows that carry this mark. */
export function step(selector: string, by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by;
  items[Math.max(0, Math.min(next, items.length - 1))]?.focus();
}
