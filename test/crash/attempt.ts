// A program that tries everything on a store and prints what came of it: `ok`, or the fault that was met.

import { Fault, openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";

export type Attempt = "ok" | { readonly code: string; readonly message: string; readonly hint: string };

export interface Attempts {
  readonly open: Attempt;
  readonly append?: Attempt;
  readonly get?: Attempt;
  readonly list?: Attempt;
  readonly verify?: Attempt;
}

async function attempt(work: () => Promise<unknown>): Promise<Attempt> {
  try {
    await work();
    return "ok";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

async function attemptAll(data: string): Promise<Attempts> {
  let recorder: Awaited<ReturnType<typeof openRecorder>> | undefined;
  const open = await attempt(async () => {
    recorder = await openRecorder({ data });
  });
  const opened = recorder;
  if (opened === undefined) return { open };
  const attempts = {
    open,
    append: await attempt(() => opened.append({ kind: "error", error: "one more" })),
    get: await attempt(() => opened.getEntry(1)),
    list: await attempt(() => opened.listEntries()),
    verify: await attempt(() => opened.verify()),
  };
  await opened.close();
  return attempts;
}

process.stdout.write(JSON.stringify(await attemptAll(itemAt(process.argv, 2))));
