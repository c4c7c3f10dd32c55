// Times of several ways to do the same, taken in turn within one run.
import { median } from "./figures.js";

/** Each is called with a number that grows, so that it can ask for something else every time. */
export type Contenders<Name extends string> = { readonly [name in Name]: (nth: number) => unknown };

/**
 * The median of each in microseconds. Round by round, and each first as often as the others, so that what else the
 * machine does meets all of them. A round that is not counted comes first: it warms up caches and the compiler.
 */
export async function mediansInTurn<Name extends string>(
  contenders: Contenders<Name>,
  options: { readonly rounds: number; readonly calls: number },
): Promise<{ readonly [name in Name]: number }> {
  const { rounds, calls } = options;
  const names = Object.keys(contenders) as Name[];
  const times = names.map((name) => ({ name, us: [] as number[] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, us } of [...times.slice(round % names.length), ...times.slice(0, round % names.length)]) {
      for (let call = 0; call < calls; call += 1) {
        const start = performance.now();
        await contenders[name](round * calls + call);
        if (round > 0) us.push((performance.now() - start) * 1_000);
      }
    }
  }
  return Object.fromEntries(times.map(({ name, us }) => [name, median(us)])) as { [name in Name]: number };
}
