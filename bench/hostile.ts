// What hostile load does to others: one request that is cheap to send, few readers of wide entries, many writers beside
// searches. Each figure is of a server in a process of its own.
import type { Measured, Suite, SuiteOptions } from "./figures.js";
import { besideRequests } from "./hostile-requests.js";
import { besideWriters } from "./hostile-searches.js";

export const hostile: Suite = {
  name: "hostile",
  about: "small captures beside hostile requests and readers of wide entries, and searches beside busy writers",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    return [...(await besideRequests(options)), ...(await besideWriters(options))];
  },
};
