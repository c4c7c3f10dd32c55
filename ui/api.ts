// The page's HTTP client: one function per request, typed by the HTTP contract.

import { isAltered } from "../src/model/entry.js";
import type {
  AccessAnswer,
  ContextAnswer,
  DoctorAnswer,
  EntriesRecorded,
  EntryAnswer,
  EntryPage,
  ErrorAnswer,
  HealthAnswer,
  HistoryAnswer,
  MemoryAnswer,
  MemoryPage,
  MemorySummary,
  OutlineAnswer,
  ProposalAnswer,
  ReflectionAnswer,
  SearchAnswer,
  SessionAnswer,
  SessionPage,
  ToldAnswer,
  UsageAnswer,
  VerifyAnswer,
} from "../src/surfaces/http/contract.js";
import { createStore } from "./store.js";

type Listed = EntryPage["entries"][number];
/** An altered entry has nothing to show but the fact, so the page gives it a kind of its own. */
type Shown<R> = R extends { readonly altered: true } ? Omit<R, "kind"> & { readonly kind: "altered" } : R;
export type Row = Shown<Listed>;
export type Hit = Shown<SearchAnswer["results"][number]>;
export type RowPage = Omit<EntryPage, "entries"> & { readonly entries: readonly Row[] };
export type HitPage = Omit<SearchAnswer, "results"> & { readonly results: readonly Hit[] };
export type Session = SessionAnswer;
export type Memory = MemorySummary;
export type {
  AccessAnswer,
  ContextAnswer,
  DoctorAnswer,
  HealthAnswer,
  MemoryAnswer,
  MemoryPage,
  OutlineAnswer,
  ReflectionAnswer,
  SessionPage,
  ToldAnswer,
  UsageAnswer,
  VerifyAnswer,
};

/** URL parameters; empty values are left out. */
export type QueryParameters = { readonly [name: string]: string | number | undefined };

/** In sessionStorage: the browser forgets the key when the tab closes. */
const KEY = "hansard-key";

/** Whether the server wants a key, and why it rejected the last one. */
export const auth = createStore<{ readonly locked: boolean; readonly code: string }>({ locked: false, code: "" });
/** Whether the server can be reached. */
export const connection = createStore<"open" | "away">("open");

/** An error response of the server. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number;

  constructor(status: number, { code, message, hint }: ErrorAnswer["error"]) {
    super(message);
    this.code = code;
    this.hint = hint ?? "";
    this.status = status;
  }
}

/** Whether the server is only busy and a later try may succeed. */
export function isTransient(error: Error | undefined): boolean {
  return error instanceof ApiError && (error.status === 429 || error.status === 503);
}

/** The server could not be reached. */
export class NetworkError extends Error {}

function keyHeaders(): { readonly [name: string]: string } {
  const key = savedKey();
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

export function saveKey(key: string): void {
  sessionStorage.setItem(KEY, key);
  auth.set({ locked: false, code: "" });
}

/**
 * Signs out and hides what was shown until another key is entered. Ignores rejections of a key that has been replaced
 * since the request was sent.
 */
export function signOut(code: string, key: string | null): void {
  if (key !== sessionStorage.getItem(KEY)) return;
  sessionStorage.removeItem(KEY);
  if (!auth.get().locked) auth.set({ locked: true, code });
}

export function savedKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function buildUrl(path: string, query: QueryParameters = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly body?: unknown;
  readonly method?: string;
  readonly keepalive?: boolean;
}

/** Sends a request and returns the response, whatever its status; throws only if there is none. */
export async function send(
  path: string,
  { signal, body, method, keepalive = false }: RequestOptions = {},
): Promise<Response> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const init: RequestInit = { cache: "no-store", keepalive, headers: { ...keyHeaders(), ...json } };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) init.body = JSON.stringify(body);
  init.method = method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(path, init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.set("away");
    throw new NetworkError("Can’t reach the server.");
  });
  connection.set("open");
  return response;
}

async function request<T>(path: string, asking: RequestOptions = {}): Promise<T> {
  const key = savedKey();
  const response = await send(path, asking);
  if (response.ok) return (await response.json()) as T;
  const refused = await toApiError(response);
  // A rejected write is reported where it was tried; without read access there is nothing to show.
  const isReading = asking.body === undefined && asking.method === undefined;
  if (response.status === 401 || (isReading && refused.code === "scope_insufficient")) signOut(refused.code, key);
  throw refused;
}

