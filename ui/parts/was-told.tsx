// Whether a text lay before the model: given, fallen out or never given, with the answers that tell.
import { type FormEvent, useState } from "react";
import { useAnswer } from "../answer.js";
import { askTold, type ToldAnswer } from "../api.js";
import { Link, to } from "../router.js";
import { plural } from "../words.js";
import { Failed } from "./notice.js";

export function WasTold({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState("");
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setAsked(String(new FormData(event.currentTarget).get("told") ?? "").trim());
  };
  return (
    <form className="was-told" aria-label="Was it told this?" onSubmit={ask}>
      <label>
        Was it told <input name="told" type="search" placeholder="a phrase" />
      </label>{" "}
      <button type="submit">Ask</button>
      {asked !== "" && <Verdict id={id} asked={asked} />}
    </form>
  );
}

function Verdict({ id, asked }: { readonly id: string; readonly asked: string }) {
  const { value, error, again } = useAnswer((signal) => askTold(id, asked, signal), [id, asked]);
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value === undefined) return null;
  const { verdict, given, last_given, first_given, why } = value;
  return (
    <div className="told" data-verdict={verdict} aria-live="polite">
      <p>
        <strong>{verdicts[verdict]}</strong>
        {why !== undefined && ` (${reasons[why]})`}
        {last_given !== undefined && (
          <>
            {" · "}
            <Link to={to(["entries", last_given.entry_id])}>last given for #{last_given.position}</Link>
          </>
        )}
        {first_given !== undefined && (
          <>
            {" · "}
            <Link to={to(["entries", first_given.entry_id])}>first given for #{first_given.position}</Link>
          </>
        )}
      </p>
      <ul className="given-messages">
        {given.map((place, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: places have an order and no names.
          <li key={at}>
            <span className="speaker">{place.role}</span>
            <span dir="auto">{place.snippet}</span>
            <span className="quiet">
              {plural(place.tokens_from_end, "token")} from the end
              {place.entry_id !== undefined && (
                <>
                  {" "}
                  <Link to={to(["entries", place.entry_id])}>entry</Link>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const verdicts = { given: "Given", fell_out: "Fell out", never: "Never given" } satisfies {
  readonly [verdict in ToldAnswer["verdict"]]: string;
};

const reasons = {
  clear: "cleared",
  consolidation: "compacted",
  window: "beyond the window",
  removed: "removed",
} satisfies { readonly [why in NonNullable<ToldAnswer["why"]>]: string };
