// The search box of every view: searches while one types and completes filters.
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { getUsage, reflect } from "../api.js";
import { useLabels } from "../labels.js";
import { useRequest } from "../requests.js";
import { navigate, to, useRoute } from "../router.js";
import { createStore } from "../store.js";
import { completionsOf, type FilterValues } from "./completion.js";

/** The submitted text whose first result gets the focus once it is there. */
export const submitted = createStore("");

/** How many of the newest entries to read for tool names. */
const TOOL_SAMPLE = 5_000;

/** Values for completing filters; tools and models are fetched when such a filter is typed. */
function useFilterValues(text: string): FilterValues {
  const { projects, clients } = useLabels();
  const named = /(?:^|\s)(tool|model):\S*$/.exec(text)?.[1];
  const { value = {} } = useRequest<FilterValues>(
    async (signal) => {
      if (named === "tool")
        return { tool: (await reflect({ limit: TOOL_SAMPLE }, signal)).tools.map(({ tool }) => tool) };
      if (named !== "model") return {};
      const { rows } = await getUsage({ by: "model" }, signal);
      return { model: rows.flatMap(({ model = "" }) => (model === "" ? [] : [model])) };
    },
    [named],
  );
  return { project: projects, client: clients, ...value };
}

export function SearchBox() {
  const { parts, query } = useRoute();
  const isSearching = parts[0] === "search";
  const asked = isSearching ? (query.get("q") ?? "") : "";
  const [text, setText] = useState(asked);
  const [isTyping, setTyping] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const filterValues = useFilterValues(text);
  const own = useRef(asked);
  // Follows the address only if something other than this box changed it.
  useEffect(() => {
    if (asked === own.current) return;
    own.current = asked;
    setText(asked);
  }, [asked]);
  const search = (q: string, replace: boolean): void => {
    own.current = q;
    navigate(to(["search"], { q }), { replace });
  };
  const change = (q: string): void => {
    setText(q);
    setTyping(true);
    setChosen(-1);
    if (isSearching || q.trim().length > 1) search(q, isSearching);
  };
  const offered = isTyping ? completionsOf(text, filterValues) : [];
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
      // Escape would clear a search field.
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
            // `onMouseDown` comes before the blur that hides the list.
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
