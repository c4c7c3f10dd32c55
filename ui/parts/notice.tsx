// Notices in place of content: loading, failed, empty.
import type { ReactNode } from "react";
import { ApiError, NetworkError } from "../api.js";
import { toSentence } from "../format.js";

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="quiet loading" role="status">
      {what} …
    </p>
  );
}

/** What happened, what to do, and a button to try again. An unreachable server is reported once, in the frame. */
export function Failed({ error, reload }: { readonly error: Error; readonly reload: () => void }) {
  if (error instanceof NetworkError) return null;
  return (
    <div className="failed" role="alert">
      <p>{toSentence(error.message)}</p>
      {error instanceof ApiError && error.hint !== "" && (
        <p className="quiet">
          <WithCode text={error.hint} />
        </p>
      )}
      {!(error instanceof ApiError && error.status === 404) && (
        <button type="button" onClick={reload}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A message of the server, in which commands stand between backticks. */
export function WithCode({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no id.
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
