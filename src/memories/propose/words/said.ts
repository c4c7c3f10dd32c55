// What the rules on words read of an entry, short enough to pass from the thread that reads to the one that learns: who said it, whether
// the session is a person's, and the sentences that were found.

import type { Entry } from "../../../model/entry.js";
import { isJsonObject } from "../../../model/json.js";
import type { Proposal } from "../../../model/memory.js";
import { isFromUser, isInjected } from "../../../model/roles.js";
import { isShellTool } from "../../../model/shell-command.js";
import type { PassedOverWords } from "../../review/memory-answers.js";
import type { Stems } from "../../text/stems.js";
import { pathIn } from "../commands/runs.js";
import { readByRules, type WordsFinding } from "../rules/rules.js";

/** A finding with the stems by which it is compared. */
export interface SaidFinding extends WordsFinding {
  readonly stems: readonly string[];
}

interface Said {
  readonly is: "said";
  readonly session_id: string;
  readonly project: string;
  /** Whether a person typed it. */
  readonly is_typed: boolean;
  readonly findings: readonly SaidFinding[];
}

/** What else tells what a session is: a call that touches files or a shell, or who runs it. */
interface SessionMark {
  readonly is: "mark";
  readonly session_id: string;
  readonly works_on_files?: true;
  /** No person types into it: a subagent's, or that of a script. */
  readonly is_unattended?: true;
}

export type WordsStep = Said | SessionMark;

/** A subagent's session: its user messages were written by another agent. */
const OF_SUBAGENT = /\/(?:agent-|sidechain)[^/]*$/;
/** Programs that run an agent without a person. */
const UNATTENDED = /(?:^|[_-])(?:exec|sdk|print|headless|batch|ci)(?:$|[_-])/i;

interface ReadWords {
  /** Undefined for an entry that says nothing to these rules. */
  readonly step: WordsStep | undefined;
  readonly decision?: Proposal;
  readonly passed_over: readonly PassedOverWords[];
}

export function wordsIn(entry: Entry, stems: Stems): ReadWords {
  const { decision, findings, passed_over } = readByRules(entry);
  return { step: stepOf(entry, findings, stems), passed_over, ...(decision === undefined ? {} : { decision }) };
}

function stepOf(entry: Entry, findings: readonly WordsFinding[], stems: Stems): WordsStep | undefined {
  const { session_id, project } = entry;
  if (entry.kind === "tool_call") {
    const touches = isShellTool(entry.tool) || pathIn(entry.args) !== undefined;
    return touches ? { is: "mark", session_id, works_on_files: true } : undefined;
  }
  if (entry.kind === "session_info") {
    return isUnattended(entry) ? { is: "mark", session_id, is_unattended: true } : undefined;
  }
  const is_typed = isFromUser(entry) && !isInjected(entry);
  if (!is_typed && findings.length === 0) return undefined;
  const known = findings.map((finding) => ({ ...finding, stems: [...stems.of(finding.content)] }));
  return { is: "said", session_id, project, is_typed, findings: known };
}

/** Whether another agent or a script wrote what stands as a user's words. */
export function isSubagent(session_id: string): boolean {
  return OF_SUBAGENT.test(session_id);
}

function isUnattended({ parent, metadata }: Extract<Entry, { readonly kind: "session_info" }>): boolean {
  const { originator, entrypoint, agent_type, source } = metadata;
  const from = isJsonObject(source) ? source.entrypoint : undefined;
  const names = [originator, entrypoint, from].filter((name) => typeof name === "string");
  return parent !== "" || agent_type !== undefined || names.some((name) => UNATTENDED.test(String(name)));
}
