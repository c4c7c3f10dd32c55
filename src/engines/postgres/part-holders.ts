// Who holds which parts, read from the bodies and the lists themselves.
import type { Stray } from "../../log/port.js";
import type { PartDigests } from "../parts/part-digests.js";
import { type HeldParts, holdParts, isFiled } from "../parts/part-holding.js";
import type { Session } from "./connection.js";
import { LoadedParts } from "./part-reading.js";
import {
  deletePartsStatement,
  type FiledPart,
  filedPartsStatement,
  partDigestsStatement,
  type TakenRow,
  takenBodiesStatement,
  takenBodyStatement,
} from "./part-statements.js";

const BODIES_PAGE = 5_000;
const PARTS_PAGE = 5_000;
const PARTS_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Deletes what these bodies held and no other holds, and answers whether there was anything. They are erased already, in the
 * transaction that this is part of, which has the head: nobody can refer to a part meanwhile.
 */
export async function releaseParts(session: Session, erased: readonly Buffer[]): Promise<boolean> {
  if (erased.length === 0) return false;
  const parts = new LoadedParts();
  await parts.loadLists(session, erased);
  const unheld: HeldParts = new Map();
  for (const taken of erased) holdParts(parts, taken, unheld);
  for await (const { held } of holders(session)) {
    for (const start of held.keys()) unheld.delete(start);
    if (unheld.size === 0) return false;
  }
  if (unheld.size > 0) await session.query(deletePartsStatement, [[...unheld.keys()]]);
  return unheld.size > 0;
}

/** The positions of those that hold a part of this entry, its own included; none where it is stored as it is. */
export async function sharingParts(session: Session, position: number): Promise<readonly number[]> {
  const [own] = await session.query<TakenRow>(takenBodyStatement, [position]);
  if (own === undefined) return [];
  const parts = new LoadedParts();
  const shared: HeldParts = new Map();
  await parts.loadLists(session, [own.body]);
  holdParts(parts, own.body, shared);
  const positions: number[] = [];
  for await (const page of pagesOfBodies(session)) {
    await parts.loadLists(
      session,
      page.map(({ body }) => body),
    );
    for (const { position: other, body } of page) {
      const held: HeldParts = new Map();
      holdParts(parts, body, held);
      if ([...held.keys()].some((start) => shared.has(start))) positions.push(other);
    }
  }
  return positions;
}

/** What lies among the parts and no entry holds, and what is not filed under what it is. */
export async function strayPart(session: Session, digests: PartDigests): Promise<Stray | undefined> {
  const all: HeldParts = new Map();
  const firstHolders = new Map<number, number>();
  for await (const { position, held } of holders(session)) {
    for (const [start, part] of held) {
      all.set(start, part);
      if (!firstHolders.has(start)) firstHolders.set(start, position);
    }
  }
  for (let after = -1; ; ) {
    const page = await session.query<FiledPart>(filedPartsStatement, [after, PARTS_PAGE, PARTS_PAGE_BYTES]);
    const source = await loadPage(session, page, all);
    const digestAt = await digestsBefore(session, page, source);
    for (const { start, digest } of page) {
      const part = all.get(start);
      if (part === undefined) {
        return { position: 0, reason: `something lies among the parts of bodies, at ${start}, that no entry holds` };
      }
      if (!isFiled({ source, digests }, { part, digest: bytesOfDigest(digest) }, digestAt)) {
        return {
          position: firstHolders.get(start) as number,
          reason: "a part of its body is not filed under what it is",
        };
      }
    }
    const last = page.at(-1);
    if (last === undefined) return undefined;
    after = last.start;
  }
}

/** The parts of a page, and the texts that its lists are made of. */
async function loadPage(session: Session, page: readonly FiledPart[], all: HeldParts): Promise<LoadedParts> {
  const parts = new LoadedParts();
  parts.note(page);
  const lists = page.filter(({ start }) => all.get(start)?.form === "list");
  const texts = lists.flatMap(({ start }) => parts.refsOf(start)).filter(({ form }) => form === "text");
  await parts.loadTexts(session, texts);
  return parts;
}

async function digestsBefore(
  session: Session,
  page: readonly FiledPart[],
  parts: LoadedParts,
): Promise<(start: number) => Buffer | undefined> {
  const starts = page.flatMap(({ start, follows }) => (follows === null ? [] : parts.refsOf(start).slice(0, 1)));
  type Row = { readonly start: number; readonly digest: string };
  const rows = await session.query<Row>(partDigestsStatement, [starts.map(({ start }) => start)]);
  const digestByStart = new Map(rows.map(({ start, digest }) => [start, bytesOfDigest(digest)]));
  return (start) => digestByStart.get(start);
}

function bytesOfDigest(digest: string): Buffer {
  return Buffer.from(digest.replaceAll("-", ""), "hex");
}

/** What each body holds that was not told of one before it; a list that was told of is not looked into again. */
async function* holders(
  session: Session,
): AsyncGenerator<{ readonly position: number; readonly held: HeldParts }, void> {
  const known = new Set<number>();
  for await (const page of pagesOfBodies(session)) {
    const parts = new LoadedParts();
    await parts.loadLists(
      session,
      page.map(({ body }) => body),
    );
    for (const { position, body } of page) {
      const held: HeldParts = new Map();
      holdParts(parts, body, held, known);
      yield { position, held };
    }
  }
}

async function* pagesOfBodies(session: Session): AsyncGenerator<readonly TakenRow[], void> {
  for (let after = 0; ; ) {
    const page = await session.query<TakenRow>(takenBodiesStatement, [after, BODIES_PAGE]);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.position;
  }
}
