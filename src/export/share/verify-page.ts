// Verifies a shared page against a store: what it says of the entries, the seal in it, and the text that it shows.
import type { Entry, ErasedEntry } from "../../model/entry.js";
import type { Seal, Verification } from "../../model/verification.js";
import { comparePages, type PageFlaw, readPage } from "./check.js";
import type { SharedPage } from "./page.js";

export type PageVerification =
  | {
      readonly ok: true;
      readonly session_id: string;
      /** How many of the session's entries have the hash that the page says; erased ones keep theirs. */
      readonly entries: number;
      readonly erased: number;
      /** How many articles show what this store shows. Absent where the session went on and the text could not be compared. */
      readonly articles?: number;
      /** Absent if the page has none, or it could not be checked here. */
      readonly seal?: { readonly position: number; readonly sealed_at: string; readonly public_key: string };
    }
  | { readonly ok: false; readonly position: number; readonly reason: string };

/** What is asked of the store. */
export interface PageSource {
  /** The session as a page, as it was at a position; a server gives it as it is now. */
  page(session_id: string, through: number): AsyncIterable<string>;
  entry(position: number): Promise<Entry | ErasedEntry | object | undefined>;
  /** Walks the chain, and checks a seal. */
  chain(seal: Seal | undefined): Promise<Verification>;
}

export async function verifyPage(html: string, source: PageSource): Promise<PageVerification> {
  const page = readPage(html);
  if ("is" in page) return failed(page);
  const made = readPage(await textOf(source.page(page.session_id, page.position)));
  // Ours is always as it was written.
  if ("is" in made) return failed(made);
  if (made.log_id !== page.log_id) return { ok: false, position: 0, reason: "the page is of another log" };
  const chain = await chainOf(page, source);
  if (chain !== undefined && !chain.ok) return { ok: false, position: chain.position, reason: chain.reason };
  const compared = comparePages(page, made);
  const gone = await goneFrom(page, compared.hashes, source);
  if (typeof gone === "number") {
    return { ok: false, position: gone, reason: "the entry has another hash in this store, or is not in it" };
  }
  // The text of a session that went on may be another one: a call that had no result may have one.
  const isComparable = compared.later === 0;
  const [changed] = compared.texts;
  if (isComparable && changed !== undefined) {
    const words =
      "the text is not what this store shows: it was changed, is masked in another way here, or what it refers to was erased";
    return { ok: false, position: changed, reason: words };
  }
  if (isComparable && !compared.same_head && gone.size === 0) {
    return { ok: false, position: 0, reason: "title or figures at the top are not those of the session" };
  }
  const shown = page.entries.filter((entry) => entry.shown !== undefined).length;
  return {
    ok: true,
    session_id: page.session_id,
    entries: page.entries.length,
    erased: gone.size,
    ...(isComparable
      ? {
          articles:
            shown - page.entries.filter(({ position, shown }) => shown !== undefined && gone.has(position)).length,
        }
      : {}),
    ...(chain?.ok === true && chain.seal !== undefined ? { seal: chain.seal } : {}),
  };
}

function failed({ reason, position = 0 }: PageFlaw): PageVerification {
  return { ok: false, position, reason };
}

/** A server does not check seals for others. */
async function chainOf({ seal }: SharedPage, source: PageSource): Promise<Verification | undefined> {
  try {
    return await source.chain(seal);
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "store_unsuitable") throw error;
    return source.chain(undefined);
  }
}

/** Entries of the page that the session lacks now: erased or replaced ones keep their hash; else the first that does not. */
async function goneFrom(
  page: SharedPage,
  positions: readonly number[],
  source: PageSource,
): Promise<ReadonlySet<number> | number> {
  const gone = new Set<number>();
  const hashes = new Map(page.entries.map(({ position, hash }) => [position, hash]));
  for (const position of positions) {
    const entry = (await source.entry(position)) as { readonly hash?: string } | undefined;
    if (entry?.hash !== hashes.get(position)) return position;
    gone.add(position);
  }
  return gone;
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(piece);
  return all.join("");
}
