// Where other tools keep their files, as seen at a version and a date: when tools move them, a row changes.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { FormatsRead } from "./importer.js";
import { nameIn, rootOf, type SeenFile, seeFiles, type WatchedRoot } from "./watch/seen-files.js";

/** What the places depend on. */
export interface Platform {
  readonly env: { readonly [name: string]: string | undefined };
  readonly home: string;
  readonly platform: string;
}

/** The folders in which programs of a system keep configuration and data. */
interface Folders {
  readonly home: string;
  readonly config: string;
  readonly data: string;
  /** A folder that a variable names; undefined if it is not set. */
  named(variable: string): string | undefined;
}

interface PlaceRow {
  /** The importer that reads it. */
  readonly tool: string;
  /** The formats of its files, where there are more. */
  readonly formats?: readonly string[];
  readonly folders: (folders: Folders) => readonly string[];
  /** The file patterns, relative to the folder. */
  readonly files: RegExp;
  /** The patterns whose files are one session each; none for a database. */
  readonly sessions: RegExp;
  /** When this was last verified. */
  readonly seen: { readonly version: string; readonly date: string };
}

/** Where editors made from VS Code keep what extensions store. */
function editorFolders({ home, config }: Folders): readonly string[] {
  const editors = ["Code", "Code - Insiders"].map((name) => join(config, name));
  return [...editors, join(home, ".vscode-server/data")].map((path) => join(path, "User"));
}

const ALL = /^/;
const NONE = /(?!)/;

