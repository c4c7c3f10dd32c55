// What the record says of the statements in somebody's memory file.
import type { Evidence, Proposal } from "../../model/memory.js";

export interface FileText {
  readonly text: string;
  /** Entries of this project alone; of all where it is empty. */
  readonly project: string;
}

export interface Audited {
  readonly verdict: "supported" | "echoed" | "unsupported" | "contradicted" | "superseded";
  /** A sentence for people. */
  readonly reason: string;
  /** The words that decided it. */
  readonly evidence?: Evidence;
  /** The memory that decided it. */
  readonly memory?: string;
}

export interface AuditedStatement extends Audited {
  readonly statement: string;
  /** The line it begins on, from 1. */
  readonly line: number;
}

/** A statement of a file with its evidence looked up. */
export interface FoundStatement {
  readonly line: number;
  readonly proposal: Proposal;
}
