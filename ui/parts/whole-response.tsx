// A response: its beginning as the session's list gives it, the rest when the reader asks for it.
import { useState } from "react";
import { getEntry, type Row } from "../api.js";
import { countOf } from "../words.js";
import { LongText } from "./long-text.js";

type Answered = Extract<Row, { readonly kind: "interaction" | "response" }>;

export function WholeResponse({ entry }: { readonly entry: Answered }) {
  const [whole, setWhole] = useState<string>();
  const [failure, setFailure] = useState("");
  const excerpt = entry.response_excerpt ?? "";
  const shown = whole ?? (excerpt || entry.response_summary);
  const missing = whole === undefined ? entry.response_chars - [...excerpt].length : 0;
  const open = (): void => {
    getEntry(entry.id).then(
      (answer) => setWhole("response" in answer ? answer.response : ""),
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      <LongText text={shown} />
      {missing > 0 && (
        <button type="button" className="plain" onClick={open}>
          Further: {countOf(missing)} more characters
        </button>
      )}
      {failure !== "" && <p role="alert">{failure}</p>}
    </>
  );
}
