// A list of the index as a whole, page by page.
import type { RowKey } from "./port.js";

/** All that a list has, in its order. It holds still for nobody: what comes meanwhile may be among it or not. */
export async function* rowPages(
  list: (place: { readonly limit: number; readonly after?: RowKey }) => Promise<readonly RowKey[]>,
  limit: number,
): AsyncGenerator<readonly RowKey[]> {
  for (let after: RowKey | undefined; ; ) {
    const page = await list({ limit, ...(after === undefined ? {} : { after }) });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1);
  }
}
