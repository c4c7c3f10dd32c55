// How much memory this process really uses: several test files share one, which grows as it likes while there is garbage.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What is in use once garbage is gone. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
