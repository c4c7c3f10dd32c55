/** An `AbortSignal`, also for programs compiled without its type. */
export type AbortSignalLike = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : unknown;
