// What rules propose of an entry, without a model: the same entry, the same proposals.
import { contentTexts } from "../../../model/content.js";
import type { Entry } from "../../../model/entry.js";
import type { Proposal } from "../../../model/memory.js";
import { readRole } from "../../../model/roles.js";
import type { PassedOverWords } from "../../read/pass-steps.js";
import type { Spoken } from "../../read/quoted-entry.js";
import { proposalOfDecision } from "./decisions.js";
import { type Finding, quoteOf } from "./finding.js";
import { findHeadings } from "./headings.js";
import { proseOf } from "./prose.js";
import { findInUsers } from "./remember.js";
import { findInAssistants } from "./sentences-of-assistants.js";
import { findStanding } from "./standing.js";

/** What the beginning of a longer text does not say is not looked for: nobody decides anything in the sixth megabyte. */
const TEXT_CHARS_MAX = 1_000_000;
/** So much of what was passed over is shown. */
const SHOWN_CHARS_MAX = 280;
/** The session of a subagent: what stands there in a user's name, another agent wrote. */
const OF_SUBAGENT = /\/agent-[^/]*$/;

interface RulesReading {
  readonly proposals: readonly Proposal[];
  /** What looked like an instruction or a decision, and was not taken for one. */
  readonly passed_over: readonly PassedOverWords[];
}

export function readByRules(entry: Entry): RulesReading {
  const ofDecision = entry.kind === "decision" ? proposalOfDecision(entry) : undefined;
  if (ofDecision !== undefined) return { proposals: [ofDecision], passed_over: [] };
  const proposals = new Map<string, Proposal>();
  const passed_over: PassedOverWords[] = [];
  for (const { by, text } of readTexts(entry)) {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const prose = proseOf(read);
    const found = by === "user" ? inUsers(prose, entry) : inAssistants(prose);
    for (const finding of found.findings) {
      if (!proposals.has(finding.content)) proposals.set(finding.content, proposalOf(finding, read, entry));
    }
    for (const { start, end, reason } of found.passed_over) {
      passed_over.push({
        entry_id: entry.id,
        content: read.slice(start, Math.min(end, start + SHOWN_CHARS_MAX)),
        reason,
      });
    }
  }
  if (entry.kind === "decision" && proposals.size === 0) {
    const content = entry.decision.slice(0, SHOWN_CHARS_MAX);
    passed_over.push({ entry_id: entry.id, content, reason: "The decision has no rationale." });
  }
  return { proposals: [...proposals.values()], passed_over };
}

type Found = ReturnType<typeof findStanding>;

function inUsers(prose: string, { session_id }: Entry): Found {
  const standing = findStanding(prose);
  const findings = [...findInUsers(prose), ...standing.findings];
  if (!OF_SUBAGENT.test(session_id)) return { findings, passed_over: standing.passed_over };
  const reason = "Another agent wrote it: the session is a subagent's.";
  return { findings: [], passed_over: findings.map(({ start, end }) => ({ start, end, reason })) };
}

function inAssistants(prose: string): Found {
  return { findings: [...findHeadings(prose), ...findInAssistants(prose)], passed_over: [] };
}

function proposalOf(finding: Finding, text: string, entry: Entry): Proposal {
  return {
    type: finding.type,
    content: finding.content,
    source: "rule:words",
    evidence: [{ entry_id: entry.id, quote: quoteOf(text, finding) }],
    project: entry.project,
    tags: [],
    generation: "",
  };
}

/** The texts that rules read: what users and assistants said themselves, not what they called tools with. */
function readTexts(entry: Entry): readonly Spoken[] {
  const said = (by: "user" | "assistant", texts: readonly string[]) => texts.map((text) => ({ by, text }));
  switch (entry.kind) {
    case "interaction":
      return [...said("user", [entry.prompt]), ...said("assistant", [entry.response, entry.response_summary])];
    case "response":
      return said("assistant", [entry.response, entry.response_summary]);
    case "decision":
      return said("assistant", [entry.decision, entry.rationale]);
    case "message": {
      const role = readRole(entry.role);
      return role === "user" || role === "assistant" ? said(role, contentTexts(entry.content)) : [];
    }
    default:
      return [];
  }
}
