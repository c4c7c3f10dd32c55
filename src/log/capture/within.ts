// Default values for everything recorded while a function runs, across its awaits.
import { AsyncLocalStorage } from "node:async_hooks";

/** Session, labels and what the model was given; an entry's own values take precedence. */
export interface WithinOptions {
  readonly session_id?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly user_id?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The entry that all of it is made for. */
  readonly parent_id?: string | undefined;
  readonly memories_used?: readonly (string | number | boolean)[] | undefined;
  readonly chunks_used?: readonly (string | number | boolean)[] | undefined;
}

const NOTHING: WithinOptions = {};

export class WithinScope {
  /** Created on first use: a server has a recorder per request. */
  #storage: AsyncLocalStorage<WithinOptions> | undefined;

  get current(): WithinOptions {
    return this.#storage?.getStore() ?? NOTHING;
  }

  run<T>(defaults: WithinOptions, work: () => T): T {
    this.#storage ??= new AsyncLocalStorage();
    return this.#storage.run({ ...this.current, ...given(defaults) }, work);
  }

  /** Adds missing values to the input; invalid input is left for validation to reject. */
  withDefaults(input: unknown, kindWhenAbsent?: string): unknown {
    const { current } = this;
    if (current === NOTHING || typeof input !== "object" || input === null) return input;
    if (Array.isArray(input)) return input.map((one) => this.withDefaults(one, kindWhenAbsent));
    const { kind = kindWhenAbsent } = input as { readonly kind?: unknown };
    // Responses and feedback inherit their labels from what they name.
    if (kind === "response" || kind === "feedback") return input;
    const { memories_used, chunks_used, ...labels } = current;
    const missing = Object.entries(given(kind === "interaction" ? { memories_used, chunks_used, ...labels } : labels));
    const added = missing.filter(([name]) => isAbsent((input as { readonly [name: string]: unknown })[name]));
    return added.length === 0 ? input : { ...input, ...Object.fromEntries(added) };
  }
}

/** As in validation, an empty label counts as absent. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function given(defaults: WithinOptions): WithinOptions {
  return Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== undefined));
}
