// What is known of sessions as a whole: their titles, and the projects and clients that filters offer.
import { createContext, useContext, useMemo } from "react";
import { useAnswer } from "./answer.js";
import { door, getMemory, listSessions, type Session, sessionEntries } from "./api.js";
import { createLookUp } from "./look-up.js";
import { useStore } from "./store.js";
import { firstLine, gistOf, speakerOf, titleLine } from "./words.js";

const NEWEST = 200;
/** Programs write several records of their own before anybody speaks. */
const FIRST = 20;
/** A title is read at a glance; the entry that gave it has all of it. */
const TITLE_CHARS = 200;
const WORDS_CHARS = 160;

export interface Labels {
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly byId: ReadonlyMap<string, Session>;
}

/** What was learned last, for every part of the page. */
export const LabelsKnown = createContext<Labels>({ projects: [], clients: [], byId: new Map() });

export function useLabels(): Labels {
  return useContext(LabelsKnown);
}

/** Asked once for the whole page, with each view anew; behind a locked door there is nothing to know. */
export function useLabelsAsked(view: string): Labels {
  const { locked } = useStore(door);
  const { value } = useAnswer(
    async (signal) => (locked ? undefined : listSessions({ limit: NEWEST }, signal)),
    [locked, view],
  );
  return useMemo(() => {
    const sessions = value?.sessions ?? [];
    const sorted = (labels: readonly string[]) => [...new Set(labels)].filter((label) => label !== "").sort();
    return {
      projects: sorted(sessions.flatMap(({ projects }) => projects)),
      clients: sorted(sessions.flatMap(({ clients }) => clients)),
      byId: new Map(sessions.map((session) => [session.session_id, session])),
    };
  }, [value]);
}

/** The first words of sessions that nobody gave a title. */
const useFirstWords = createLookUp(async (id) => {
  const { entries } = await sessionEntries(id, { limit: FIRST });
  const said = entries.filter((entry) => speakerOf(entry) === "user" || entry.kind === "interaction");
  const words = said.map((entry) => titleLine(gistOf(entry), WORDS_CHARS));
  // A command such as `/mode` says nothing of what a session is about, unless nothing else is said in it.
  return words.find((line) => /\S\s+\S/.test(line)) ?? words[0] ?? "";
});

/** A session by its title, or the first words in it, or its id until those are known. */
export function useTitle({ session_id, title }: Pick<Session, "session_id" | "title">): string {
  const words = useFirstWords(title === "" ? session_id : "");
  return title === "" ? words || session_id : titleLine(title, TITLE_CHARS);
}

/** What a memory says, once that is known; until then, and where it is gone, its id. */
export function useStatement(id: string): string {
  return useStatementWords(id) || id;
}

const useStatementWords = createLookUp(async (id) => firstLine((await getMemory(id)).content, TITLE_CHARS));
