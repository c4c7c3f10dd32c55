// Where a store is: a folder, or the address of a database, and how that is shown without its password.

export function isDatabaseAddress(data: string): boolean {
  return /^postgres(ql)?:\/\//i.test(data);
}

/** The place as messages and logs may name it. */
export function shownPlace(data: string): string {
  if (!isDatabaseAddress(data)) return data;
  try {
    const url = new URL(data);
    if (url.password !== "") url.password = "***";
    // A password may also be given as a parameter.
    if (url.searchParams.has("password")) url.searchParams.set("password", "***");
    return url.href;
  } catch {
    return "the PostgreSQL address";
  }
}
