// Titles of sessions, statements of memories, and the projects and clients that filters offer.
import { createContext, useContext, useMemo } from "react";
import { ApiError, auth, getMemory, getSession, listSessions, type Session } from "./api.js";
import { firstLine, formatWhen, titleLine } from "./format.js";
import { useRequest } from "./requests.js";
import { createStore, useStore } from "./store.js";

const SESSIONS_MAX = 200;
/** Titles are cut; the entry has the whole text. */
const TITLE_CHARS = 200;

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

/** As the server names it; a session without any words is named by its time. */
export function sessionTitle({ title, first_at }: Pick<Session, "title" | "first_at">): string {
  return title === "" ? `Untitled, ${formatWhen(first_at)}` : titleLine(title, TITLE_CHARS);
}

const useLoadedTitle = createTextCache(async (id) => sessionTitle(await getSession(id)));

/** The title of a session by its id; the id until it is loaded. */
export function useTitle(session_id: string): string {
  const known = useLabels().byId.get(session_id);
  const loaded = useLoadedTitle(known === undefined ? session_id : "");
  return known === undefined ? loaded || session_id : sessionTitle(known);
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