const rows: readonly PlaceRow[] = [
  {
    tool: "claude-code",
    folders: ({ home, config, named }) => {
      const own = named("CLAUDE_CONFIG_DIR");
      return own === undefined
        ? [join(home, ".claude/projects"), join(config, "claude/projects")]
        : [`${own}/projects`];
    },
    files: /(?:\.jsonl|\.meta\.json)$/,
    sessions: /(?<!journal)\.jsonl$/,
    seen: { version: "2.1.274", date: "2026-11-16" },
  },
  {
    // Request and response bodies, if the tool was configured to keep them: file:<folder>.
    tool: "claude-code",
    folders: ({ named }) => (named("OTEL_LOG_RAW_API_BODIES") ?? "").match(/(?<=^file:).+/) ?? [],
    files: /(?:\.request\.json|\.response\.json|(?:^|\/)index\.jsonl)$/,
    sessions: NONE,
    seen: { version: "2.1.274", date: "2026-11-16" },
  },
  {
    tool: "codex",
    folders: ({ home, named }) => {
      const own = named("CODEX_HOME") ?? join(home, ".codex");
      return [join(own, "sessions"), join(own, "archived_sessions")];
    },
    files: /(?:^|\/)rollout-[^/]*\.jsonl(?:\.zst)?$/,
    sessions: ALL,
    seen: { version: "0.128.0", date: "2026-11-16" },
  },
  {
    tool: "copilot-cli",
    folders: ({ home, named }) => {
      const own = named("COPILOT_HOME") ?? join(home, ".copilot");
      return [join(own, "session-state"), join(own, "history-session-state")];
    },
    files: /^[^/]+(?:\/events)?\.jsonl$/,
    sessions: ALL,
    seen: { version: "1.0.102", date: "2026-11-19" },
  },
  {
    tool: "pi",
    folders: ({ home, named }) => [join(named("PI_CODING_AGENT_DIR") ?? join(home, ".pi/agent"), "sessions")],
    files: /\.jsonl$/,
    sessions: ALL,
    seen: { version: "session format 3", date: "2026-11-16" },
  },
  {
    // OpenClaw: the same sessions as pi's, in files before 2026.7.2 and in a database since.
    tool: "pi",
    folders: ({ home, named }) => [join(named("OPENCLAW_STATE_DIR") ?? join(home, ".openclaw"), "agents")],
    files: /^[^/]+\/(?:sessions\/[^/]+\.jsonl|(?:agent\/)?openclaw-agent\.sqlite)$/,
    sessions: /\.jsonl$/,
    seen: { version: "2026.7.2", date: "2026-11-16" },
  },
  {
    tool: "gemini-cli",
    folders: ({ home, named }) => {
      const own = named("GEMINI_CLI_HOME");
      return own === undefined ? [join(home, ".gemini/tmp")] : [join(own, ".gemini/tmp"), join(own, "tmp")];
    },
    files: /^[^/]+\/chats\/(?:.*\/)?[^/]+\.jsonl?$/,
    sessions: ALL,
    seen: { version: "0.34", date: "2026-11-16" },
  },
  {
    tool: "qwen-code",
    folders: ({ home }) => [join(home, ".qwen/projects")],
    files: /^[^/]+\/(?:chats\/[^/]+|subagents\/(?:.*\/)?agent-[^/]+)\.jsonl$/,
    sessions: ALL,
    seen: { version: "0.24.4", date: "2026-11-19" },
  },
  {
    tool: "vscode-copilot",
    folders: (folders) => editorFolders(folders).map((path) => join(path, "workspaceStorage")),
    files: /^[^/]+\/chatSessions\/[^/]+\.jsonl?$/,
    sessions: ALL,
    seen: { version: "not seen, from the source of 1.123", date: "2026-11-19" },
  },
  {
    // Of windows without a folder.
    tool: "vscode-copilot",
    folders: (folders) => editorFolders(folders).map((path) => join(path, "globalStorage/emptyWindowChatSessions")),
    files: /^[^/]+\.jsonl?$/,
    sessions: ALL,
    seen: { version: "not seen, from the source of 1.123", date: "2026-11-19" },
  },
  {
    tool: "cline",
    folders: ({ home, named }) => [join(named("CLINE_DATA_DIR") ?? join(home, ".cline/data"), "sessions")],
    // What a compaction left is read with the messages that it replaced.
    files: /^[^/]+\/[^/]+\.messages\.json$/,
    sessions: ALL,
    seen: { version: "3.0.65", date: "2026-11-19" },
  },
  {
    // Before version 3.0 of its program for the terminal, and in the editor.
    tool: "cline",
    folders: (folders) =>
      editorFolders(folders).map((path) => join(path, "globalStorage/saoudrizwan.claude-dev/tasks")),
    files: /^[^/]+\/api_conversation_history\.json$/,
    sessions: ALL,
    seen: { version: "not seen, from its source", date: "2026-11-19" },
  },
  {
    tool: "roo-code",
    // A task may show nothing that Cline's do not have.
    formats: ["roo-code", "cline"],
    folders: (folders) =>
      editorFolders(folders).map((path) => join(path, "globalStorage/rooveterinaryinc.roo-cline/tasks")),
    files: /^[^/]+\/api_conversation_history\.json$/,
    sessions: ALL,
    seen: { version: "not seen, from its source", date: "2026-11-19" },
  },
  {
    tool: "kiro-cli",
    folders: ({ home }) => [join(home, ".kiro/sessions/cli")],
    files: /^[^/]+\.jsonl$/,
    sessions: ALL,
    seen: { version: "files of June 2026", date: "2026-11-19" },
  },
  {
    // Whole conversations, by the folder they were in.
    tool: "kiro-cli",
    folders: ({ data, config }) => [join(data, "kiro-cli"), join(config, "kiro-cli")],
    files: /^data\.sqlite3$/,
    sessions: NONE,
    seen: { version: "not seen, a sample of its JSON", date: "2026-11-19" },
  },
  {
    tool: "goose",
    folders: ({ data, named }) => {
      const own = named("GOOSE_PATH_ROOT");
      return [join(own === undefined ? join(data, "goose") : join(own, "data"), "sessions")];
    },
    files: /^(?:sessions\.db|[^/]+\.jsonl)$/,
    sessions: /\.jsonl$/,
    seen: { version: "not seen, a sample of its tables", date: "2026-11-19" },
  },
  {
    tool: "kimi-code",
    folders: ({ home }) => [join(home, ".kimi-code/sessions")],
    files: /^[^/]+\/[^/]+\/agents\/[^/]+\/wire\.jsonl$/,
    sessions: /\/agents\/main\//,
    seen: { version: "not seen, protocol 1.1 from its tests", date: "2026-11-19" },
  },
  {
    tool: "kimi-cli",
    folders: ({ home }) => [join(home, ".kimi/sessions")],
    // A context that a compaction replaced is kept under another name; the wire has all of it.
    files: /^[^/]+\/[^/]+\/(?:context|wire)\.jsonl$/,
    sessions: /\/context\.jsonl$/,
    seen: { version: "not seen, protocol 1.3 from its tests", date: "2026-11-19" },
  },
  {
    tool: "zed",
    folders: ({ data, config }) => [join(data, "zed/threads"), join(config, "Zed/threads")],
    files: /^threads\.db$/,
    sessions: NONE,
    seen: { version: "not seen, a sample of its tables", date: "2026-11-19" },
  },
  {
    tool: "droid",
    folders: ({ home }) => [join(home, ".factory/sessions")],
    files: /^(?:[^/]+\/)?[^/]+\.jsonl$/,
    sessions: ALL,
    seen: { version: "not seen", date: "2026-11-19" },
  },
  {
    tool: "antigravity",
    folders: ({ home, named }) => [join(named("GEMINI_CLI_HOME") ?? home, ".gemini/antigravity-cli/brain")],
    files: /^[^/]+\/\.system_generated\/logs\/transcript_full\.jsonl$/,
    sessions: ALL,
    seen: { version: "first release", date: "2026-11-16" },
  },
  {
    tool: "opencode",
    folders: ({ data }) => [join(data, "opencode")],
    // At first each project had its own storage, with messages and parts below its sessions.
    files: /^(?:opencode[^/]*\.db|(?:project\/[^/]+\/)?storage\/(?:session|message|part)\/.*\.json)$/,
    sessions: /^(?:project\/[^/]+\/)?storage\/session\/(?!message\/|part\/)/,
    seen: { version: "2.0", date: "2026-11-16" },
  },
  {
    tool: "cursor",
    folders: ({ home, named }) => [join(named("CURSOR_CONFIG_DIR") ?? join(home, ".cursor"), "projects")],
    files: /^[^/]+\/agent-transcripts\/.*\.jsonl$/,
    sessions: ALL,
    seen: { version: "2026 agent transcripts", date: "2026-11-16" },
  },
  {
    tool: "llm",
    folders: ({ config, named }) => [named("LLM_USER_PATH") ?? join(config, "io.datasette.llm")],
    files: /^logs\.db$/,
    sessions: NONE,
    seen: { version: "0.32", date: "2026-11-16" },
  },
  {
    tool: "nanobot",
    folders: ({ home }) => [join(home, ".nanobot/workspace/sessions"), join(home, ".nanobot/sessions")],
    files: /\.jsonl$/,
    sessions: ALL,
    seen: { version: "0.1", date: "2026-11-16" },
  },
];

