// What the record says of the statements in somebody's memory file.
import type { Evidence, Proposal } from "../../model/memory.js";

export interface FileText {
  readonly text: string;
  /** Entries of this project alone; of all where it is empty. */
  readonly project: string;
}

export interface AuditedStatement {
  readonly statement: string;
  /** The line it begins on, from 1. */
  readonly line: number;
  readonly verdict: "supported" | "echoed" | "unsupported" | "contradicted" | "superseded";
  readonly reason: string;
  /** The words that decided it. */
  readonly evidence?: Evidence;
  /** The memory that decided it. */
  readonly memory?: string;
}

/** A statement of a file with its evidence looked up. */
export interface FoundStatement {
  readonly line: number;
  readonly proposal: Proposal;
}
