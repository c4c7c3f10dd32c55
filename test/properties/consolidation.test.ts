// Consolidating any session anywhere: it ends with a complete turn, only goes forward, and leaves a legal history.

import fc from "fast-check";
import { expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { anySession, type GeneratedEntry, marked, recordSession, sessionId } from "./generated-session.js";
import { boundaryIn, callIdsOf, consolidatedThrough, isUser, resultIdsOf, withoutWithdrawn } from "./history-oracle.js";
import { anthropicFaults, openAiFaults } from "./legality.js";

test(
  `a consolidation ends with the last complete turn up to where it was asked for (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(anySession, fc.array(fc.nat(70), { minLength: 1, maxLength: 4 }), async (given, cuts) => {
        const recorder = await openRecorder({ data: "memory:" });
        let session = marked(given);
        await recordSession(recorder, session);
        const before = await everything(recorder, session.length);
        for (const cut of cuts) session = await consolidated(recorder, session, cut + 1);
        expect((await everything(recorder, session.length)).slice(0, before.length)).toEqual(before);
        await recorder.close();
      }),
      slowFuzz(400),
    ),
  fuzzTimeoutMs,
);

/** Asks for a consolidation and holds what comes of it against what must; answers with the session as it is then. */
async function consolidated(
  recorder: Recorder,
  session: readonly GeneratedEntry[],
  through: number,
): Promise<readonly GeneratedEntry[]> {
  const of = recorder.session(sessionId);
  const present = consolidatedThrough(session);
  const asked = of.consolidate(through);
  if (through > session.length) {
    await expect(asked).rejects.toMatchObject({ code: "field_invalid", field: "through" });
  } else if (through < present) {
    await expect(asked).rejects.toMatchObject({ code: "consolidation_backwards" });
  } else {
    const end = lastTurnEnd(session, through);
    expect(await asked).toEqual({ through: end ?? present });
    if (end !== undefined) return withLegalHistory(recorder, [...session, { kind: "consolidation", through: end }]);
  }
  // What moves nothing adds no entry.
  expect(await recorder.count()).toMatchObject({ entries: session.length });
  return session;
}

async function withLegalHistory(
  recorder: Recorder,
  session: readonly GeneratedEntry[],
): Promise<readonly GeneratedEntry[]> {
  expect(await recorder.count()).toMatchObject({ entries: session.length });
  const of = recorder.session(sessionId);
  expect(openAiFaults(await of.history(), { mayPend: false })).toEqual([]);
  expect(anthropicFaults(await of.history({ format: "anthropic" }), { mayPend: false })).toEqual([]);
  expect(await of.summary()).toMatchObject({ consolidated_through: consolidatedThrough(session) });
  return session;
}

function lastTurnEnd(session: readonly GeneratedEntry[], through: number): number | undefined {
  for (let end = through; end > boundaryIn(session); end -= 1) if (isTurnEnd(session, end)) return end;
  return undefined;
}

/** Whether everything up to this position is complete: a user speaks next, or all is said, and no result is to come. */
function isTurnEnd(recorded: readonly GeneratedEntry[], end: number): boolean {
  const hasMessages = recorded.some((entry) => entry.kind === "message");
  const session = withoutWithdrawn(recorded);
  const said = session.slice(boundaryIn(session), end).filter((entry) => isTalk(entry, hasMessages));
  const later = session.slice(end).filter((entry) => isTalk(entry, hasMessages));
  const last = itemAt(session, end - 1);
  if (said.at(-1) !== last) return false;
  const [next] = later;
  if (next === undefined ? !isFinal(last) : next.kind === "message" && !isUser(next)) return false;
  if (next !== undefined && next.kind === "tool_call") return false;
  const open = new Set(said.flatMap(callIdsOf));
  for (const entry of later) {
    // A call of the same id takes over the results that follow it.
    for (const id of callIdsOf(entry)) open.delete(id);
    if (resultIdsOf(entry).some((id) => open.has(id as string))) return false;
  }
  return true;
}

function isFinal(entry: GeneratedEntry): boolean {
  if (entry.kind === "interaction") return String(entry.response ?? "").trim() !== "";
  return ["assistant", "timmy", "model"].includes(String(entry.role)) && callIdsOf(entry).length === 0;
}

function isTalk(entry: GeneratedEntry, hasMessages: boolean): boolean {
  if (entry.kind === "interaction" || !hasMessages) return entry.kind === "interaction";
  if (entry.kind === "tool_call") return entry.tool_call_id !== "";
  return entry.kind === "message" && entry.role !== "system" && entry.role !== "developer";
}

async function everything(recorder: Recorder, entries: number): Promise<readonly unknown[]> {
  return Promise.all(Array.from({ length: entries }, (_, index) => recorder.getEntry(index + 1)));
}
