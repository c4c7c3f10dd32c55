// A program that serves under a limit on the size of files, records until that is reached, and prints what it was answered.
import { randomBytes } from "node:crypto";
import { openRecorder } from "../../src/index.js";
import { serve } from "../../src/surfaces/http/serve.js";

export interface LimitReport {
  /** Statuses and codes of refused captures, each once. */
  readonly refusals: readonly string[];
  readonly acknowledged: number;
  readonly listed: number;
  readonly verified: boolean;
}

const REFUSALS_ENOUGH = 20;
const [data] = process.argv.slice(2) as [string];
const serving = await serve({ recorder: await openRecorder({ data }), version: "1", port: 0 });

async function post(size: number): Promise<string> {
  const response = await fetch(`${serving.address}/entries`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "error", error: randomBytes(size).toString("base64") }),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } };
  return error === undefined ? String(response.status) : `${response.status} ${error.code}`;
}

const refusals = new Map<string, number>();
let acknowledged = 0;
for (let nth = 0; [...refusals.values()].reduce((sum, count) => sum + count, 0) < REFUSALS_ENOUGH; nth += 1) {
  const answer = await post(500 + (nth % 7) * 3_000);
  if (answer === "201") acknowledged += 1;
  else refusals.set(answer, (refusals.get(answer) ?? 0) + 1);
}
const verified = (await (await fetch(`${serving.address}/verify`)).json()) as { ok: boolean; entries: number };
const report: LimitReport = {
  refusals: [...refusals.keys()],
  acknowledged,
  listed: verified.entries,
  verified: verified.ok,
};
process.stdout.write(JSON.stringify(report));
await serving.close();