export async function toApiError(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => null)) as Partial<ErrorAnswer> | null;
  // A proxy in between answers in its own format.
  const isApiFormat = typeof answer?.error?.message === "string";
  const other = { code: "internal" as const, message: `The server answered ${response.status}.` };
  return new ApiError(response.status, isApiFormat ? (answer?.error ?? other) : other);
}

const part = encodeURIComponent;

/** `/health` has the same body for 200 and 503; any other body is an error. */
export async function getHealth(signal?: AbortSignal): Promise<HealthAnswer> {
  const response = await send("/health", { signal });
  const health = (await response
    .clone()
    .json()
    .catch(() => null)) as Partial<HealthAnswer> | null;
  if (typeof health?.position !== "number") throw await toApiError(response);
  return health as HealthAnswer;
}

/** The row that the page shows for a listed entry. */
export function toRow<R extends object>(listed: R): Shown<R> {
  return (isAltered(listed) ? { ...listed, kind: "altered" } : listed) as Shown<R>;
}

async function requestRows(path: string, signal: AbortSignal | undefined): Promise<RowPage> {
  const page = await request<EntryPage>(path, { signal });
  return { ...page, entries: page.entries.map(toRow) };
}

export const listEntries = (query: QueryParameters, signal?: AbortSignal) =>
  requestRows(buildUrl("/entries", query), signal);

/** Masked, like everything the page shows. */
export const getEntry = (id: string, signal?: AbortSignal) =>
  request<EntryAnswer>(`/entries/${part(id)}?masked=1`, { signal });

/** The context a model was given for an answer, masked. */
export const getContext = (id: string, signal?: AbortSignal) =>
  request<ContextAnswer>(`/entries/${part(id)}/context?masked=1`, { signal });

export const getTold = (id: string, q: string, signal?: AbortSignal) =>
  request<ToldAnswer>(buildUrl(`/entries/${part(id)}/told`, { q }), { signal });

export const listSessions = (query: QueryParameters, signal?: AbortSignal) =>
  request<SessionPage>(buildUrl("/sessions", query), { signal });

export const getSession = (id: string, signal?: AbortSignal) =>
  request<SessionAnswer>(`/sessions/${part(id)}`, { signal });

export const getOutline = (id: string, signal?: AbortSignal) =>
  request<OutlineAnswer>(`/sessions/${part(id)}/outline`, { signal });

export const sessionEntries = (id: string, query: QueryParameters, signal?: AbortSignal) =>
  requestRows(buildUrl(`/sessions/${part(id)}/entries`, query), signal);

export const getHistory = (id: string, query: QueryParameters) =>
  request<HistoryAnswer>(buildUrl(`/sessions/${part(id)}/history`, query));

export async function searchRecord(query: QueryParameters, signal?: AbortSignal): Promise<HitPage> {
  const page = await request<SearchAnswer>(buildUrl("/search", query), { signal });
  return { ...page, results: page.results.map(toRow) as readonly Hit[] };
}

export const reflect = (query: QueryParameters, signal?: AbortSignal) =>
  request<ReflectionAnswer>(buildUrl("/reflection", query), { signal });

export const getUsage = (query: QueryParameters, signal?: AbortSignal) =>
  request<UsageAnswer>(buildUrl("/usage", query), { signal });

export const verify = (signal?: AbortSignal) => request<VerifyAnswer>("/verify", { signal });

export const getDoctor = (signal?: AbortSignal) => request<DoctorAnswer>("/doctor", { signal });

export const getAccess = (signal?: AbortSignal) => request<AccessAnswer>("/access", { signal });

export const listMemories = (query: QueryParameters, signal?: AbortSignal) =>
  request<MemoryPage>(buildUrl("/memories", query), { signal });

export const getMemory = (id: string, signal?: AbortSignal) =>
  request<MemoryAnswer>(`/memories/${part(id)}`, { signal });

export const proposeMemory = (proposal: object) => request<ProposalAnswer>("/memories", { body: proposal });

export interface Verdict {
  readonly id: string;
  readonly is: "promote" | "reject";
  readonly reason?: string;
  readonly content?: string;
}

/** `keepalive` also delivers a verdict while the page is being closed. */
export const judge = ({ id, is, ...verdict }: Verdict) =>
  request<MemorySummary>(`/memories/${part(id)}/${is}`, { body: verdict, keepalive: true });

export const judgeMany = (verdicts: { readonly promote: readonly string[]; readonly reject: readonly string[] }) =>
  request<unknown>("/memories/verdicts", { body: verdicts });

export const append = (entry: object) => request<EntriesRecorded>("/entries", { body: entry });
