// Asking the server: every call of the page in one place, typed by the HTTP contract, with the key where one is needed.

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
/** On the page an altered entry is of a kind of its own, whatever it was: there is nothing of it to be shown. */
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
  ReflectionAnswer,
  SessionPage,
  ToldAnswer,
  VerifyAnswer,
};

/** Names and values of an address; what is empty is left out. */
export type Query = { readonly [name: string]: string | number | undefined };

/** Where the key is kept: the browser forgets it with the tab. */
const KEY = "hansard-key";

/** Whether the server wants a key, and why the last one would not do. */
export const door = createStore<{ readonly locked: boolean; readonly code: string }>({ locked: false, code: "" });
/** Whether the server answers. */
export const connection = createStore<"open" | "away">("open");

/** What the server refused, in its own words. */
export class Refused extends Error {
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

/** Whether the server only has too much to do, and will answer by and by. */
export function isPassing(error: Error | undefined): boolean {
  return error instanceof Refused && (error.status === 429 || error.status === 503);
}

/** The server does not answer at all. */
export class Away extends Error {}

function keyHeaders(): { readonly [name: string]: string } {
  const key = keptKey();
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEY, key);
  door.set({ locked: false, code: "" });
}

/**
 * Closes the door: what was shown is gone from the page until another key opens it. Questions that were under way with an
 * older key, or with none, say nothing about the newest.
 */
export function lock(code: string, key: string | null): void {
  if (key !== sessionStorage.getItem(KEY)) return;
  sessionStorage.removeItem(KEY);
  if (!door.get().locked) door.set({ locked: true, code });
}

export function keptKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

interface Asking {
  readonly signal?: AbortSignal | undefined;
  readonly body?: unknown;
  readonly method?: string;
  readonly keepalive?: boolean;
}

/** Asks, and answers with the response whatever it says; fails only where there is none. */
export async function send(path: string, { signal, body, method, keepalive = false }: Asking = {}): Promise<Response> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const init: RequestInit = { cache: "no-store", keepalive, headers: { ...keyHeaders(), ...json } };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) init.body = JSON.stringify(body);
  init.method = method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(path, init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.set("away");
    throw new Away("The server does not answer.");
  });
  connection.set("open");
  return response;
}

async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  const key = keptKey();
  const response = await send(path, asking);
  if (response.ok) return (await response.json()) as T;
  const refused = await toRefused(response);
  // What one may not write is told where it was tried; what one may not read leaves nothing to show.
  const isReading = asking.body === undefined && asking.method === undefined;
  if (response.status === 401 || (isReading && refused.code === "scope_insufficient")) lock(refused.code, key);
  throw refused;
}

export async function toRefused(response: Response): Promise<Refused> {
  const answer = (await response.json().catch(() => null)) as Partial<ErrorAnswer> | null;
  // What stands between the page and the server answers in words of its own.
  const isOurs = typeof answer?.error?.message === "string";
  const other = { code: "internal" as const, message: `The server answered ${response.status}.` };
  return new Refused(response.status, isOurs ? (answer?.error ?? other) : other);
}

const part = encodeURIComponent;

/** `/health` says in the same words that it is well and that it is not; all else that is answered there is no health. */
export async function getHealth(signal?: AbortSignal): Promise<HealthAnswer> {
  const response = await send("/health", { signal });
  const health = (await response
    .clone()
    .json()
    .catch(() => null)) as Partial<HealthAnswer> | null;
  if (typeof health?.position !== "number") throw await toRefused(response);
  return health as HealthAnswer;
}

/** A row of a list as the page shows it. */
export function toRow<R extends object>(listed: R): Shown<R> {
  return (isAltered(listed) ? { ...listed, kind: "altered" } : listed) as Shown<R>;
}

async function askRows(path: string, signal: AbortSignal | undefined): Promise<RowPage> {
  const page = await ask<EntryPage>(path, { signal });
  return { ...page, entries: page.entries.map(toRow) };
}

export const listEntries = (query: Query, signal?: AbortSignal) => askRows(address("/entries", query), signal);

/** Masked, as everything that the page shows. */
export const getEntry = (id: string, signal?: AbortSignal) =>
  ask<EntryAnswer>(`/entries/${part(id)}?masked=1`, { signal });

/** What a model was given for an answer, masked. */
export const getContext = (id: string, signal?: AbortSignal) =>
  ask<ContextAnswer>(`/entries/${part(id)}/context?masked=1`, { signal });

export const askTold = (id: string, q: string, signal?: AbortSignal) =>
  ask<ToldAnswer>(address(`/entries/${part(id)}/told`, { q }), { signal });

export const listSessions = (query: Query, signal?: AbortSignal) =>
  ask<SessionPage>(address("/sessions", query), { signal });

export const getSession = (id: string, signal?: AbortSignal) => ask<SessionAnswer>(`/sessions/${part(id)}`, { signal });

export const sessionEntries = (id: string, query: Query, signal?: AbortSignal) =>
  askRows(address(`/sessions/${part(id)}/entries`, query), signal);

export const getHistory = (id: string, query: Query) =>
  ask<HistoryAnswer>(address(`/sessions/${part(id)}/history`, query));

export async function searchRecord(query: Query, signal?: AbortSignal): Promise<HitPage> {
  const page = await ask<SearchAnswer>(address("/search", query), { signal });
  return { ...page, results: page.results.map(toRow) as readonly Hit[] };
}

export const reflect = (query: Query, signal?: AbortSignal) =>
  ask<ReflectionAnswer>(address("/reflection", query), { signal });

export const getUsage = (query: Query, signal?: AbortSignal) => ask<UsageAnswer>(address("/usage", query), { signal });

export const verify = (signal?: AbortSignal) => ask<VerifyAnswer>("/verify", { signal });

export const askDoctor = (signal?: AbortSignal) => ask<DoctorAnswer>("/doctor", { signal });

export const getAccess = (signal?: AbortSignal) => ask<AccessAnswer>("/access", { signal });

export const listMemories = (query: Query, signal?: AbortSignal) =>
  ask<MemoryPage>(address("/memories", query), { signal });

export const getMemory = (id: string, signal?: AbortSignal) => ask<MemoryAnswer>(`/memories/${part(id)}`, { signal });

export const proposeMemory = (proposal: object) => ask<ProposalAnswer>("/memories", { body: proposal });

export interface Verdict {
  readonly id: string;
  readonly is: "promote" | "reject";
  readonly reason?: string;
  readonly content?: string;
}

/** Also sent where the page is being left: a verdict that was given counts. */
export const judge = ({ id, is, ...said }: Verdict) =>
  ask<MemorySummary>(`/memories/${part(id)}/${is}`, { body: said, keepalive: true });

export const judgeMany = (verdicts: { readonly promote: readonly string[]; readonly reject: readonly string[] }) =>
  ask<unknown>("/memories/verdicts", { body: verdicts });

export const append = (entry: object) => ask<EntriesRecorded>("/entries", { body: entry });
