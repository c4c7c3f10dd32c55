// Lists of sessions over an index, the latest first, as the suites of the index ask for them.
import type { EntryIndex } from "../../../src/index/port.js";
import { SessionTable } from "../../../src/index/session-table.js";
import { SessionLists, type SessionPage, type SessionsReached } from "../../../src/sessions/session-list.js";
import type { SessionFilter } from "../../../src/sessions/session-query.js";

const none = { tokens: () => 0, cost: () => 0 };

export function listSessions(
  index: EntryIndex,
  query: { readonly filter: SessionFilter; readonly limit: number; readonly after?: SessionsReached },
): Promise<SessionPage> {
  const lists = new SessionLists({ index, table: new SessionTable(index) });
  return lists.list({ ...query, sort: "last", order: "desc", fingerprint: "" }, none);
}
