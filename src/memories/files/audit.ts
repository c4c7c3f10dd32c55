// What the record says of a statement in somebody's memory file.

import { relationOf } from "../judge/gates/known.js";
import type { KnownMemory } from "../judge/ground.js";
import type { QuotedEntry } from "../read/quoted-entry.js";
import type { Stems } from "../text/stems.js";
import type { Audited } from "./file-audit.js";
import type { Support, SupportSearch } from "./support.js";

interface AuditGround {
  /** Entries in which the statement's words were found, in the order of the log. */
  readonly entries: readonly QuotedEntry[];
  /** Texts of context packs in which they were found, as entries of a system. */
  readonly packs: readonly QuotedEntry[];
  readonly memories: readonly KnownMemory[];
  /** Keeps what it has worked out for the other statements of the file. */
  readonly support: SupportSearch;
}

export function audited(statement: string, ground: AuditGround, stems: Stems): Audited {
  const found = ground.support.in(ground.entries, statement);
  const { active, superseded, conflicting } = relatedTo(statement, ground.memories, stems);
  if (superseded !== undefined && active === undefined) {
    return { verdict: "superseded", reason: "A memory that says this was superseded.", memory: superseded.id };
  }
  // Who said it last: people change their minds.
  const last = found.filter(({ by }) => by === "user" || by === "tool").at(-1);
  if (last !== undefined) return said(last);
  if (conflicting !== undefined && active === undefined) {
    return { verdict: "contradicted", reason: "An active memory says otherwise.", memory: conflicting.id };
  }
  const echo = [...found, ...ground.support.in(ground.packs, statement)].find(({ says }) => says === "same");
  if (echo === undefined) return { verdict: "unsupported", reason: "Nobody said it in the record." };
  const who = echo.by === "assistant" ? "Only assistants said it." : "It was only given to models, never said.";
  return { verdict: "echoed", reason: who, evidence: echo.evidence };
}

/** The first memories that say the same, or the opposite; each memory is looked at once, since there may be many. */
function relatedTo(statement: string, memories: readonly KnownMemory[], stems: Stems) {
  const related: { active?: KnownMemory; superseded?: KnownMemory; conflicting?: KnownMemory } = {};
  for (const memory of memories) {
    if (memory.status !== "active" && memory.status !== "superseded") continue;
    const relation = relationOf(statement, memory.content, stems);
    if (relation === "same") related[memory.status] ??= memory;
    else if (relation === "conflicting" && memory.status === "active") related.conflicting ??= memory;
  }
  return related;
}

function said({ by, says, evidence }: Support): Audited {
  const who = by === "user" ? "A user" : "A tool";
  if (says === "same") return { verdict: "supported", reason: `${who} said so.`, evidence };
  return { verdict: "contradicted", reason: `${who} said otherwise.`, evidence };
}
