// Threads that can wait give way to capture where processors are scarce.
import { setPriority } from "node:os";

const NICENESS = 10;

/** Called within the thread. */
export function giveWay(): void {
  // On Linux a thread has a priority of its own; elsewhere this would be the whole program's.
  if (process.platform === "linux") setPriority(NICENESS);
}
