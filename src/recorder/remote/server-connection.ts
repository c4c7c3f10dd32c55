// Requests to a Hansard server, whose refusals and faults come out as if they had happened here.
import * as http from "node:http";
import * as https from "node:https";
import { connectionWords } from "../../../client/transport.js";
import { Fault, type FaultCode } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import { RecorderError, type RejectionCode, type RejectionDetails } from "../../model/rejection.js";

export type Query = { readonly [name: string]: unknown };

export interface ServerOptions {
  readonly address: string;
  readonly key: string | undefined;
  /** How long it may take to answer; a minute, and five where it has to read the whole record for it. */
  readonly answer_ms?: number | undefined;
}

export class ServerConnection {
  readonly #base: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #answerMs: number | undefined;
  readonly #closing = new AbortController();

  constructor({ address, key, answer_ms }: ServerOptions) {
    this.#answerMs = answer_ms;
    this.#base = address.replace(/\/+$/, "");
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  get address(): string {
    return this.#base;
  }

  /** The document at a path; what is undefined or empty in the query was not asked for. */
  // biome-ignore lint/suspicious/noExplicitAny: the contract of each route says what it answers with.
  async get(path: string, query: Query = {}): Promise<any> {
    return this.#inTime(path, async (signal) => this.#documentIn(await this.open(path, query, { signal })));
  }

  /** The same, or undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async find(path: string, missing: RejectionCode, query: Query = {}): Promise<any> {
    return orMissing(missing, this.get(path, query));
  }

  /** Its answer as it came. */
  async findAnswer(path: string, missing: RejectionCode, query: Query = {}): Promise<Response | undefined> {
    return orMissing(missing, this.open(path, query));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async post(path: string, body: unknown): Promise<any> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return this.#inTime(path, async (signal) => this.#documentIn(await this.#ask(path, { ...init, signal })));
  }

  /** An answer that is read as it comes. */
  open(path: string, query: Query = {}, init: RequestInit = {}): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const search = new URLSearchParams(
      given.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const asked = search === "" ? path : `${path}?${search}`;
    return this.#inTime(path, (signal) => this.#ask(asked, { ...init, signal: joined(signal, init.signal) }));
  }

  close(): void {
    this.#closing.abort();
  }

  async #ask(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as { readonly [name: string]: string } | undefined) };
    const asked = { ...init, headers, signal: joined(this.#closing.signal, init.signal) };
    let answer: Response;
    try {
      answer = await (HAS_DOTS.test(path) ? askAsIs(this.#base, path, asked) : fetch(`${this.#base}${path}`, asked));
    } catch (cause) {
      throw this.#unreachable(cause);
    }
    if (!answer.ok) throw toError(answer.status, await answer.text().catch(() => ""), this.#base);
    if (OUR_TYPES.test(answer.headers.get("content-type") ?? "")) return answer;
    await answer.body?.cancel();
    throw noSuchServer(answer.status, this.#base);
  }

  async #documentIn(answer: Response): Promise<unknown> {
    try {
      return await answer.json();
    } catch (cause) {
      const hint = "Try again; if it stays, look at the server's log, and at whatever lies between.";
      const message = `the server at ${this.#base} broke off its answer: ${wordsOf(cause)}`;
      throw new Fault("store_unavailable", message, { hint, cause });
    }
  }

  /** What takes longer than it may has failed: `fetch` alone would wait for five minutes, whatever was asked. */
  async #inTime<T>(path: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const ms = this.#answerMs ?? (READS_ALL.test(path) ? READS_ALL_MS : ANSWER_MS);
    const timer = setTimeout(() => stop.abort(), ms);
    try {
      return await work(stop.signal);
    } catch (error) {
      throw stop.signal.aborted ? this.#unreachable(`it gave no answer within ${ms / 1000} seconds`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #unreachable(cause: unknown): Fault {
    const hint = "Check the address, and that a server runs there.";
    const message = `the server at ${this.#base} cannot be reached: ${wordsOf(cause)}`;
    return new Fault("store_unavailable", message, { hint, cause });
  }
}

const ANSWER_MS = 60_000;
/** Below the five minutes of `fetch`, so that it is said in words of ours. */
const READS_ALL_MS = 290_000;
const READS_ALL = /^\/(?:verify|export|forget|memories\/(?:audit|import))$|\/(?:extract|reinforce)$/;

function joined(signal: AbortSignal, other: AbortSignal | null | undefined): AbortSignal {
  return other ? AbortSignal.any([signal, other]) : signal;
}

async function orMissing<T>(missing: RejectionCode, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RecorderError && error.code === missing) return undefined;
    throw error;
  }
}

/** `fetch` keeps what really failed in the cause of its error. */
function wordsOf(cause: unknown): string {
  return connectionWords(cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause);
}

/** What the server refused is refused here in the same words; whatever else answers on that port is no such server. */
function toError(status: number, text: string, base: string): Error {
  const error = errorIn(text);
  if (error === undefined) return noSuchServer(status, base);
  const { code, message, hint = "" } = error;
  if (code === "key_missing" || code === "key_wrong") return new RecorderError({ ...error, hint: KEY_HINT });
  // Below 500 the caller can mend it; the tables that decide it are the server's.
  if (status >= 500) return new Fault(code as FaultCode, message, { hint });
  return new RecorderError(error);
}

/** The server speaks of the header that a request needs; here nobody writes one. */
const KEY_HINT = "Give one in HANSARD_KEY, or as `key`; `hansard keys create` makes one, where the record lies.";

function noSuchServer(status: number, base: string): Fault {
  const message = `${base} answers with status ${status}, and not as a Hansard server`;
  return new Fault("store_unsuitable", message, { hint: "Check the address: another program listens there." });
}

/** What a Hansard server answers with; a page is from somebody else. */
const OUR_TYPES = /^(?:application\/(?:json|x-ndjson)|text\/(?:event-stream|markdown))\b/;

/** `.` and `..` are ids like any other, and to `fetch` they lead to another path. */
const HAS_DOTS = /\/\.{1,2}(?:[/?]|$)/;

/** A small request whose path is sent as it is. */
function askAsIs(base: string, path: string, { method, headers, signal, body }: RequestInit): Promise<Response> {
  const { pathname, protocol } = new URL(base);
  const ask = protocol === "https:" ? https.request : http.request;
  const options = { method, headers, signal, path: `${pathname.replace(/\/+$/, "")}${path}` } as http.RequestOptions;
  return new Promise((resolve, reject) => {
    const asked = ask(base, options, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("error", reject);
      answer.on("end", () => {
        const headers = { "content-type": answer.headers["content-type"] ?? "" };
        resolve(new Response(Buffer.concat(pieces), { status: answer.statusCode ?? 502, headers }));
      });
    });
    asked.on("error", reject);
    asked.end(body as string | undefined);
  });
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
