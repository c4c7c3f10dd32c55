// Titles of sessions, statements of memories, and the projects and clients that filters offer.
import { createContext, useContext, useMemo } from "react";
import { ApiError, auth, getMemory, listSessions, type Session, sessionEntries } from "./api.js";
import { firstLine, speakerOf, summaryOf, titleLine } from "./format.js";
import { useRequest } from "./requests.js";
import { createStore, useStore } from "./store.js";

const SESSIONS_MAX = 200;
/** Programs write several entries of their own before anyone speaks. */
const FIRST_ENTRIES = 20;
/** Titles are cut; the entry has the whole text. */
const TITLE_CHARS = 200;
const WORDS_CHARS = 160;

export interface Labels {
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly byId: ReadonlyMap<string, Session>;
}

/** The newest labels, for every component. */
export const LabelsContext = createContext<Labels>({ projects: [], clients: [], byId: new Map() });

export function useLabels(): Labels {
  return useContext(LabelsContext);
}

/** Loads the labels once per view; without a valid key there are none. */
export function useLoadedLabels(view: string): Labels {
  const { locked } = useStore(auth);
  const { value } = useRequest(
    async (signal) => (locked ? undefined : listSessions({ limit: SESSIONS_MAX }, signal)),
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

/** The first words of sessions without a title. */
const useFirstWords = createTextCache(async (id) => {
  const { entries } = await sessionEntries(id, { limit: FIRST_ENTRIES });
  const fromUsers = entries.filter((entry) => speakerOf(entry) === "user");
  const words = fromUsers.map((entry) => titleLine(summaryOf(entry), WORDS_CHARS));
  // A command such as `/mode` says little, so it is used only if there is nothing else.
  return words.find((line) => /\S\s+\S/.test(line)) ?? words[0] ?? "";
});

/** A session's title, else its first words, else its id. */
export function useTitle({ session_id, title }: Pick<Session, "session_id" | "title">): string {
  const words = useFirstWords(title === "" ? session_id : "");
  return title === "" ? words || session_id : titleLine(title, TITLE_CHARS);
}

/** A memory's statement; its id until that is loaded, and if the memory is gone. */
export function useStatement(id: string): string {
  return useMemoryText(id) || id;
}

const useMemoryText = createTextCache(async (id) => firstLine((await getMemory(id)).content, TITLE_CHARS));

/**
 * Fetches missing texts one at a time, each once, so a long list appears at once and does not flood the server. The
 * returned hook gives the text of an id: undefined until loaded, empty if there is none.
 */
function createTextCache(ask: (id: string) => Promise<string>): (id: string) => string | undefined {
  const textById = createStore<ReadonlyMap<string, string>>(new Map());
  const asked = new Set<string>();
  let underWay: Promise<void> = Promise.resolve();
  const fetchText = (id: string): void => {
    if (asked.has(id)) return;
    asked.add(id);
    underWay = underWay.then(async () => {
      try {
        textById.set(new Map([...textById.get(), [id, await ask(id)]]));
      } catch (error) {
        // Remember that it is gone, or every render would ask again.
        if (error instanceof ApiError && error.status === 404) textById.set(new Map([...textById.get(), [id, ""]]));
        else asked.delete(id);
      }
    });
  };
  return function useWords(id) {
    const words = useStore(textById).get(id);
    if (words === undefined && id !== "") fetchText(id);
    return words;
  };
}
