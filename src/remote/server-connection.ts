// Requests to a Hansard server, whose refusals and faults come out as if they had happened here.
import { Fault, type FaultCode } from "../model/fault.js";
import { isJsonObject } from "../model/json.js";
import { RecorderError, type RejectionCode, type RejectionDetails } from "../model/rejection.js";

export type Query = { readonly [name: string]: unknown };

export interface ServerOptions {
  readonly address: string;
  readonly key: string | undefined;
}

export class ServerConnection {
  readonly #base: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #closing = new AbortController();

  constructor({ address, key }: ServerOptions) {
    this.#base = address.replace(/\/+$/, "");
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  /** The document at a path; what is undefined or empty in the query was not asked for. */
  // biome-ignore lint/suspicious/noExplicitAny: the contract of each route says what it answers with.
  async get(path: string, query: Query = {}): Promise<any> {
    return (await this.open(path, query)).json();
  }

  /** The same, or undefined where there is none. */
  async find(path: string, missing: RejectionCode, query: Query = {}): Promise<Response | undefined> {
    try {
      return await this.open(path, query);
    } catch (error) {
      if (error instanceof RecorderError && error.code === missing) return undefined;
      throw error;
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async post(path: string, body: unknown): Promise<any> {
    const headers = { "content-type": "application/json" };
    return (await this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  }

  /** An answer that is read as it comes. */
  open(path: string, query: Query = {}, init: RequestInit = {}): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const search = new URLSearchParams(
      given.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return this.#ask(search === "" ? path : `${path}?${search}`, init);
  }

  close(): void {
    this.#closing.abort();
  }

  async #ask(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as { readonly [name: string]: string } | undefined) };
    const signals = [this.#closing.signal, ...(init.signal ? [init.signal] : [])];
    let answer: Response;
    try {
      answer = await fetch(`${this.#base}${path}`, { ...init, headers, signal: AbortSignal.any(signals) });
    } catch (cause) {
      throw this.#unreachable(cause);
    }
    if (answer.ok) return answer;
    throw toError(answer.status, await answer.text().catch(() => ""), this.#base);
  }

  #unreachable(cause: unknown): Fault {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
    const hint = "Check the address, and that the server runs there (`hansard serve`).";
    return new Fault("store_unavailable", `the server at ${this.#base} cannot be reached: ${reason}`, { hint, cause });
  }
}

/** What the server refused is refused here in the same words; whatever else answers on that port is no such server. */
function toError(status: number, text: string, base: string): Error {
  const error = errorIn(text);
  if (error === undefined) {
    const hint = "Check the address: it should be that of `hansard serve`.";
    return new Fault("store_unsuitable", `${base} answers with status ${status}, and not as a Hansard server`, {
      hint,
    });
  }
  const { code, message, hint = "" } = error;
  // Below 500 the caller can mend it; the tables that decide it are the server's.
  if (status >= 500) return new Fault(code as FaultCode, message, { hint });
  return new RecorderError(error);
}

function errorIn(text: string): RejectionDetails | undefined {
  try {
    const document: unknown = JSON.parse(text);
    const error = isJsonObject(document) ? document.error : undefined;
    return isJsonObject(error) && typeof error.code === "string" ? (error as unknown as RejectionDetails) : undefined;
  } catch {
    return undefined;
  }
}
