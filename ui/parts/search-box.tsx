// The search box of every view: answers as one types, and completes filters.
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useAnswer } from "../answer.js";
import { getUsage, reflect } from "../api.js";
import { useLabels } from "../labels.js";
import { go, to, usePlace } from "../router.js";
import { createStore } from "../store.js";
import { completionsOf, type Known } from "./completion.js";

/** The text whose results the reader wants to go to, until they are there. */
export const submitted = createStore("");

/** So many of the newest entries are looked through for the tools that they name. */
const TOOLS_OF = 5_000;

/** What there is for filters to name; tools and models are asked for once somebody types such a filter. */
function useKnown(text: string): Known {
  const { projects, clients } = useLabels();
  const named = /(?:^|\s)(tool|model):\S*$/.exec(text)?.[1];
  const { value = {} } = useAnswer<Known>(
    async (signal) => {
      if (named === "tool") return { tool: (await reflect({ limit: TOOLS_OF }, signal)).tools.map(({ tool }) => tool) };
      if (named !== "model") return {};
      const { rows } = await getUsage({ by: "model" }, signal);
      return { model: rows.flatMap(({ model = "" }) => (model === "" ? [] : [model])) };
    },
    [named],
  );
  return { project: projects, client: clients, ...value };
}

export function SearchBox() {
  const { parts, query } = usePlace();
  const isSearching = parts[0] === "search";
  const asked = isSearching ? (query.get("q") ?? "") : "";
  const [text, setText] = useState(asked);
  const [isTyping, setTyping] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const known = useKnown(text);
  const own = useRef(asked);
  // The address changes the box only where somebody else changed the address.
  useEffect(() => {
    if (asked === own.current) return;
    own.current = asked;
    setText(asked);
  }, [asked]);
  const search = (q: string, replace: boolean): void => {
    own.current = q;
    go(to(["search"], { q }), { replace });
  };
  const change = (q: string): void => {
    setText(q);
    setTyping(true);
    setChosen(-1);
    if (isSearching || q.trim().length > 1) search(q, isSearching);
  };
  const offered = isTyping ? completionsOf(text, known) : [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const completion = offered[chosen];
    if (completion !== undefined) {
      change(completion.text);
      return;
    }
    setTyping(false);
    search(text, isSearching);
    submitted.set(text);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && offered.length > 0) {
      event.preventDefault();
      setChosen((chosen + by + offered.length) % offered.length);
    } else if (event.key === "Tab" && offered.length === 1 && offered[0] !== undefined) {
      event.preventDefault();
      change(offered[0].text);
    } else if (event.key === "Escape") {
      // A field for searching would empty itself.
      event.preventDefault();
      setTyping(false);
      event.currentTarget.blur();
    }
  };
  return (
    <form className="search-box" onSubmit={submit}>
      <input
        id="search"
        type="search"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls="completions"
        aria-activedescendant={chosen === -1 ? undefined : `completion-${chosen}`}
        aria-label="Search the record"
        placeholder="Search the record"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => change(target.value)}
        onKeyDown={press}
        onBlur={() => setTyping(false)}
      />
      <kbd>/</kbd>
      <div id="completions" role="listbox" aria-label="Filters" className="completions" hidden={offered.length === 0}>
        {offered.map((completion, at) => (
          <div
            key={completion.word}
            id={`completion-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            // Before the box loses the focus, and with it the list.
            onMouseDown={(event) => {
              event.preventDefault();
              change(completion.text);
            }}
          >
            {completion.word}
          </div>
        ))}
      </div>
    </form>
  );
}
