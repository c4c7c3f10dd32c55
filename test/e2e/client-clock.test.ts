// When the client sends: its default delays, on a clock that the test moves.
import { expect, test, vi } from "vitest";
import { ManualClock } from "../support/manual-clock.js";
import { connect, standIn } from "./connected-client.js";

const DEFAULTS = { linger_ms: undefined, retry_ms_min: undefined, retry_ms_max: undefined };

/** Notes every delay. */
class NotingClock extends ManualClock {
  readonly delays: number[] = [];

  override setTimer(run: () => void, delayMs: number): { cancel(): void } {
    this.delays.push(delayMs);
    return super.setTimer(run, delayMs);
  }
}

test("captures are gathered for 50 ms; a server that is down is retried after twice the time, up to 30 s", async () => {
  const address = await standIn((_, response) => void response.writeHead(503).end("{}"));
  const clock = new NotingClock();
  const { recorder, problems } = connect(address, { ...DEFAULTS, clock });
  const { delays } = clock;
  const nextDelay = async (): Promise<number> => {
    const known = delays.length;
    await clock.advance(delays.at(-1) ?? 0);
    await vi.waitFor(() => expect(delays.length).toBeGreaterThan(known));
    return delays.at(-1) ?? 0;
  };
  await clock.advance(1);
  await vi.waitFor(() => expect(delays).toEqual([0, 60_000]));
  await recorder.append({ kind: "error", error: "a" });
  expect(delays.at(-1)).toBe(50);
  for (const longest of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const delay = await nextDelay();
    expect(delay).toBeGreaterThanOrEqual(longest / 2);
    expect(delay).toBeLessThanOrEqual(longest);
  }
  expect(problems).toHaveLength(1);
  const closing = recorder.close({ timeout_ms: 100 });
  await clock.advance(100);
  expect(await closing).toMatchObject({ spooled: 1, sent: 0, dropped: 0 });
});
