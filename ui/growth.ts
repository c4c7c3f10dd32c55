// The newest position that the server has reported: views of a moment are read again when the record has grown.
import { createStore, useStore } from "./store.js";

const newest = createStore(0);

/** 0 until the server has answered, and for an empty record. */
export function useNewestPosition(): number {
  return useStore(newest);
}

export function setNewestPosition(position: number): void {
  newest.set(position);
}
