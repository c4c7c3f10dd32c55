// Requests to a Hansard server. Its refusals and faults are thrown as if they had happened here; an answer of another
// server becomes a fault that names the server and a hint.
import {
  Connection,
  readBytes,
  readText,
  type ServerAnswer,
  type ServerRequest,
  textOf,
} from "../../../client/connection.js";
import { ConnectionError, failureOf, timeoutError } from "../../../client/server-errors.js";
import { Fault, type FaultCode } from "../../model/fault.js";
import { isJsonObject, type JsonValue, parseJson } from "../../model/json.js";
import { RecorderError, type RejectionCode, type RejectionDetails } from "../../model/rejection.js";

export type Query = { readonly [name: string]: unknown };

export interface ServerOptions {
  readonly address: string;
  readonly key: string | undefined;
  /** Timeout of an answer; a minute, and five if it has to read the whole record. */
  readonly answer_ms?: number | undefined;
}

type KeyOf<T> = T extends unknown ? keyof T & string : never;

/** Required members of an answer, or one of several: without them another server has answered. */
type Members<T> = readonly (KeyOf<T> | readonly KeyOf<T>[])[];

interface Asking {
  readonly query?: Query;
  /** Whether the server may have to read the whole record for it. */
  readonly reads_all?: boolean | undefined;
}

interface Opening extends Asking {
  readonly signal?: AbortSignal;
  /** The type of an answer that is none of the usual ones. */
  readonly accepts?: RegExp | undefined;
}

interface Sending extends Pick<Asking, "reads_all"> {
  readonly body: unknown;
}

export class ServerConnection {
  /** The server's address, without a slash at its end. */
  readonly address: string;
  readonly #connection: Connection;
  readonly #answerMs: number | undefined;

  constructor({ address, key, answer_ms }: ServerOptions) {
    this.address = address.replace(/\/+$/, "");
    this.#answerMs = answer_ms;
    this.#connection = new Connection({ address: this.address, key, keeps_process_alive: true });
  }

  /** The document at a path; undefined and empty query values are left out. */
  get<T extends object>(path: string, members: Members<T>, { query = {}, reads_all }: Asking = {}): Promise<T> {
    return this.#document({ path: withQuery(path, query), timeout_ms: this.#timeoutMs(reads_all) }, members);
  }

  /** The same; undefined if there is none. */
  find<T extends object>(path: string, members: Members<T>, missing: RejectionCode): Promise<T | undefined> {
    return orMissing(missing, this.get(path, members));
  }

  /** The bytes of a document; undefined if there is none. */
  findBytes(path: string, missing: RejectionCode): Promise<Uint8Array | undefined> {
    return orMissing(missing, this.#bytes(path));
  }

  post<T extends object>(path: string, members: Members<T>, { body, reads_all }: Sending): Promise<T> {
    const sent = { type: "application/json", text: JSON.stringify(body) };
    return this.#document({ path, timeout_ms: this.#timeoutMs(reads_all), body: sent }, members);
  }

  /** An answer that is read as it comes. */
  async open(
    path: string,
    { query = {}, reads_all, signal, accepts = OUR_TYPES }: Opening = {},
  ): Promise<ServerAnswer> {
    const timeout_ms = this.#timeoutMs(reads_all);
    const request = { path: withQuery(path, query), timeout_ms, signal };
    const answer = await this.#reached(this.#connection.open(request));
    if (isSuccess(answer) && accepts.test(answer.content_type)) return { ...answer, body: this.#read(answer.body) };
    if (isSuccess(answer)) answer.cancel();
    throw this.#toError({ ...answer, text: isSuccess(answer) ? "" : await readText(answer.body).catch(() => "") });
  }

  close(): void {
    this.#connection.close();
  }

  async #document<T extends object>(request: ServerRequest, members: Members<T>): Promise<T> {
    const answer = await this.#reached(this.#connection.ask(request));
    if (!isSuccess(answer)) throw this.#toError(answer);
    if (!OUR_TYPES.test(answer.content_type)) throw this.#toError({ ...answer, text: "" });
    const document = parseJson(answer.text);
    if (document === undefined) throw this.#brokenOff();
    const absent = absentMember(document, members);
    if (absent === undefined) return document as unknown as T;
    const place = request.path.replace(/\?.*$/, "");
    const message = `the server at ${this.address} gave no usable answer for ${place}: ${absent}`;
    throw new Fault("store_unsuitable", message, { hint: ANSWER_HINT });
  }

  #brokenOff(): Fault {
    const message = `the server at ${this.address} sent an incomplete answer: it is not valid JSON`;
    return new Fault("store_unavailable", message, { hint: hints.broken });
  }

