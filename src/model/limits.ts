// The limits of all inputs; they are part of the contract and stated in docs/reference/limits.md.

export const limits = {
  entry_bytes: 16 * 1024 * 1024,
  request_bytes: 64 * 1024 * 1024,
  history_bytes: 32 * 1024 * 1024,
  /** A page of a list ends early once it holds this much, and has a cursor. */
  page_bytes: 32 * 1024 * 1024,
  /** Of the entries that a proposal quotes. */
  evidence_bytes: 32 * 1024 * 1024,
  context_bytes: 32 * 1024 * 1024,
  /** Entries read for a history or a context, including those it does not show. */
  history_read_chars: 128 * 1024 * 1024,
  nesting_levels: 200,
  /** JSON values are the members of objects and the items of lists, at every depth. */
  entry_values: 250_000,
  request_values: 1_000_000,
  session_id_bytes: 512,
  label_bytes: 256,
  tags: 20,
  tag_bytes: 64,
  id_chars: 128,
  list_max: 500,
  query_chars: 32_768,
  query_terms: 1_000,
  /** Facets count at most this many of a search's newest hits … */
  facet_hits: 2_000,
  /** … among at most this many of the newest entries that may match. */
  facet_entries: 5_000,
  /** The minimum length of a registered value to mask; shorter ones would mask ordinary text too. */
  masked_value_chars_min: 6,
} as const;
