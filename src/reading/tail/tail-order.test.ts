// Random runs of the hub: after any appends, opens, reads and returns, every tail sees each entry once and in order.
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzzTimeoutMs, slowFuzz } from "../../../test/support/fuzz.js";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";
import { noMask } from "../../model/mask.js";
import { TailHub } from "./hub.js";
import { LocalTailSource } from "./read-tail.js";
import type { Tail } from "./tail.js";

interface Follower {
  readonly tail: Tail;
  through: number;
}

const step = fc.tuple(
  fc.constantFrom("append", "append quietly", "open after", "open now", "read", "leave", "rest"),
  fc.nat(400),
);

async function readOn(follower: Follower): Promise<void> {
  for (const { position } of (await follower.tail.nextRows()) ?? []) {
    follower.through += 1;
    expect(position).toBe(follower.through);
  }
}

test("every tail sees each entry once and in order", { timeout: fuzzTimeoutMs }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { recorder, log } = memoryRecorder();
      const headOf = async (): Promise<number> => (await log.head()).position;
      const hub = new TailHub({ source: new LocalTailSource(log, noMask), log });
      const followers: Follower[] = [];
      const perform = async (what: string, size: number): Promise<void> => {
        const follower = followers[size % Math.max(followers.length, 1)];
        if (what === "rest") return delay(size % 4);
        if (what.startsWith("append")) {
          await recorder.append(Array.from({ length: size + 1 }, () => ({ kind: "clear", session_id: "s" })));
          if (what === "append") hub.grown();
        } else if (what.startsWith("open")) {
          const tail = hub.open({ after: what === "open now" ? undefined : size, filter: undefined });
          followers.push({ tail, through: await tail.started() });
        } else if (what === "leave" && follower !== undefined) {
          followers.splice(followers.indexOf(follower), 1);
          await follower.tail.return();
        } else if (what === "read" && follower !== undefined && follower.through < (await headOf())) {
          await readOn(follower);
        }
      };
      for (const [what, size] of steps) await perform(what, size);
      const head = await headOf();
      for (const follower of followers) while (follower.through < head) await readOn(follower);
      await hub.close();
    }),
    slowFuzz(40),
  );
});
