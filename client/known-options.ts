// Options are checked when something is created: a misspelt one would have no effect, and nobody would notice.

/** Throws for a name that is none, with the one that was probably meant. */
export function assertKnown(what: string, options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = names.find(
    (name) => plain(name) === plain(unknown) || name.startsWith(unknown) || unknown.startsWith(name),
  );
  const hint = meant === undefined ? `Options are ${names.join(", ")}.` : `Did you mean ${meant}?`;
  throw new TypeError(`${what} has no option ${unknown}. ${hint}`);
}

/** `spoolBytesMax` is meant to be `spool_bytes_max`. */
function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
