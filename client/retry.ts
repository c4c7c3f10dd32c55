// How long to wait before a request is sent again.

export interface RetryLimits {
  readonly retry_ms_min: number;
  readonly retry_ms_max: number;
}

/** How long to wait after so many failures: twice as long each time, and not less than the server asked for. */
export function retryDelay(failures: number, limits: RetryLimits, retryAfterMs = 0): number {
  const longest = Math.min(limits.retry_ms_max, limits.retry_ms_min * 2 ** Math.min(failures, 30));
  // Jitter: many agents that wait for one server must not come back at the same moment.
  return Math.max(retryAfterMs, longest * (0.5 + Math.random() / 2));
}

export const defaultRetry: RetryLimits = { retry_ms_min: 250, retry_ms_max: 30_000 };
