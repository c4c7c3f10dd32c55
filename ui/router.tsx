// Routes below /ui/, so back, forward and shared links work.
import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from "react";
import { buildUrl, type QueryParameters } from "./api.js";
import { createStore, useStore } from "./store.js";

export interface Route {
  /** The path below /ui, split and decoded: `["sessions", "a/b"]`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly hash: string;
}

const place = createStore<Route>(readRoute());

addEventListener("popstate", () => place.set(readRoute()));

export function useRoute(): Route {
  return useStore(place);
}

/** The URL of a view. Every part is escaped, because ids may contain slashes. */
export function to(parts: readonly string[], query: QueryParameters = {}, hash = ""): string {
  const path = `/ui/${parts.map(encodeURIComponent).join("/")}`;
  return `${buildUrl(path, query)}${hash === "" ? "" : `#${hash}`}`;
}

export function navigate(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (href === `${location.pathname}${location.search}${location.hash}`) return;
  if (replace) history.replaceState(history.state, "", href);
  else history.pushState(null, "", href);
  place.set(readRoute());
}

/** Changes query parameters of the current view. */
export function setQuery(changes: QueryParameters, options: { readonly replace?: boolean } = {}): void {
  const { query, parts, hash } = place.get();
  const next: { [name: string]: string | number | undefined } = { ...Object.fromEntries(query), ...changes };
  navigate(to(parts, next, hash), options);
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
    navigate(href);
  };
  return (
    <a href={href} onClick={open} {...rest}>
      {children}
    </a>
  );
}

function readRoute(): Route {
  const path = location.pathname.replace(/^\/ui\/?|^\//, "");
  const parts = path.split("/").filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(location.search), hash: location.hash.slice(1) };
}

/** A typed address may contain invalid escapes. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
