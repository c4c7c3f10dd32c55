// What is known of sessions as a whole: their titles, and the projects and clients that filters offer.
import { useMemo } from "react";
import { type Answer, useAnswer } from "./answer.js";
import { listSessions, type Session, type SessionPage, sessionEntries } from "./api.js";
import { createStore, useStore } from "./store.js";
import { firstLine, gistOf, speakerOf } from "./words.js";

const NEWEST = 200;
/** Programs write several records of their own before anybody speaks. */
const FIRST = 20;
/** A title is read at a glance; the entry that gave it has all of it. */
const TITLE_CHARS = 200;

export interface Labels {
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly byId: ReadonlyMap<string, Session>;
}

export function useLabels(): Labels {
  const { value }: Answer<SessionPage> = useAnswer((signal) => listSessions({ limit: NEWEST }, signal), []);
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

/** The first words of sessions that nobody gave a title, once they were looked up. */
const firstWords = createStore<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
let underWay: Promise<void> = Promise.resolve();

/** A session by its title, or the first words in it, or its id until those are known. */
export function useTitle(session: Pick<Session, "session_id" | "title">): string {
  const words = useStore(firstWords).get(session.session_id);
  if (session.title !== "") return firstLine(session.title, TITLE_CHARS);
  if (words === undefined && session.session_id !== "") lookUp(session.session_id);
  return words === undefined || words === "" ? session.session_id : words;
}

/** One after the other: a list of many is shown long before, and asks for nothing else. */
function lookUp(id: string): void {
  if (asked.has(id)) return;
  asked.add(id);
  underWay = underWay.then(async () => {
    try {
      const { entries } = await sessionEntries(id, { limit: FIRST });
      const said = entries.find((entry) => speakerOf(entry) === "user" || entry.kind === "interaction");
      const words = firstLine(said === undefined ? "" : gistOf(said), 90);
      firstWords.set(new Map([...firstWords.get(), [id, words]]));
    } catch {
      asked.delete(id);
    }
  });
}
