// What the reader thinks of an answer: a feedback entry like any other.
import { useState } from "react";
import { useMay } from "../access.js";
import { append } from "../api.js";

export function Thumbs({ id, score }: { readonly id: string; readonly score: number | undefined }) {
  const may = useMay("capture");
  const [given, setGiven] = useState<number>();
  const [failure, setFailure] = useState("");
  const now = given ?? score;
  const give = (value: 1 | -1): void => {
    setGiven(value);
    setFailure("");
    append({ kind: "feedback", entry_id: id, score: value }).catch((error: Error) => {
      setGiven(undefined);
      setFailure(error.message);
    });
  };
  if (!may) return null;
  return (
    <span className="thumbs">
      <button type="button" className="plain" aria-pressed={now !== undefined && now > 0} onClick={() => give(1)}>
        Good answer
      </button>
      <button type="button" className="plain" aria-pressed={now !== undefined && now < 0} onClick={() => give(-1)}>
        Bad answer
      </button>
      {failure !== "" && <span role="alert">{failure}</span>}
    </span>
  );
}
