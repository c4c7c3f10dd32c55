// What is noted of a file that sessions were read from, once it is gone. Users of the library see this type, so it needs no other.

export interface SourceLoss {
  readonly session_id: string;
  /** The file, under the names that it was read by. */
  readonly paths: readonly string[];
  readonly how: "deleted" | "shortened";
  /** When that was seen, and when the file was read last before. */
  readonly seen_ms: number;
  readonly read_ms: number;
}
