// When the client sends: its default delays, on a clock that the test moves.
import { expect, test, vi } from "vitest";
import type { Problem } from "../../client/index.js";
import { ProblemReports } from "../../client/problem-reports.js";
import { ManualClock } from "../support/manual-clock.js";
import { AWAY, connect, standIn } from "./connected-client.js";

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

test("a problem is told at once, then once a minute with its count, and what is left of it when it is closed", async () => {
  const clock = new ManualClock();
  const { recorder, problems } = connect(AWAY, { clock });
  const capture = (): void => void recorder.append(null as unknown as []);
  const problem = { code: "field_invalid", message: "an entry must be an object" };
  for (let nth = 0; nth < 5; nth += 1) capture();
  expect(problems).toEqual([{ ...problem, dropped: 1 }]);
  await clock.advance(60_000);
  const own = () => problems.filter(({ code }) => code === problem.code);
  expect(own().slice(1)).toEqual([{ ...problem, dropped: 4, times: 4 }]);
  await clock.advance(60_000);
  expect(own()).toHaveLength(2);
  for (let nth = 0; nth < 3; nth += 1) capture();
  const closing = recorder.close({ timeout_ms: 10 });
  await clock.advance(10);
  expect(await closing).toMatchObject({ dropped: 8 });
  expect(own().slice(2)).toEqual([
    { ...problem, dropped: 1 },
    { ...problem, dropped: 2, times: 2 },
  ]);
});

test("of many causes in a minute, those beyond 20 are told by their code", async () => {
  const clock = new ManualClock();
  const told: Problem[] = [];
  const reports = new ProblemReports(clock, (problem) => told.push(problem));
  for (let nth = 0; nth < 100; nth += 1) reports.add({ code: "field_invalid", message: `entry ${nth}`, dropped: 1 });
  expect(told).toHaveLength(21);
  await clock.advance(60_000);
  expect(told.slice(21)).toEqual([{ code: "field_invalid", message: "entry 99", dropped: 79, times: 79 }]);
});
