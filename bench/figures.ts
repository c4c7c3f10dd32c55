// What a benchmark yields: measured values, and ratios that are held against a target.

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound the project holds itself to, where there is one. */
  readonly target?: { readonly at_least: number } | { readonly at_most: number };
  /** For a ratio: two figures of the same suite and unit. The first is divided by the second. */
  readonly of?: readonly [dividend: string, divisor: string];
}

/** A ratio names the figures that it is made of, so nothing can be divided by what is not printed. */
export type Ratio = Required<Pick<Figure, "name" | "of">> & Pick<Figure, "target">;

/** What a suite yields. */
export type Measured = Figure | Ratio;

/** The same with the ratios worked out. */
export function withRatios(measured: readonly Measured[]): readonly Figure[] {
  const figures = new Map<string, Figure | undefined>();
  // A name that two figures have says of neither that it is meant.
  for (const one of measured) if ("value" in one) figures.set(one.name, figures.has(one.name) ? undefined : one);
  return measured.map((one) => {
    if ("value" in one) return one;
    const [dividend, divisor] = one.of.map((name) => figures.get(name));
    if (dividend === undefined || divisor === undefined || dividend.unit !== divisor.unit) {
      throw new Error(`${one.name}: the suite has no two figures of one unit called ${one.of.join(" and ")}`);
    }
    return { ...one, value: dividend.value / divisor.value, unit: RATIO };
  });
}

const RATIO = "×";

export interface Suite {
  readonly name: string;
  /** What is compared with what, in a sentence for the reader of the table. */
  readonly about: string;
  readonly run: (options: SuiteOptions) => Promise<readonly Measured[]>;
}

export interface SuiteOptions {
  /** A folder of its own that is removed afterwards. */
  readonly folder: string;
  /** How often each measurement is repeated; the median counts. */
  readonly rounds: number;
  /** 1 for the full run, less for a quick look. */
  readonly scale: number;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function isMet(figure: Figure): boolean | undefined {
  if (figure.target === undefined) return undefined;
  if ("at_least" in figure.target) return figure.value >= figure.target.at_least;
  return figure.value <= figure.target.at_most;
}

/** Each is called with a number that grows, so it can ask for something else every time. */
type Contenders<Name extends string> = { readonly [name in Name]: (nth: number) => unknown };

/**
 * The median of each in microseconds. Round by round, and each first as often as the others, so what else the
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