  #timeoutMs(reads_all = false): number {
    return this.#answerMs ?? (reads_all ? READS_ALL_MS : ANSWER_MS);
  }

  async #reached<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.#toFault(error);
    }
  }

  async #bytes(path: string): Promise<Uint8Array> {
    const timeout_ms = this.#timeoutMs();
    const late = AbortSignal.timeout(timeout_ms);
    try {
      return await readBytes((await this.open(path, { signal: late })).body);
    } catch (error) {
      throw late.aborted ? this.#toFault(timeoutError(timeout_ms, error)) : error;
    }
  }

  async *#read(body: ServerAnswer["body"]): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* body;
    } catch (error) {
      throw this.#toFault(error);
    }
  }

  #toFault(cause: unknown): unknown {
    if (!(cause instanceof ConnectionError)) return cause;
    const message = `the server at ${this.address} cannot be reached: ${cause.message}`;
    return new Fault("store_unavailable", message, { hint: hints[cause.code], cause });
  }

  #toError(answer: { readonly status: number; readonly text: string; readonly location?: string | undefined }): Error {
    const failure = failureOf(answer);
    if (failure.side === "stranger") return strangerAt(this.address, answer);
    const { code, message, hint = "" } = failure.error;
    if (failure.side === "server") return new Fault(code as FaultCode, message, { hint });
    const details = failure.error as RejectionDetails;
    // The server's hint names a request header; callers of this library do not write headers.
    return new RecorderError(code === "key_missing" || code === "key_wrong" ? { ...details, hint: KEY_HINT } : details);
  }
}

const ANSWER_MS = 60_000;
const READS_ALL_MS = 290_000;

/** Whether it is a Hansard server's answer; an HTML page is somebody else's. */
const OUR_TYPES = /^(?:application\/(?:json|x-ndjson)|text\/(?:event-stream|markdown))\b/;

const ANSWER_HINT =
  "Check the address, any proxy in front of the server, and that both run the same version of Hansard.";

const KEY_HINT =
  "Give one in HANSARD_KEY, with the address in HANSARD_DATA or --data, or as `key`; `hansard keys create` creates one, on the server's machine.";

const hints: { readonly [C in ConnectionError["code"]]: string } = {
  refused: "Check the address and the port, and that a server runs there.",
  unknown_host: "Check how the host is spelled.",
  unreachable: "Check the address and the network.",
  timeout: "Check the address, and that a server runs there; a busy one may answer later.",
  tls: "Check whether the address begins with http:// or https://, and the server's certificate.",
  broken: "Try again. If it persists, check the server's log and any proxy in front of it.",
  aborted: "Connect again.",
};

function strangerAt(
  address: string,
  { status, location }: { readonly status: number; readonly location?: string | undefined },
) {
  if (status >= 300 && status < 400) {
    const message = `${address} redirects to ${location ?? "another address"}`;
    return new Fault("store_unsuitable", message, {
      hint: "Use the address that it redirects to. Hansard does not follow redirects, because they would pass on your key.",
    });
  }
  const message = `${address} answers with status ${status}, but not as a Hansard server`;
  return new Fault("store_unsuitable", message, { hint: "Check the address: another program listens there." });
}

function absentMember(document: JsonValue, members: readonly (string | readonly string[])[]): string | undefined {
  if (!isJsonObject(document)) return "it is not a JSON object";
  const absent = members.find((names) => ![names].flat().some((name) => Object.hasOwn(document, name)));
  return absent === undefined ? undefined : `it has no ${[absent].flat().join(" or ")}`;
}

function isSuccess({ status }: { readonly status: number }): boolean {
  return status >= 200 && status < 300;
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return search === "" ? path : `${path}?${search}`;
}

async function orMissing<T>(missing: RejectionCode, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RecorderError && error.code === missing) return undefined;
    throw error;
  }
}

/**
 * A body as text, split after each separator; the last part is what remains. Only new text is searched, so a long part
 * takes linear time.
 */
export async function* wholeParts(
  body: ServerAnswer["body"],
  separator: string,
): AsyncGenerator<string, void, undefined> {
  let begun: string[] = [];
  let last = "";
  for await (const piece of textOf(body)) {
    const text = `${last}${piece}`;
    const end = text.lastIndexOf(separator);
    // The separator may have begun in the previous chunk.
    const cut = end === -1 ? Math.max(0, text.length - separator.length + 1) : end + separator.length;
    begun.push(text.slice(0, cut));
    last = text.slice(cut);
    if (end === -1) continue;
    yield begun.join("");
    begun = [];
  }
  const rest = `${begun.join("")}${last}`;
  if (rest !== "") yield rest;
}
