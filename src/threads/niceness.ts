// Threads that can wait give way to capture where processors are scarce.
import { getPriority, setPriority } from "node:os";

const NICENESS = 10;

/** Called within the thread. */
export function giveWay(): void {
  // On Linux a thread has a priority of its own; elsewhere this would be the whole program's.
  // Whoever runs with a lower one already keeps it: only a privileged program may raise it, and none should.
  if (process.platform === "linux") setPriority(Math.max(getPriority(), NICENESS));
}
