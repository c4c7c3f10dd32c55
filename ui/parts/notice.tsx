// What is said where there is nothing to show: because it is on its way, because it failed, because it is not there.
import type { ReactNode } from "react";
import { Away, Refused } from "../api.js";
import { sentence } from "../words.js";

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="quiet loading" role="status">
      {what} …
    </p>
  );
}

/** What happened, what to do, and one button, unless nothing is there. A server that is away is told of once, above all. */
export function Failed({ error, again }: { readonly error: Error; readonly again: () => void }) {
  if (error instanceof Away) return null;
  return (
    <div className="failed" role="alert">
      <p>{sentence(error.message)}</p>
      {error instanceof Refused && error.hint !== "" && (
        <p className="quiet">
          <WithCode text={error.hint} />
        </p>
      )}
      {!(error instanceof Refused && error.status === 404) && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** What the server said, in which `commands` stand between backticks. */
export function WithCode({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other name.
  return text.split("`").map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece));
}

export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="empty column">
      <h1>{title}</h1>
      {children}
    </section>
  );
}
