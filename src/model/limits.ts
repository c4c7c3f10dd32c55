// The limits every door enforces; they are part of the contract and stated in docs/reference/limits.md.

export const limits = {
  entry_bytes: 16 * 1024 * 1024,
  request_bytes: 64 * 1024 * 1024,
  history_bytes: 32 * 1024 * 1024,
  /** Of entries that are read for a history: much of them may not be shown. */
  history_read_chars: 256 * 1024 * 1024,
  nesting_levels: 200,
  /** JSON values are the members of objects and the items of lists, at every depth. */
  entry_values: 250_000,
  request_values: 1_000_000,
  session_id_bytes: 512,
  label_bytes: 256,
  id_chars: 128,
  list_max: 500,
  query_chars: 32_768,
  query_terms: 1_000,
  /** Facets count the newest so many hits of a search … */
  facet_hits: 2_000,
  /** … among the newest so many entries that may hold what is looked for. */
  facet_entries: 5_000,
  /** A value that the user registers to be masked has as many characters at least, or ordinary text would be masked too. */
  masked_value_chars_min: 6,
} as const;
