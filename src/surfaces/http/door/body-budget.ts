// How many bytes of request bodies are in memory at once: a crowd of large requests is told to come back.
import type { FastifyInstance, FastifyReply } from "fastify";
import { Fault } from "../../../model/fault.js";

declare module "fastify" {
  interface FastifyRequest {
    /** What the body may take of memory; null where there is none. */
    bodyAccount: BodyAccount | null;
  }
}

/** Gives every request with a body its account. */
export function budgetBodies(app: FastifyInstance, bytesMax: number): BodyBudget {
  const budget = new BodyBudget(bytesMax);
  app.decorateRequest("bodyAccount", null);
  app.addHook("preParsing", (request, reply, _, done) => {
    const { "content-length": length, "transfer-encoding": coding } = request.raw.headers;
    if (length !== undefined || coding !== undefined) request.bodyAccount = budget.account(reply);
    done();
  });
  return budget;
}

export class BodyBudget {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get held(): number {
    return this.#held;
  }

  /** The account of one request; what it has taken is given back when its answer is out or its connection gone. */
  account(reply: FastifyReply): BodyAccount {
    let taken = 0;
    reply.raw.once("close", () => {
      this.#held -= taken;
      taken = 0;
    });
    return {
      take: (bytes) => {
        // A body that is alone is taken, however large it may be: its own limit holds.
        const isAlone = this.#held === taken;
        if (!isAlone && this.#held + bytes > this.#bytesMax) return false;
        taken += bytes;
        this.#held += bytes;
        return true;
      },
    };
  }
}

export interface BodyAccount {
  /** False where memory has no room for so much more. */
  take(bytes: number): boolean;
}

export function bodiesOverload(): Fault {
  return new Fault("overloaded", "more is being sent than memory may hold", {
    hint: "Send again in a second; what was refused was not stored.",
  });
}
