// Keyboard shortcuts of the open view, ignored while the reader types.
import { useEffect, useRef } from "react";

export type Keys = { readonly [key: string]: () => void };

/** Two keys count as a sequence if the second follows within this time. */
const SEQUENCE_MS = 800;

/** The shortcuts of all mounted components, as of their last render. */
const listening = new Set<{ readonly current: Keys }>();
let before: { readonly key: string; readonly atMs: number } = { key: "", atMs: 0 };

addEventListener("keydown", (event) => {
  // The time of the key press; a busy page handles it later.
  const { key, timeStamp: atMs } = event;
  const two = atMs - before.atMs < SEQUENCE_MS ? `${before.key} ${key}` : "";
  before = { key, atMs };
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  if (isHandledByFocus(event) || document.querySelector("dialog[open]") !== null) return;
  // Sequences come first: `g s` must leave a view in which `s` alone does something.
  const action = actionOf(two) ?? actionOf(key);
  if (action === undefined) return;
  event.preventDefault();
  action();
});

function actionOf(name: string): Keys[string] | undefined {
  for (const { current } of listening) if (Object.hasOwn(current, name)) return current[name];
  return undefined;
}

/** Keys as the browser names them, `"g g"` for a sequence. Components shown together must not share keys. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    listening.add(current);
    return () => void listening.delete(current);
  }, []);
}

/** Whether the focused element handles the key: a field, or Enter on a link or button. */
function isHandledByFocus({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  return key === "Enter" && /^(?:A|BUTTON|SUMMARY)$/.test(target.tagName);
}

/** Moves the focus along the elements that match. */
export function step(selector: string, by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by;
  items[Math.max(0, Math.min(next, items.length - 1))]?.focus();
}
