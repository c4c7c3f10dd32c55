// How long to wait before a request is retried.

export interface RetryLimits {
  readonly retry_ms_min: number;
  readonly retry_ms_max: number;
}

/** The delay after this many failures: twice as long each time, and at least what the server asked for. */
export function retryDelay(failures: number, limits: RetryLimits, retryAfterMs = 0, random = Math.random): number {
  const longest = Math.min(limits.retry_ms_max, limits.retry_ms_min * 2 ** Math.min(failures, 30));
  // Jitter: many agents that wait for one server must not come back at the same moment.
  return Math.max(retryAfterMs, longest * (0.5 + random() / 2));
}

export const defaultRetry: RetryLimits = { retry_ms_min: 250, retry_ms_max: 30_000 };
