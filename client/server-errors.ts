// What may go wrong with a server, in one table for the client and the library: why there was no connection, what the server
// refused, and what answers without being a Hansard server.

export type ConnectionFailure = "refused" | "unknown_host" | "unreachable" | "timeout" | "tls" | "broken" | "aborted";

/** There was no answer, or no whole one. The message says why in plain words. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ConnectionFailure;

  constructor(code: ConnectionFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

export function timeoutError(timeout_ms: number, cause?: unknown): ConnectionError {
  return new ConnectionError("timeout", `no answer within ${timeout_ms / 1000} seconds`, cause);
}

/** The system's error, in words that say what to look at. */
export function toConnectionError(error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const source = sourceOf(error);
  const code = codeOf(source);
  const [failure, words] = knownFailures[code] ?? tlsFailure(source, code) ?? ["broken", reasonOf(source)];
  return new ConnectionError(failure, words.includes(code) || code === "" ? words : `${words} (${code})`, error);
}

type Failure = readonly [code: ConnectionFailure, words: string];

const closedEarly: Failure = ["broken", "the connection was closed before the answer was complete"];
const noRoute: Failure = ["unreachable", "no route to the host"];
const unknownAuthority: Failure = ["tls", "the TLS certificate's authority is unknown; name it in NODE_EXTRA_CA_CERTS"];

const knownFailures: { readonly [code: string]: Failure } = {
  ABORT_ERR: ["aborted", "the request was aborted"],
  ECONNREFUSED: ["refused", "connection refused: nothing listens on that port"],
  ENOTFOUND: ["unknown_host", "unknown host: no such name in DNS"],
  EAI_AGAIN: ["unknown_host", "DNS gives no answer for the host's name"],
  EHOSTUNREACH: noRoute,
  EHOSTDOWN: noRoute,
  ENETUNREACH: noRoute,
  EACCES: ["unreachable", "a firewall or the system blocked the connection"],
  ETIMEDOUT: ["timeout", "the connection timed out"],
  ECONNRESET: closedEarly,
  ECONNABORTED: closedEarly,
  ERR_STREAM_PREMATURE_CLOSE: closedEarly,
  EPIPE: closedEarly,
  HPE_INVALID_CONSTANT: ["broken", "the server does not speak HTTP; is it an https:// address?"],
  CERT_HAS_EXPIRED: ["tls", "the TLS certificate has expired"],
  CERT_NOT_YET_VALID: ["tls", "the TLS certificate is not valid yet; check this machine's clock"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["tls", "the TLS certificate is self-signed; name it in NODE_EXTRA_CA_CERTS"],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "the TLS certificate is for another host name"],
};

/** OpenSSL's message names a place in its own source; the words after it are what failed. */
function tlsFailure(error: unknown, code: string): Failure | undefined {
  const [, words] = /:SSL routines:[^:]*:([^:]+)/.exec(reasonOf(error)) ?? [];
  const isPlain = words === "wrong version number" || words === "packet length too long";
  if (isPlain) return ["tls", "the server does not speak TLS; is it an http:// address?"];
  if (words !== undefined) return ["tls", `no TLS connection: ${words}`];
  return /CERT|TLS|SSL/.test(code) ? ["tls", `no TLS connection: ${reasonOf(error)}`] : undefined;
}

/** `fetch` keeps what failed in the cause of its error, and a host with several addresses has one error for each. */
function sourceOf(error: unknown): unknown {
  const { cause, errors } = (error ?? {}) as { readonly cause?: unknown; readonly errors?: unknown };
  if (cause instanceof Error) return sourceOf(cause);
  if (codeOf(error) === "" && Array.isArray(errors) && errors[0] instanceof Error) return sourceOf(errors[0]);
  return error;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** What a Hansard server says of a request that it did not carry out. */
interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly field?: string;
  readonly index?: number;
  readonly least?: number;
}

/**
 * Whose part it is to do something about it: the caller's, who can fix the request; the server's, which may work again later;
 * or no fault of Hansard: another server answers, or a proxy in front of one.
 */
export type ServerFailure =
  | { readonly side: "caller" | "server"; readonly error: ServerError }
  | { readonly side: "stranger"; readonly message: string };

export function failureOf(answer: {
  readonly status: number;
  readonly text: string;
  readonly location?: string | undefined;
}): ServerFailure {
  const error = serverErrorIn(answer.text);
  if (error !== undefined) return { side: answer.status >= 500 ? "server" : "caller", error };
  const { status, location } = answer;
  const isRedirect = status >= 300 && status < 400;
  return {
    side: "stranger",
    message: isRedirect ? `it redirects to ${location ?? "another address"}` : `status ${status}`,
  };
}

function serverErrorIn(text: string): ServerError | undefined {
  const { code, message, hint, field, index, least } = objectIn(objectIn(parsed(text)).error);
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return {
    code,
    message,
    ...(typeof hint === "string" && { hint }),
    ...(typeof field === "string" && { field }),
    ...(typeof index === "number" && { index }),
    ...(typeof least === "number" && { least }),
  };
}

/** The JSON object in a text; empty where there is none. */
export function jsonObjectIn(text: string): { readonly [name: string]: unknown } {
  return objectIn(parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}

export function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return error === undefined ? "no reason given" : String(error);
}
