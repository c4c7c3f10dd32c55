// Words that lists lack and rows ask for one by one: each is asked for once, one after the other, so that a list of many is
// shown long before and asks for nothing else.
import { Refused } from "./api.js";
import { createStore, useStore } from "./store.js";

/** The words of an id: undefined until they are known, empty where there are none. */
export function createLookUp(ask: (id: string) => Promise<string>): (id: string) => string | undefined {
  const known = createStore<ReadonlyMap<string, string>>(new Map());
  const asked = new Set<string>();
  let underWay: Promise<void> = Promise.resolve();
  const lookUp = (id: string): void => {
    if (asked.has(id)) return;
    asked.add(id);
    underWay = underWay.then(async () => {
      try {
        known.set(new Map([...known.get(), [id, await ask(id)]]));
      } catch (error) {
        // What is gone has no words any more, and would else be asked for whenever its row is drawn.
        if (error instanceof Refused && error.status === 404) known.set(new Map([...known.get(), [id, ""]]));
        else asked.delete(id);
      }
    });
  };
  return function useWords(id) {
    const words = useStore(known).get(id);
    if (words === undefined && id !== "") lookUp(id);
    return words;
  };
}
