// What is frozen of a store, and asked again of every later version: each entry whole, their order, and the chain.
import type { Recorder } from "../../src/index.js";

export async function frozenAnswers(recorder: Recorder): Promise<unknown> {
  const { position } = await recorder.health();
  const entries: unknown[] = [];
  for (let at = 1; at <= position; at += 1) entries.push(await recorder.getEntry(at));
  const answers = {
    entries,
    newest_first: (await recorder.listEntries()).entries.map(({ id }) => id),
    verification: await recorder.verify(),
  };
  return JSON.parse(JSON.stringify(answers));
}
