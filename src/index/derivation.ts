// The version of what entries become in the index. Any change of this folder's output leaves existing indexes
// incomplete until they are rebuilt.

/**
 * Raise it with every change of the rows, references, facts, texts or documents that an entry becomes.
 * `test/upgrade/derivation.test.ts` fails if the output changes and this number does not.
 */
export const DERIVATION = 5;

/** `DERIVATION` stays below this; the tables' version is in front of it. */
const DERIVATIONS_MAX = 1_000;

/**
 * What an engine stores with its index: the version of its tables and of their content. Any change raises the number,
 * so one comparison tells whether an index is older, newer or current.
 */
export function indexVersion(tables: number): number {
  return tables * DERIVATIONS_MAX + DERIVATION;
}

/** In words; versions from before `DERIVATION` are those of the tables alone. */
export function describeIndexVersion(version: number): string {
  if (version < DERIVATIONS_MAX) return `tables ${version}`;
  return `tables ${Math.floor(version / DERIVATIONS_MAX)}, derivation ${version % DERIVATIONS_MAX}`;
}