/** A folder in which a tool keeps its files, whether it exists or not. */
export interface KnownPlace extends WatchedRoot {
  readonly tool: string;
  readonly isSession: (name: string) => boolean;
  readonly seen: { readonly version: string; readonly date: string };
}

/** The content of a place, without reading the files. */
export interface FoundPlace {
  readonly tool: string;
  readonly path: string;
  readonly files: number;
  /** The number of sessions, by the number of files; absent for a database. */
  readonly sessions?: number;
  readonly bytes: number;
  /** When the first and the last of its files were written. */
  readonly oldest: string;
  readonly newest: string;
}

/** The places of this machine and user, each once, in the order of the table. */
export function knownPlaces({ env, home, platform }: Platform = thisPlatform()): readonly KnownPlace[] {
  const named = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const base = (name: string, fallback: string): string => {
    const given = named(name);
    // The XDG specification says to ignore relative paths.
    return given !== undefined && isAbsolute(given) ? given : join(home, fallback);
  };
  const isMac = platform === "darwin";
  const folders: Folders = {
    home,
    config: base("XDG_CONFIG_HOME", isMac ? "Library/Application Support" : ".config"),
    data: base("XDG_DATA_HOME", ".local/share"),
    named,
  };
  const places = rows.flatMap(({ tool, formats = [tool], folders: of, files, sessions, seen }) =>
    of(folders).map((path) => ({
      tool,
      path,
      seen,
      formats,
      matches: (name: string) => files.test(name),
      isSession: (name: string) => sessions.test(name),
    })),
  );
  return places.filter(({ path }, index) => places.findIndex((other) => other.path === path) === index);
}

/** The content of known places, and the paths of all files, oldest first. */
export async function findInPlaces(
  places: readonly KnownPlace[] = knownPlaces(),
): Promise<{ readonly found: readonly FoundPlace[]; readonly files: readonly string[] }> {
  const found: FoundPlace[] = [];
  const files: SeenFile[] = [];
  const known = new Set<string>();
  for (const place of places) {
    const here: SeenFile[] = [];
    for await (const file of seeFiles(place, () => undefined)) {
      // Two paths of the same file count once.
      if (!known.has(file.key)) here.push(file);
      known.add(file.key);
    }
    if (here.length === 0) continue;
    files.push(...here);
    const sessions = here.filter(({ path }) => place.isSession(nameIn(place, path))).length;
    const times = here.map(({ modified_ms }) => modified_ms).sort((a, b) => a - b);
    found.push({
      tool: place.tool,
      path: place.path,
      files: here.length,
      ...(sessions === 0 ? {} : { sessions }),
      bytes: here.reduce((sum, { bytes }) => sum + bytes, 0),
      oldest: new Date(times[0] ?? 0).toISOString(),
      newest: new Date(times.at(-1) ?? 0).toISOString(),
    });
  }
  return { found, files: files.sort((a, b) => a.modified_ms - b.modified_ms).map(({ path }) => path) };
}

/** The formats that are read of a file that nobody named: in a tool's own folder only that tool's. */
export function formatsOfFound(path: string, places: readonly WatchedRoot[]): FormatsRead {
  return rootOf(path, places)?.formats ?? "no_exports";
}

/** The environment variables that move places: all that the table reads. */
export function placeVariables(): readonly string[] {
  const asked = new Set<string>();
  const env = new Proxy({}, { get: (_, name) => void asked.add(String(name)) });
  knownPlaces({ ...thisPlatform(), env });
  return [...asked].sort();
}

function thisPlatform(): Platform {
  return { env: process.env, home: homedir(), platform: process.platform };
}
