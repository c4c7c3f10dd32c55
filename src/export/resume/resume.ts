// Writes a session back in a coding agent's own format. To add a tool, add its file and a row here.
import type { JsonObject } from "../../model/json.js";
import { claudeCodeTarget } from "./claude-code.js";
import { codexTarget } from "./codex.js";
import type { Conversation } from "./conversation.js";
import { piTarget } from "./pi.js";
import { type ResumePlace, type ResumeTarget, type ResumeTool, writtenSession } from "./target.js";

const targets: { readonly [T in ResumeTool]: ResumeTarget } = {
  "claude-code": claudeCodeTarget,
  codex: codexTarget,
  pi: piTarget,
};

export function resumeTarget(tool: ResumeTool): ResumeTarget {
  return targets[tool];
}

/** A file as it will be written. */
export interface ResumePlan {
  readonly id: string;
  /** Below the tool's own folder. */
  readonly path: string;
  readonly lines: readonly string[];
  readonly messages: number;
  readonly compactions: number;
  readonly command: string;
}

/** What would be written; counts in the conversation what is left out. */
export function planResume(conversation: Conversation, tool: ResumeTool, place: ResumePlace): ResumePlan {
  const target = targets[tool];
  const session = writtenSession(conversation, tool);
  const lines: string[] = [];
  for (const line of target.lines(session, place)) lines.push(lineText(line));
  return {
    id: session.id,
    path: target.path(session, place),
    lines,
    messages: conversation.steps.filter(({ is }) => is === "said").length - conversation.left_out.injected,
    compactions: conversation.steps.filter(({ is }) => is === "compaction").length,
    command: target.command(session.id),
  };
}

function lineText(line: JsonObject): string {
  return `${JSON.stringify(line)}\n`;
}
