// What a benchmark yields: measured values, and ratios that are held against a target.

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound the project holds itself to, where there is one. */
  readonly target?: { readonly at_least: number } | { readonly at_most: number };
}

export interface Suite {
  readonly name: string;
  /** What is compared with what, in a sentence for the reader of the table. */
  readonly about: string;
  readonly run: (options: SuiteOptions) => Promise<readonly Figure[]>;
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
