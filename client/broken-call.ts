// Why a call did not come to its end, by kind and with its cause.
import { reasonOf, toConnectionError } from "./server-errors.js";

export interface Broken {
  /** Only what the caller aborted is `aborted`. */
  readonly kind: "aborted" | "connection" | "unreadable";
  readonly reason: string;
}

/** By the error of a `fetch` or of a body. */
export function brokenBy(error: unknown): Broken {
  const { name } = (error ?? {}) as { readonly name?: unknown };
  if (name === "AbortError" || name === "TimeoutError") return abortedBy(error);
  return { kind: "connection", reason: toConnectionError(error).message };
}

export function abortedBy(reason: unknown): Broken {
  const { name } = (reason ?? {}) as { readonly name?: unknown };
  const isPlain = reason === undefined || name === "AbortError";
  return { kind: "aborted", reason: isPlain ? "aborted by the caller" : `aborted: ${reasonOf(reason)}` };
}

export function unreadable(reason: string): Broken {
  return { kind: "unreadable", reason };
}
