// The version of what entries become in the index. The code in this folder decides it, so that any change of its output
// leaves indexes that lack something, until they are rebuilt.

/**
 * Raised with every change of the rows, references, facts, texts or documents that an entry becomes.
 * `test/upgrade/derivation.test.ts` fails where the output changes and this number does not.
 */
export const DERIVATION = 2;

/** The highest `DERIVATION` there can be, with the tables' own version in front of it. */
const DERIVATIONS_MAX = 1_000;

/**
 * What an engine stores with its index: the version of its tables, and that of what is put into them. A change of either
 * is a higher number, so one comparison says whether an index is older, newer or current.
 */
export function indexVersion(tables: number): number {
  return tables * DERIVATIONS_MAX + DERIVATION;
}

/** In words, for a person; versions before there was a derivation were those of the tables alone. */
export function describeIndexVersion(version: number): string {
  if (version < DERIVATIONS_MAX) return `tables ${version}`;
  return `tables ${Math.floor(version / DERIVATIONS_MAX)}, derivation ${version % DERIVATIONS_MAX}`;
}
