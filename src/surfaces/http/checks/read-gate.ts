// Gates limit concurrent reads, so capture does not wait however many reads there are.
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import { Fault } from "../../../model/fault.js";
import type { ServerLimits } from "./limits.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The gate of the route; by default `reads` if its scope is `read`, otherwise none. */
    readonly gate?: GateName | "none";
  }
}

type GateName = "reads" | "walks" | "exports" | "tails";

export type Gates = { readonly [name in GateName]: ReadGate };

/** Puts its gate before every route that is registered after this call. */
export function addGates(
  app: FastifyInstance,
  options: { readonly limits: ServerLimits; readonly isPressed: () => boolean },
): Gates {
  const { limits, isPressed } = options;
  const gate = (places: Omit<ReadGateOptions, "isPressed">): ReadGate => new ReadGate({ ...places, isPressed });
  const gates: Gates = {
    reads: gate({
      running_max: limits.reads_running,
      waiting_max: limits.reads_waiting,
      answer_ms: limits.read_ms,
    }),
    walks: gate({ running_max: limits.walks_running, waiting_max: limits.walks_waiting }),
    exports: gate({ running_max: limits.exports, waiting_max: 0 }),
    tails: gate({ running_max: limits.tails, waiting_max: 0 }),
  };
  app.addHook("onRoute", (route) => {
    const { gate: name = route.config?.need === "read" ? "reads" : "none" } = route.config ?? {};
    if (name !== "none") route.handler = mannerByGate[name](gates[name], route.handler);
  });
  return gates;
}

type Manner = (gate: ReadGate, handler: RouteHandlerMethod) => RouteHandlerMethod;

const mannerByGate: { readonly [name in GateName]: Manner } = {
  reads: inTurn,
  walks: inTurn,
  exports: lasting,
  tails: lasting,
};

function inTurn(gate: ReadGate, handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    return gate.pass(() => handler.call(this, request, reply));
  };
}

/** For answers that last as long as the client likes: their slot is free again once the connection is closed. */
function lasting(gate: ReadGate, handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    const leave = gate.enter();
    reply.raw.once("close", leave);
    return handler.call(this, request, reply);
  };
}

// Capture comes first: only this many reads run at once, this many wait, and none while capture is overloaded.

interface ReadGateOptions {
  readonly running_max: number;
  readonly waiting_max: number;
  /** The timeout of a request, its time in the queue included; undefined for none. */
  readonly answer_ms?: number;
  /** Whether so much waits to be recorded that reads have to wait. */
  readonly isPressed: () => boolean;
}

/** @internal Exported for tests. */
export class ReadGate {
  readonly #options: ReadGateOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a slot at once or fails, for work without an end; the caller releases it once. */
  enter(): () => void {
    const { running_max, isPressed } = this.#options;
    if (isPressed() || this.#running >= running_max) throw tooManyReads();
    this.#running += 1;
    return () => this.#leave();
  }

  /** Runs the work when a slot is free, or fails with `overloaded` if it cannot wait. */
  async pass<T>(work: () => T | Promise<T>): Promise<T> {
    const { answer_ms } = this.#options;
    if (answer_ms === undefined) return this.#inTurn(work, () => false);
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const lateness = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(tooLate(answer_ms));
      }, answer_ms);
    });
    try {
      // Running work keeps its slot until it ends, because the work it started continues too.
      return await Promise.race([this.#inTurn(work, () => isLate), lateness]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #inTurn<T>(work: () => T | Promise<T>, isLate: () => boolean): Promise<T> {
    const { running_max, waiting_max, isPressed } = this.#options;
    if (isPressed()) throw tooManyReads();
    if (this.#running < running_max) this.#running += 1;
    else if (this.#waiting.length >= waiting_max) throw tooManyReads();
    // A request that leaves frees its slot for the next.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (isPressed() || isLate()) throw tooManyReads();
      return await work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

function tooManyReads(): Fault {
  return new Fault("overloaded", "too many requests are waiting", {
    hint: "Ask again in a second.",
  });
}

function tooLate(ms: number): Fault {
  return new Fault("overloaded", `the request took longer than ${ms / 1000} s; the server is overloaded`, {
    hint: "Ask again in a second, or for less at a time.",
  });
}
