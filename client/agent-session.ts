// Which session of an agent a model call belongs to, as coding agents say it in headers and metadata.

/** Claude Code's, Codex's, OpenCode's; others follow one of them. */
const SESSION_HEADERS = ["x-claude-code-session-id", "session-id", "x-session-id"] as const;
/** In Claude Code's metadata: JSON, or in older versions a name made of several ids. */
const IN_USER_ID = /(?:_session_|"session_id"\s*:\s*")([0-9A-Za-z-]+)/;
/** No agent has longer ids, and an entry takes no longer ones. */
const ID_CHARS_MAX = 128;
/** Metadata is near one of the ends of a request, whose messages may be megabytes. */
const METADATA = /"metadata"\s*:\s*\{\s*"user_id"\s*:\s*("(?:[^"\\]|\\.){1,2000}")/;

export interface AgentLabels {
  readonly session_id?: string;
}

/** What the headers of a request say; empty where they name no session. */
export function labelsInHeaders(header: (name: string) => string | null | undefined): AgentLabels {
  for (const name of SESSION_HEADERS) {
    const session_id = header(name) ?? "";
    if (isId(session_id)) return { session_id };
  }
  return {};
}

/** What the metadata in its body says, which is Claude Code's. */
export function labelsInBody(request: string): AgentLabels {
  const written = METADATA.exec(request)?.[1];
  if (written === undefined) return {};
  let user = "";
  try {
    user = String(JSON.parse(written));
  } catch {
    return {};
  }
  const session_id = IN_USER_ID.exec(user)?.[1] ?? "";
  return isId(session_id) ? { session_id } : {};
}

function isId(text: string): boolean {
  return text.length <= ID_CHARS_MAX && /^[\w.:-]+$/.test(text) && /\w/.test(text);
}
