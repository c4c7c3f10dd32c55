// Where the reader is: addresses below /ui/, so that back, forward and a sent link always work.
import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from "react";
import { address, type Query } from "./api.js";
import { createStore, useStore } from "./store.js";

export interface Place {
  /** The path below /ui, in decoded parts: `["sessions", "a/b"]`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly hash: string;
}

const place = createStore<Place>(readPlace());

addEventListener("popstate", () => place.set(readPlace()));

export function usePlace(): Place {
  return useStore(place);
}

/** The address of a view, each part of it escaped: ids hold slashes. */
export function to(parts: readonly string[], query: Query = {}, hash = ""): string {
  const path = `/ui/${parts.map(encodeURIComponent).join("/")}`;
  return `${address(path, query)}${hash === "" ? "" : `#${hash}`}`;
}

export function go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (href === `${location.pathname}${location.search}${location.hash}`) return;
  if (replace) history.replaceState(history.state, "", href);
  else history.pushState(null, "", href);
  place.set(readPlace());
}

/** The same view with some of its query changed. */
export function withQuery(changes: Query, options: { readonly replace?: boolean } = {}): void {
  const { query, parts, hash } = place.get();
  const next: { [name: string]: string | number | undefined } = { ...Object.fromEntries(query), ...changes };
  go(to(parts, next, hash), options);
}

export function Link({
  to: href,
  children,
  ...rest
}: { readonly to: string; readonly children: ReactNode } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const open = (event: MouseEvent): void => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    event.preventDefault();
    go(href);
  };
  return (
    <a href={href} onClick={open} {...rest}>
      {children}
    </a>
  );
}

function readPlace(): Place {
  const path = location.pathname.replace(/^\/ui\/?|^\//, "");
  const parts = path.split("/").filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(location.search), hash: location.hash.slice(1) };
}

/** An address that somebody typed may hold anything. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
