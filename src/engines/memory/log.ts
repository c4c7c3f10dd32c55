// The log in memory: the executable specification of what a log engine does, used by tests.

import { randomUUID } from "node:crypto";
import type {
  AppendOutcome,
  AppendUnit,
  CopiedEntry,
  EntryLog,
  Erasure,
  Guards,
  Head,
  KeptClaims,
  NewRedactions,
  ReadRange,
  StoredBody,
  StoredEntry,
  TakenClaim,
} from "../../log/port.js";
import { erasedBy, lastingKinds } from "../../model/body.js";
import {
  chainHash,
  commitmentOf,
  GENESIS_HASH,
  isChained,
  isOfFirstFormat,
  toBodyText,
  withoutAltered,
} from "../../model/chain.js";
import { claimKey, claimsByPosition, claimsDigest } from "../../model/claims.js";
import { itemAt } from "../../model/item-at.js";

export class MemoryLog implements EntryLog {
  readonly engine = "memory";
  #logId: string = randomUUID();
  readonly #entries: StoredEntry[] = [];
  /** By claim key, in hexadecimal. */
  readonly #positionByKey = new Map<string, number>();
  readonly #redactionByPosition = new Map<number, number>();

  async head(): Promise<Head> {
    return this.#head();
  }

  async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return units.map((unit) => this.#appendUnit(unit));
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    const head = this.#head();
    if (head.position > 0 && head.log_id !== copy.log_id) return false;
    const claims = copy.entries.flatMap((entry) => entry.claims.map(keyOf));
    const isTaken = claims.some((claim) => this.#positionByKey.has(claim)) || new Set(claims).size < claims.length;
    if (isTaken || !isChained(head, copy.entries) || this.#isOutdated(copy.entries)) return false;
    if (copy.entries.length > 0) this.#logId = copy.log_id;
    for (const { claims: taken, ...kept } of copy.entries) {
      this.#add(kept);
      for (const claim of taken) this.#positionByKey.set(keyOf(claim), kept.position);
    }
    return true;
  }

  async read(range: ReadRange): Promise<readonly StoredEntry[]> {
    const found: StoredEntry[] = [];
    let bytes = 0;
    for (const entry of this.#entries.slice(range.after, range.after + range.limit)) {
      found.push(withoutAltered(entry));
      bytes += entry.body?.byteLength ?? 0;
      if (bytes >= (range.bytes_max ?? Number.POSITIVE_INFINITY)) break;
    }
    return found;
  }

  async get(
    positions: readonly number[],
    bytes_max = Number.POSITIVE_INFINITY,
  ): Promise<readonly (StoredEntry | undefined)[]> {
    const found: (StoredEntry | undefined)[] = [];
    let bytes = 0;
    for (const position of positions) {
      const stored = this.#entries[position - 1];
      found.push(stored === undefined ? undefined : withoutAltered(stored));
      bytes += stored?.body?.byteLength ?? 0;
      if (bytes >= bytes_max) break;
    }
    return found;
  }

  async readBodies(range: ReadRange): Promise<readonly StoredBody[]> {
    return (await this.read(range)).map(toBodyText);
  }

  async getBodies(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredBody | undefined)[]> {
    return (await this.get(positions, bytes_max)).map((stored) =>
      stored === undefined ? undefined : toBodyText(stored),
    );
  }

  async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return claims.map((claim) => this.#positionByKey.get(keyOf(claim)));
  }

  async keptClaims({ after, through }: { readonly after: number; readonly through: number }): Promise<KeptClaims> {
    const rows = [...this.#positionByKey].map(([key, position]) => ({ claim: Buffer.from(key, "hex"), position }));
    return claimsByPosition(rows.filter(({ position }) => position > after && position <= through));
  }

  async erasures({ after, limit }: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]> {
    const noted = [...this.#redactionByPosition].map(([position, redaction]) => ({ position, redaction }));
    const ordered = noted.toSorted((left, right) => left.position - right.position);
    return ordered.filter(({ position }) => position > after).slice(0, limit);
  }

  /** Nothing else can reach its rows. */
  async guards(): Promise<Guards> {
    return { missing: [], foreign: [] };
  }

  async redactionsAfter(position: number): Promise<NewRedactions> {
    const later = this.#entries.slice(position).filter(({ kind }) => kind === "redaction");
    return { through: this.#entries.length, positions: later.map((redaction) => redaction.position) };
  }

  async findOrphan(): Promise<undefined> {
    return undefined;
  }

  async purge(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {}

  #add(entry: StoredEntry): void {
    this.#entries.push(entry);
    for (const position of erasedBy(entry)) {
      const { salt: _, body: __, ...left } = itemAt(this.#entries, position - 1);
      if (lastingKinds.includes(left.kind) || this.#redactionByPosition.has(position)) continue;
      this.#entries[position - 1] = left;
      this.#redactionByPosition.set(position, entry.position);
    }
  }

  #isOutdated([first]: readonly StoredEntry[]): boolean {
    const last = this.#entries.at(-1);
    return first !== undefined && last !== undefined && isOfFirstFormat(first) && !isOfFirstFormat(last);
  }

  #head(): Head {
    const last = this.#entries.at(-1);
    return { log_id: this.#logId, position: last?.position ?? 0, hash: last?.hash ?? GENESIS_HASH };
  }

  #appendUnit(unit: AppendUnit): AppendOutcome {
    const taken: TakenClaim[] = [];
    for (const [item, { claims }] of unit.entries()) {
      for (const claim of claims) {
        const position = this.#positionByKey.get(keyOf(claim));
        if (position !== undefined) taken.push({ item, claim, position });
      }
    }
    if (taken.length > 0) return { taken };
    return {
      placed: unit.map((entry) => {
        const { claims, ...kept } = entry;
        const position = this.#entries.length + 1;
        const previous = this.#entries.at(-1)?.hash ?? GENESIS_HASH;
        const commitment = commitmentOf(kept.salt, kept.body);
        const claims_digest = claimsDigest(claims);
        const hash = chainHash({ ...kept, commitment, claims_digest, previous, position });
        this.#add({ ...kept, commitment, claims_digest, position, hash });
        for (const claim of claims) this.#positionByKey.set(keyOf(claim), position);
        return { position, hash };
      }),
    };
  }
}

function keyOf(claim: string): string {
  return claimKey(claim).toString("hex");
}
