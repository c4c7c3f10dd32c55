// What only Node has, asked for at run time, so the same files load in browsers and edge runtimes.

export interface NodeModules {
  readonly fs: typeof import("node:fs");
  readonly path: typeof import("node:path");
  readonly os: typeof import("node:os");
  readonly crypto: typeof import("node:crypto");
  readonly http: typeof import("node:http");
  readonly https: typeof import("node:https");
  readonly async_hooks: typeof import("node:async_hooks");
  readonly process: typeof import("node:process");
}

const names = ["fs", "path", "os", "crypto", "http", "https", "async_hooks", "process"] as const;

/** Undefined where any of them is missing: an edge runtime that has some is no Node. */
export const node: NodeModules | undefined = load();

function load(): NodeModules | undefined {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?: (name: string) => object | undefined } };
  const modules = names.map((name) => [name, process?.getBuiltinModule?.(`node:${name}`)]);
  return modules.every(([, module]) => module !== undefined) ? Object.fromEntries(modules) : undefined;
}

/** Timers must not keep the agent's process alive; in browsers they are plain numbers. */
export function unref<T>(timer: T): T {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
