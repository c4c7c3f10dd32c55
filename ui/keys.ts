// The keyboard: what each key does on the view that is open, while nobody is typing.
import { useEffect, useRef } from "react";

export type Keys = { readonly [key: string]: (event: KeyboardEvent) => void };

/** Two keys after each other count as one where the second comes this soon. */
const SEQUENCE_MS = 800;

let before: { readonly key: string; readonly atMs: number } = { key: "", atMs: 0 };

addEventListener("keydown", ({ key }) => {
  // After the listeners of the views, which look at what came before.
  queueMicrotask(() => {
    before = { key, atMs: performance.now() };
  });
});

/** Keys as the browser names them, `"g g"` for two after each other. The newest view wins. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
      const isSoon = performance.now() - before.atMs < SEQUENCE_MS;
      const action = (isSoon ? current.current[`${before.key} ${event.key}`] : undefined) ?? current.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Moves the focus along links or rows that carry this mark. */
export function step(selector: string, by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by;
  items[Math.max(0, Math.min(next, items.length - 1))]?.focus();
}
