// What rules propose of an entry, without a model: the same entry, the same proposals.
import { contentTexts } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import type { Proposal } from "../../model/memory.js";
import { readRole } from "../../model/roles.js";
import type { Spoken } from "../../read/memories/quoted-entry.js";
import { type Finding, quoteOf } from "./finding.js";
import { findHeadings } from "./headings.js";
import { proseOf } from "./prose.js";
import { findInUsers } from "./remember.js";
import { findInAssistants } from "./sentences-of-assistants.js";

/** What the beginning of a longer text does not say is not looked for: nobody decides anything in the sixth megabyte. */
const TEXT_CHARS_MAX = 1_000_000;

export function proposalsOf(entry: Entry): readonly Proposal[] {
  const proposals = new Map<string, Proposal>();
  for (const { by, text } of readTexts(entry)) {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const prose = proseOf(read);
    const findings = by === "user" ? findInUsers(prose) : [...findHeadings(prose), ...findInAssistants(prose)];
    for (const finding of findings) {
      if (!proposals.has(finding.content)) proposals.set(finding.content, proposalOf(finding, read, entry));
    }
  }
  return [...proposals.values()];
}

function proposalOf(finding: Finding, text: string, entry: Entry): Proposal {
  return {
    type: finding.type,
    content: finding.content,
    source: "rule",
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
