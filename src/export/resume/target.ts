// What a coding agent must be able to do with a session that is written back: the row that each tool fills in.
import { hash } from "node:crypto";
import type { JsonObject } from "../../model/json.js";
import type { Conversation } from "./conversation.js";

export const resumeTools = ["claude-code", "codex", "pi"] as const;
export type ResumeTool = (typeof resumeTools)[number];

/** What depends on the machine. */
export interface ResumePlace {
  /** The folder that the agent is to work in, with links resolved. */
  readonly cwd: string;
  /** The tool's own folder. */
  readonly home: string;
}

export interface ResumeTarget {
  readonly tool: ResumeTool;
  /** Its folder: the variable that moves it, and where it is below the home folder otherwise. */
  readonly home: { readonly variable: string; readonly folder: string };
  /** The path of the file below its folder. */
  readonly path: (session: WrittenSession, place: ResumePlace) => string;
  /** Where else a file of the same session may be, below its folder, and by which name. */
  readonly others: { readonly folders: readonly string[]; readonly matches: (name: string, id: string) => boolean };
  readonly lines: (session: WrittenSession, place: ResumePlace) => Iterable<JsonObject>;
  /** What continues it, from the folder. */
  readonly command: (id: string) => string;
}

export interface WrittenSession {
  readonly conversation: Conversation;
  /** The tool's own id of the session. */
  readonly id: string;
  /** Whether it is the tool that the session came from, under the same id. */
  readonly is_own: boolean;
  /** When it began. */
  readonly began_ms: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The session as a tool will have it: under its own id where it has one, or else under one that follows from it. */
export function writtenSession(conversation: Conversation, tool: ResumeTool): WrittenSession {
  const { session_id, steps } = conversation;
  const is_own = conversation.tool === tool && UUID.test(session_id);
  const first = steps[0];
  const began = first?.entry.created_at ?? "1970-01-01T00:00:00.000Z";
  const id = is_own ? session_id : uuidOf(["session", tool, session_id]);
  return { conversation, id, is_own, began_ms: Date.parse(began) };
}

/** A UUID that is the same for the same parts. */
export function uuidOf(parts: readonly string[]): string {
  const hex = hash("sha256", JSON.stringify(["hansard resume", ...parts]), "hex");
  // Version 8: of a form of one's own.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The tool's own id of an entry that came from it; undefined for any other. */
export function nativeId(tool: ResumeTool, { id }: { readonly id: string }): string | undefined {
  return id.startsWith(`${tool}:`) ? id.slice(tool.length + 1) : undefined;
}

export function isUuid(text: string | undefined): text is string {
  return text !== undefined && UUID.test(text);
}

/** Times that never run backwards: tools take the line with the latest one for the newest. */
export class RisingTimes {
  #last = 0;

  of(created_at: string): { readonly ms: number; readonly iso: string } {
    this.#last = Math.max(this.#last, Date.parse(created_at));
    return { ms: this.#last, iso: new Date(this.#last).toISOString() };
  }
}
