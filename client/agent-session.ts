// Which session and user a model call belongs to, as programs say it in headers and metadata.

import { jsonObjectIn } from "./server-errors.js";

/** Claude Code's, Codex's, OpenCode's; others follow one of them. */
const SESSION_HEADERS = ["x-claude-code-session-id", "session-id", "x-session-id"] as const;
/** In Claude Code's metadata: JSON, or in older versions a name made of several ids. */
const IN_USER_ID = /(?:_session_|"session_id"\s*:\s*")([0-9A-Za-z-]+)/;
/** No agent has longer ids, and an entry takes no longer ones. */
const ID_CHARS_MAX = 128;
/** The metadata of a request, wherever it stands among its messages; an object in it ends it. */
const METADATA = /"metadata"\s*:\s*(\{(?:[^{}"]|"(?:[^"\\]|\\.){0,2000}")*\})/g;
const LABEL_CHARS_MAX = 128;

export interface AgentLabels {
  readonly session_id?: string;
  readonly user_id?: string;
}

/** What the headers of a request say; empty where they name no session. */
export function labelsInHeaders(header: (name: string) => string | null | undefined): AgentLabels {
  for (const name of SESSION_HEADERS) {
    const session_id = header(name) ?? "";
    if (isId(session_id)) return { session_id };
  }
  return {};
}

/** What the metadata in its body says: of Claude Code, which writes its session there, or of any program. */
export function labelsInBody(request: string): AgentLabels {
  for (const [, written = ""] of request.matchAll(METADATA)) {
    const { user_id: user, session_id: named } = jsonObjectIn(written);
    const session_id = IN_USER_ID.exec(String(user ?? ""))?.[1] ?? String(named ?? "");
    const isUser =
      typeof user === "string" && user.length <= LABEL_CHARS_MAX && !IN_USER_ID.test(user) && PLAIN.test(user);
    const labels = { ...(isId(session_id) ? { session_id } : {}), ...(isUser ? { user_id: user } : {}) };
    if (Object.keys(labels).length > 0) return labels;
  }
  return {};
}

/** A label that the server takes, and not a structure. */
const PLAIN = /^[^\p{Cc}\p{Cs}{}]*[^\p{Cc}\p{Cs}{}-][^\p{Cc}\p{Cs}{}]*$/u;

function isId(text: string): boolean {
  return text.length <= ID_CHARS_MAX && /^[\w.:-]+$/.test(text) && /\w/.test(text);
}
