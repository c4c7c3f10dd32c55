// Where a store is: a folder, or the address of a database or a server, and how that is shown without its password.

export function isDatabaseAddress(data: string): boolean {
  return /^postgres(ql)?:\/\//i.test(data);
}

export function isServerAddress(data: string): boolean {
  return /^https?:\/\//i.test(data);
}

/** The place as messages and logs may name it. */
export function shownPlace(data: string): string {
  if (!isDatabaseAddress(data) && !isServerAddress(data)) return data;
  try {
    const url = new URL(data);
    if (url.password !== "") url.password = "***";
    // A password may also be given as a parameter.
    if (url.searchParams.has("password")) url.searchParams.set("password", "***");
    return url.href;
  } catch {
    return "the address that was given";
  }
}
