// How a suite is made of checks, and how an engine says what it lacks: as data with a reason, never as a skipped test.

/** What engines may legitimately differ in; everything else is asked of all of them. */
export type Capability =
  /** What was written is there when the store is opened again. */
  | "durable"
  /** Several instances, in one process or in many, use one store at once. */
  | "shared";

export interface Engine {
  /** What the opened instance must say that it is. */
  readonly engine: string;
  /** How this run is called where one engine is run in several ways. */
  readonly name?: string;
  /**
   * Capabilities that the engine does not have, each with the reason. Their checks run all the same and must fail: once
   * one passes, the entry here has gone stale, and that breaks the build.
   */
  readonly lacks?: { readonly [C in Capability]?: string };
}

/** Opens the store of this name, and makes it where there is none. Names are made of letters, digits and hyphens. */
export type OpenStore<T> = (store: string) => Promise<T>;

/** One behaviour. It is a value, so the suite itself can be tested: a faulty engine must fail one of them. */
export interface Check<T> {
  readonly behaviour: string;
  readonly needs?: Capability;
  readonly run: (store: Store<T>) => Promise<void>;
}

/** The store of one check, which nothing else uses. */
interface Store<T> {
  readonly engine: Engine;
  /** Opens the store, once more if it is open already. */
  open(): Promise<T>;
  /** Opens a second store that has nothing to do with the first. */
  openOther(): Promise<T>;
}

export interface Closable {
  close(): Promise<void>;
}

/** Runs a check on a store of its own and closes whatever it opened. */
export async function runCheck<T extends Closable>(parts: {
  readonly check: Check<T>;
  readonly engine: Engine;
  readonly open: OpenStore<T>;
}): Promise<void> {
  const name = `store-${crypto.randomUUID()}`;
  const opened: T[] = [];
  const openStore = async (store: string): Promise<T> => {
    const instance = await parts.open(store);
    opened.push(instance);
    return instance;
  };
  try {
    await parts.check.run({
      engine: parts.engine,
      open: () => openStore(name),
      openOther: () => openStore(`${name}-other`),
    });
  } finally {
    for (const instance of opened) await instance.close();
  }
}

/** A lack is proven by failing; a check that passes shows that the engine has learned it. */
export async function proveLack<T extends Closable>(parts: {
  readonly check: Check<T>;
  readonly engine: Engine;
  readonly open: OpenStore<T>;
}): Promise<void> {
  const failed = await runCheck(parts).then(
    () => false,
    () => true,
  );
  if (failed) return;
  const { engine, check } = parts;
  throw new Error(
    `${engine.name ?? engine.engine} is said to lack "${check.needs}", but this passes: ${check.behaviour}. ` +
      "Take the entry out of its `lacks`.",
  );
}
