// What a recorder answers to a step, refusals included, as a value that can be compared.
import { Fault, type Recorder, RecorderError } from "../../src/index.js";
import type { Step } from "./workload.js";

const PAGES_MAX = 200;

export async function answerTo(recorder: Recorder, step: Step): Promise<unknown> {
  try {
    return { answered: await perform(recorder, step) };
  } catch (error) {
    if (error instanceof RecorderError) return { refused: { ...error, message: error.message } };
    if (error instanceof Fault) return { failed: { code: error.code, message: error.message } };
    throw error;
  }
}

/** Inputs are untrusted at run time whatever their type says, which is what is tried here. */
async function perform(recorder: Recorder, step: Step): Promise<unknown> {
  switch (step.does) {
    case "append":
      return recorder.append(step.input as Parameters<Recorder["append"]>[0]);
    case "recordInteraction":
      return recorder.recordInteraction(step.input as Parameters<Recorder["recordInteraction"]>[0]);
    case "completeInteraction":
      return recorder.completeInteraction(step.id, step.completion);
    case "listInteractions":
    case "listEntries":
      return everyPage(recorder, step);
    case "getEntry":
      return recorder.getEntry(step.id);
    case "getInteraction":
      return recorder.getInteraction(step.id);
    case "health": {
      // How far the index has followed in the background is a matter of luck.
      const { status, position } = await recorder.health();
      return { status, position };
    }
    default:
      return recorder[step.does]();
  }
}

async function everyPage(
  recorder: Recorder,
  step: Extract<Step, { readonly options: object }>,
): Promise<readonly unknown[]> {
  const pages: { readonly next_cursor: string | null }[] = [];
  let cursor: string | null = null;
  do {
    const page: { readonly next_cursor: string | null } = await recorder[step.does]({ ...step.options, cursor });
    pages.push(page);
    cursor = page.next_cursor;
  } while (cursor !== null && pages.length < PAGES_MAX);
  return pages;
}
