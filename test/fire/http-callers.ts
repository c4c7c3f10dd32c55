// Clients that record over HTTP, one entry or batch after the other, and send the same again until a server has taken it.
import { setTimeout as pause } from "node:timers/promises";
import { itemAt } from "../../src/model/item-at.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { batchIds, entryOf } from "../crash/made-entries.js";
import type { Acknowledged } from "../crash/programs.js";

const TIMEOUT_MS = 20_000;
const RETRY_MS = 30;
/** A run is about moments, not about amounts: what is stored has to be read again. */
const PAUSE_MS_MAX = 40;

export class HttpCallers {
  readonly acknowledged: Acknowledged[][] = [];
  readonly refused = new Set<string>();
  /** Answers that no fault excuses. */
  readonly problems = new Set<string>();
  readonly #addresses: () => readonly string[];
  readonly #working: Promise<void>;
  #isOver = false;

  constructor(options: {
    readonly addresses: () => readonly string[];
    readonly count: number;
    readonly seed: number;
  }) {
    this.#addresses = options.addresses;
    const callers = Array.from({ length: options.count }, (_, caller) =>
      this.#call(caller, seededRandom(options.seed + caller)),
    );
    this.#working = Promise.all(callers).then(() => undefined);
  }

  get count(): number {
    return this.acknowledged.reduce((sum, { length }) => sum + length, 0);
  }

  /** Lets what is on its way arrive, and ends. Throws where a server answered as it never may. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
    if (this.problems.size > 0) throw new Error([...this.problems].join("\n"));
  }

  async #call(caller: number, random: () => number): Promise<void> {
    const mine: Acknowledged[] = [];
    this.acknowledged.push(mine);
    for (let round = 0; !this.#isOver; round += 1) {
      const name = `http.${caller}.${round}`;
      const ids = random() < 0.3 ? batchIds(name, 2 + (caller % 4)) : [`s.${name}`];
      mine.push(...(await this.#record(ids, random)));
      await pause(random() * PAUSE_MS_MAX);
    }
  }

  async #record(ids: readonly string[], random: () => number): Promise<readonly Acknowledged[]> {
    const inputs = ids.map(entryOf);
    const body = JSON.stringify(inputs.length === 1 ? inputs[0] : inputs);
    for (let isSure = true; ; ) {
      const answer = await this.#post(body, random).catch(() => undefined);
      if (answer?.status === 201 || answer?.status === 200) {
        return (JSON.parse(answer.text) as { readonly entries: readonly Acknowledged[] }).entries;
      }
      if (answer?.status === 507 && isSure) {
        for (const id of ids) this.refused.add(id);
        await pause(RETRY_MS);
        return [];
      }
      isSure = false;
      if (answer !== undefined && answer.status < 500) this.problems.add(`${answer.status} ${answer.text}`);
      await pause(RETRY_MS);
    }
  }

  async #post(body: string, random: () => number): Promise<{ readonly status: number; readonly text: string }> {
    const addresses = this.#addresses();
    const address = itemAt(addresses, Math.floor(random() * addresses.length));
    const response = await fetch(`${address}/entries`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  }
}
