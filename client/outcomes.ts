// What became of captured entries, as reported to the agent.

/** That an entry was captured; it arrives at the server by itself. */
export interface Captured {
  readonly id: string;
  readonly status: "queued" | "dropped";
}

export interface Counters {
  /** Captured, in memory. */
  readonly queued: number;
  /** Captured, on disk. */
  readonly spooled: number;
  /** Acknowledged by the server. */
  readonly sent: number;
  /** Lost, each told as a problem. */
  readonly dropped: number;
}

export interface Problem {
  /** The server's code, or one of the client's own: `server_away`, `spool_failed`, `spool_full`, `spool_corrupt`, … */
  readonly code: string;
  readonly message: string;
  /** How many entries are lost by it; 0 where all will be sent again. */
  readonly dropped: number;
  /** How often it happened since it was told last, where that is more than once: each cause is reported once a minute. */
  readonly times?: number;
}
