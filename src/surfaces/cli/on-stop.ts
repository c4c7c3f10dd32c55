// How a command that goes on for ever is ended.

/** Ctrl-C is how it is meant to end, and so is a reader that has seen enough (`| head`). */
export function onStop(stop: () => void): { forget(): void } {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  process.stdout.once("error", stop);
  return {
    forget: () => {
      for (const signal of signals) process.off(signal, stop);
      process.stdout.off("error", stop);
    },
  };
}
