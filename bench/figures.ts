// What a benchmark yields: measured values, and ratios that are held against a target.

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound the project holds itself to, where there is one. */
  readonly target?: { readonly at_least: number } | { readonly at_most: number };
  /** Of a ratio: the names of the figures of the same suite, of the same unit, of which the first is divided by the second. */
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
