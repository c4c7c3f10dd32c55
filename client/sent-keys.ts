// The keys that a request was sent with. Providers repeat them in errors, and they do not belong into a record.
import { mapTexts } from "./fitted-call.js";

const NAMES = /auth|key|token|secret|cookie|signature|password|credential/i;
/** Names of requests, not secrets. */
const HARMLESS = /idempotency|trace/i;
const SCHEME = /^(?:bearer|basic|token|apikey|key)\s+/i;
/** Anything shorter is also a part of ordinary words. */
const CHARS_MIN = 8;
const MASKED = "[masked]";

/** From a request's headers and address; an address that cannot be parsed has none. */
export function sentKeys(
  headers: Iterable<readonly [name: string, value: string]>,
  address: string,
): readonly string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const named = [...headers, ...(url?.searchParams ?? [])].filter(([name]) => NAMES.test(name) && !HARMLESS.test(name));
  const values = [...named.map(([, value]) => value), url?.password ?? "", url?.username ?? ""];
  const keys = values.flatMap((value) => {
    const key = value.replace(SCHEME, "").trim();
    return [key, ...parts(key)];
  });
  const forms = keys.flatMap((key) => [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)]);
  // The longest first: one may be a part of another.
  return [...new Set(forms)]
    .filter(({ length }) => length >= CHARS_MIN)
    .sort((one, other) => other.length - one.length);
}

/** The values of cookies, and the user's name and password of basic authentication. */
function parts(value: string): readonly string[] {
  const cookies = value
    .split(";")
    .flatMap((one) => (one.includes("=") ? [one.slice(one.indexOf("=") + 1).trim()] : []));
  try {
    const [, password = ""] = /^[^:]*:(.*)$/s.exec(atob(value)) ?? [];
    return [...cookies, password];
  } catch {
    return cookies;
  }
}

export function withoutKeys<T>(call: T, keys: readonly string[]): T {
  if (keys.length === 0) return call;
  return mapTexts(call, (text) => keys.reduce((left, key) => left.replaceAll(key, MASKED), text));
}
