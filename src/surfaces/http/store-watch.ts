// Says in the log what is recorded, when the store cannot be used any more, and when it can be again. While nobody asks, and while whoever asks is
// told but not the operator, that would pass in silence.
import type { FastifyBaseLogger } from "fastify";
import type { Recorder } from "../../recorder/recorder.js";
import { isEnabled } from "./logger.js";

const LOOK_MS = 2_000;

/** Looks now and then until the answer is called. */
export function watchStore(recorder: Recorder, logger: FastifyBaseLogger, lookMs = LOOK_MS): () => void {
  let known: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    // A database that vanished without a word answers late.
    if (isLooking) return;
    isLooking = true;
    const { trouble, position } = await recorder.health().finally(() => {
      isLooking = false;
    });
    if (trouble === known) return;
    known = trouble;
    if (trouble === undefined) logger.info({ position }, "the store can be used again");
    else logger.warn({ trouble, position }, `${wordsOf(trouble)}; captures and reads are refused until it is back`);
  };
  // It fails only when the recorder is closed meanwhile.
  const timer = setInterval(() => void look().catch(() => undefined), lookMs).unref();
  return () => clearInterval(timer);
}

/** A line at level debug for each interaction that is recorded through this server, until the answer is called. */
export function logRecorded(recorder: Recorder, logger: FastifyBaseLogger): () => void {
  return recorder.monitoring.watchRecorded(
    (entries) => {
      for (const { kind, id, created_at: _, ...rest } of entries) {
        if (kind === "interaction") logger.debug({ interaction_id: id, ...rest }, "interaction_recorded");
      }
    },
    () => isEnabled(logger.level, "debug"),
  );
}

function wordsOf(trouble: string): string {
  return trouble === "store_unavailable" ? "the database is away" : "the store cannot be used";
}
