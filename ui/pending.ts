// How many candidates wait for a person: shown beside Review, and told by whoever learns of it first.
import { createStore } from "./store.js";

export const pendingCount = createStore(0);
