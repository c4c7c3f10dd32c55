// Checks a shared page: first by itself, since everything in it follows from its articles and its data, then against another
// page of the same session, made now from the store.
import { isJsonObject, type JsonObject, parseJsonObject } from "../../model/json.js";
import type { Seal } from "../../model/verification.js";
import { DATA_END, DATA_START, pageBottom, pageTop, SHARE_VERSION, type SharedPage, shownHash } from "./page.js";

/** Larger files are no pages of ours. */
export const PAGE_BYTES_MAX = 128 * 1024 * 1024;

export type PageFlaw =
  /** It is no shared page, or not as it was written. */
  { readonly is: "unreadable" | "version" | "changed"; readonly reason: string; readonly position?: number };

/** The data of a page that is as it was written. */
export function readPage(text: string): SharedPage | PageFlaw {
  const at = text.lastIndexOf(DATA_START);
  if (at === -1 || !text.endsWith(DATA_END))
    return { is: "unreadable", reason: "it is not a page that `hansard share` wrote" };
  const page = parsePage(parseJsonObject(text.slice(at + DATA_START.length, -DATA_END.length)));
  if (page === undefined) return { is: "unreadable", reason: "its data cannot be read" };
  if (page.hansard_share !== SHARE_VERSION) {
    return {
      is: "version",
      reason: `it was written in form ${page.hansard_share}; this version of Hansard reads form ${SHARE_VERSION}`,
    };
  }
  const [top, bottom] = [pageTop(page), pageBottom(page)];
  if (!text.startsWith(top)) return { is: "changed", reason: "its head is not the one that was written" };
  if (!text.endsWith(bottom)) return { is: "changed", reason: "its end is not the one that was written" };
  if (top.length + bottom.length > text.length) return { is: "changed", reason: "articles are missing" };
  const articles = text.slice(top.length, text.length - bottom.length).split(/(?<=<\/article>\n)/);
  const shown = page.entries.filter((entry) => entry.shown !== undefined);
  const found = articles.filter((article) => article !== "");
  for (const [nth, entry] of shown.entries()) {
    const article = found[nth];
    if (
      article === undefined ||
      !article.startsWith(`<article id="e${entry.position}" `) ||
      shownHash(article) !== entry.shown
    ) {
      return { is: "changed", reason: "the text is not the one that was written", position: entry.position };
    }
  }
  if (found.length > shown.length) return { is: "changed", reason: "there is text that was not written" };
  return page;
}

/** What two pages of one session have in common. `now` may go on where `then` ends. */
export interface PageComparison {
  /** Positions whose hash is another one now, or that are not there any more. */
  readonly hashes: readonly number[];
  /** Positions whose entry is the same, but whose text is shown in another way. */
  readonly texts: readonly number[];
  /** Entries that came since. */
  readonly later: number;
  /** Whether title and figures at the top are those of now; they change as a session goes on. */
  readonly same_head: boolean;
}

export function comparePages(then: SharedPage, now: SharedPage): PageComparison {
  const known = new Map(now.entries.map((entry) => [entry.position, entry]));
  const isSame = ({ position, kind, recorded_at, hash }: SharedPage["entries"][number]): boolean => {
    const entry = known.get(position);
    return entry !== undefined && entry.hash === hash && entry.kind === kind && entry.recorded_at === recorded_at;
  };
  const hashes = then.entries.filter((entry) => !isSame(entry)).map(({ position }) => position);
  const texts = then.entries.filter((entry) => isSame(entry) && known.get(entry.position)?.shown !== entry.shown);
  const head = ({ title, facts }: SharedPage): string => JSON.stringify([title, facts]);
  return {
    hashes,
    texts: texts.map(({ position }) => position),
    later: now.entries.filter(({ position }) => position > then.position).length,
    same_head: head(then) === head(now),
  };
}

function parsePage(data: JsonObject | undefined): SharedPage | undefined {
  if (data === undefined || typeof data.hansard_share !== "number") return undefined;
  const texts = ["log_id", "session_id", "title", "shared_at", "hash"].every((name) => typeof data[name] === "string");
  const { facts, entries, position, seal } = data;
  const isFine =
    texts &&
    Number.isSafeInteger(position) &&
    Array.isArray(facts) &&
    facts.every((fact) => typeof fact === "string") &&
    Array.isArray(entries) &&
    entries.every(isEntry) &&
    (seal === undefined || isSeal(seal));
  return isFine ? (data as unknown as SharedPage) : undefined;
}

function isEntry(entry: unknown): boolean {
  if (!isJsonObject(entry)) return false;
  const { position, kind, recorded_at, hash, shown } = entry;
  const texts = [kind, recorded_at, hash, ...(shown === undefined ? [] : [shown])];
  return Number.isSafeInteger(position) && texts.every((text) => typeof text === "string");
}

function isSeal(seal: unknown): seal is Seal {
  if (!isJsonObject(seal)) return false;
  const texts = [seal.log_id, seal.hash, seal.sealed_at, seal.public_key, seal.signature];
  return Number.isSafeInteger(seal.position) && texts.every((text) => typeof text === "string");
}
