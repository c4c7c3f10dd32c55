// The session that an argument names: by its id, or by a beginning of it that no other session has.
import type { Recorder, SessionSummary } from "../../index.js";
import { parseSessionId } from "../../model/ids.js";
import { Rejection } from "../../model/rejection.js";
import { Failed } from "./failures.js";
import { cleanLine } from "./text/terminal.js";

const PREFIX_CHARS_MIN = 4;
const SHOWN_MAX = 5;
const PAGE = 500;

export async function namedSession(recorder: Recorder, name: string): Promise<SessionSummary> {
  const found = await findSession(recorder, name);
  if (found !== undefined) return found;
  throw new Failed({
    code: "session_not_found",
    field: "session",
    message: `no session ${cleanLine(name, 200)}`,
    hint: `\`hansard sessions\` lists the ids; ${PREFIX_CHARS_MIN} characters of one are enough.`,
  });
}

/** The id that is meant. What names no session comes back as it was given: what it was given to says so. */
export async function sessionIdFor(recorder: Recorder, given: string): Promise<string> {
  // What is no id is refused there, too.
  if (parseSessionId(given) instanceof Rejection) return given;
  return (await findSession(recorder, given))?.session_id ?? given;
}

async function findSession(recorder: Recorder, name: string): Promise<SessionSummary | undefined> {
  const exact = await recorder.session(name).summary();
  if (exact !== undefined) return exact;
  const matches = name.length < PREFIX_CHARS_MIN ? [] : await sessionsBeginning(recorder, name);
  const [only] = matches;
  if (only === undefined || matches.length === 1) return only;
  const shown = matches
    .slice(0, SHOWN_MAX)
    .map(({ session_id, title }) => `${cleanLine(session_id)} ${cleanLine(title, 60)}`);
  const more = matches.length > SHOWN_MAX ? ` and ${matches.length - SHOWN_MAX} more` : "";
  throw new Failed({
    code: "session_ambiguous",
    field: "session",
    message: `${matches.length} sessions begin with ${cleanLine(name, 200)}: ${shown.map((one) => one.trim()).join(" · ")}${more}`,
    hint: "Give more of the id.",
  });
}

/** All sessions that pass; `partial` while the index is being rebuilt. */
export async function sessionsOf(
  recorder: Recorder,
  passes: (session: SessionSummary) => boolean = () => true,
): Promise<{ readonly sessions: readonly SessionSummary[]; readonly partial?: true }> {
  const sessions: SessionSummary[] = [];
  let partial: true | undefined;
  let cursor: string | null | undefined;
  do {
    const page = await recorder.listSessions({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    sessions.push(...page.sessions.filter(passes));
    partial ??= page.partial;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return { sessions, ...(partial === undefined ? {} : { partial }) };
}

async function sessionsBeginning(recorder: Recorder, id_prefix: string): Promise<readonly SessionSummary[]> {
  const { sessions: found } = await recorder.listSessions({ id_prefix, sort: "first", order: "asc", limit: PAGE });
  // A subagent's id begins with its parent's.
  const tops = found.filter(({ session_id }) => !found.some((other) => session_id.startsWith(`${other.session_id}/`)));
  return tops.length === 1 ? tops : found;
}
