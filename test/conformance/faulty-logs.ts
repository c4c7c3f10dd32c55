// Logs that are wrong in one respect each, to show that the conformance suite notices.

import { MemoryLog } from "../../src/engines/memory/log.js";
import type { AppendOutcome, AppendUnit, Head, LogEntry, StoredEntry } from "../../src/log/port.js";
import { chainHash, GENESIS_HASH } from "../../src/model/chain.js";
import { itemAt } from "../../src/model/item-at.js";

type Range = Parameters<MemoryLog["read"]>[0];

class AnotherEngine extends MemoryLog {
  override readonly engine = "sqlite" as never;
}

class FirstClaimOnly extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const outcomes = await super.append(units);
    return outcomes.map((outcome) => ("taken" in outcome ? { taken: outcome.taken.slice(0, 1) } : outcome));
  }
}

class WholeCallRefused extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const positions = await super.find(units.flat().flatMap(({ claims }) => claims));
    if (positions.every((position) => position === undefined)) return super.append(units);
    return units.map(() => ({ taken: [{ item: 0, claim: "", position: 1 }] }));
  }
}

class HalfUnits extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const outcomes = await super.append(units);
    for (const [index, outcome] of outcomes.entries()) {
      if (!("taken" in outcome)) continue;
      const refused = new Set(outcome.taken.map(({ item }) => item));
      await super.append([itemAt(units, index).filter((_, item) => !refused.has(item))]);
    }
    return outcomes;
  }
}

class UnchainedHashes extends MemoryLog {
  override async read(range: Range): Promise<readonly StoredEntry[]> {
    return (await super.read(range)).map((stored) => ({
      ...stored,
      hash: chainHash({ ...stored, previous: GENESIS_HASH }),
    }));
  }
}

class TextBodies extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return super.append(units.map((unit) => unit.map(throughText)));
  }
}

function throughText(entry: LogEntry): LogEntry {
  return { ...entry, body: Buffer.from(Buffer.from(entry.body).toString("utf8")) };
}

class CutBodies extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return super.append(units.map((unit) => unit.map((entry) => ({ ...entry, body: entry.body.slice(0, 1_000_000) }))));
  }
}

class CaselessClaims extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const lower = (entry: LogEntry) => ({ ...entry, claims: entry.claims.map((claim) => claim.toLowerCase()) });
    return super.append(units.map((unit) => unit.map(lower)));
  }
}

class InclusiveReads extends MemoryLog {
  override read(range: Range): Promise<readonly StoredEntry[]> {
    return super.read({ ...range, after: Math.max(0, range.after - 1) });
  }
}

class BoundlessReads extends MemoryLog {
  override read({ after, limit }: Range): Promise<readonly StoredEntry[]> {
    return super.read({ after, limit });
  }
}

class StuckReads extends MemoryLog {
  override async read(range: Range): Promise<readonly StoredEntry[]> {
    const found = await super.read(range);
    return found.filter(({ body }) => (body?.byteLength ?? 0) < (range.bytes_max ?? Number.POSITIVE_INFINITY));
  }
}

class LatinBodies extends MemoryLog {
  override async readBodies(range: Range) {
    return (await super.read(range)).map(({ position, kind, recorded_at, hash, body = Buffer.of() }) => ({
      position,
      kind,
      recorded_at,
      hash: Buffer.from(hash).toString("hex"),
      body: Buffer.from(body).toString("latin1"),
    }));
  }
}

class DenseGets extends MemoryLog {
  override async get(positions: readonly number[]): Promise<readonly (StoredEntry | undefined)[]> {
    return (await super.get(positions)).filter((stored) => stored !== undefined);
  }
}

class SortedFinds extends MemoryLog {
  override async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return (await super.find(claims)).toSorted();
  }
}

class LateHead extends MemoryLog {
  override async head(): Promise<Head> {
    const head = await super.head();
    return { ...head, position: Math.max(0, head.position - 1) };
  }
}

class UncheckedCopies extends MemoryLog {
  override async restore(copy: Parameters<MemoryLog["restore"]>[0]): Promise<boolean> {
    await super.restore(copy);
    return true;
  }
}

class KeptBodies extends MemoryLog {
  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const harmless = (entry: LogEntry) =>
      entry.kind === "redaction" ? { ...entry, body: Buffer.from('{"id":""}') } : entry;
    return super.append(units.map((unit) => unit.map(harmless)));
  }
}

class FreedClaims extends MemoryLog {
  override async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    const found = await super.find(claims);
    const stored = await super.get(found.map((position) => position ?? 0));
    return found.map((position, at) => (stored[at]?.body === undefined ? undefined : position));
  }
}

class UntoldClaims extends MemoryLog {
  override async keptClaims(): Promise<ReadonlyMap<number, readonly string[]>> {
    return new Map();
  }
}

class NamelessBodies extends MemoryLog {
  override async readBodies(range: Range) {
    return (await super.readBodies(range)).map(({ recorded_by: _, ...text }) => text);
  }
}

class UntoldErasures extends MemoryLog {
  override async erasures() {
    return [];
  }
}

class UnpagedErasures extends MemoryLog {
  override erasures({ after }: { readonly after: number }) {
    return super.erasures({ after, limit: 100 });
  }
}

class FadingAudits extends MemoryLog {
  override async read(range: Range): Promise<readonly StoredEntry[]> {
    return (await super.read(range)).map(
      ({ body, ...left }) => (left.kind === "audit" ? left : { body, ...left }) as StoredEntry,
    );
  }
}

class WornGuards extends MemoryLog {
  override async guards() {
    return { missing: ["entries_never_updated"], foreign: [] };
  }
}

class CopiedRedactions extends MemoryLog {
  override restore(copy: Parameters<MemoryLog["restore"]>[0]): Promise<boolean> {
    const entries = copy.entries.map((entry) => ({ ...entry, body: Buffer.from('{"id":""}') }));
    return super.restore({ ...copy, entries });
  }
}

/** Each with a part of the behaviour that must be found broken. */
export const faultyLogs: readonly { readonly Faulty: new () => MemoryLog; readonly breaks: string }[] = [
  { Faulty: AnotherEngine, breaks: "it is the engine that it claims to be" },
  { Faulty: FirstClaimOnly, breaks: "names every taken claim" },
  { Faulty: WholeCallRefused, breaks: "the other units of the call are" },
  { Faulty: HalfUnits, breaks: "leaves no entry" },
  { Faulty: UnchainedHashes, breaks: "each hash is computed from the previous one" },
  { Faulty: TextBodies, breaks: "the bytes of any body" },
  { Faulty: CutBodies, breaks: "a body of 16 MiB" },
  { Faulty: CaselessClaims, breaks: "claims that differ in any field" },
  { Faulty: InclusiveReads, breaks: "reading starts after the position" },
  { Faulty: BoundlessReads, breaks: "bytes_max" },
  { Faulty: StuckReads, breaks: "never stalls" },
  { Faulty: LatinBodies, breaks: "bodies are read as text" },
  { Faulty: DenseGets, breaks: "with undefined where there is none" },
  { Faulty: SortedFinds, breaks: "finding answers in the order asked" },
  { Faulty: UncheckedCopies, breaks: "entries that do not fit the chain" },
  { Faulty: KeptBodies, breaks: "removes salt and body of the entries that it names" },
  { Faulty: FreedClaims, breaks: "keeps its claims" },
  { Faulty: UntoldClaims, breaks: "the claims of an erased entry are copied" },
  { Faulty: NamelessBodies, breaks: "an entry's recorded_by" },
  { Faulty: UncheckedCopies, breaks: "whose claims do not match its hashes" },
  { Faulty: UntoldErasures, breaks: "listed with the first redaction" },
  { Faulty: UnpagedErasures, breaks: "in pages" },
  { Faulty: FadingAudits, breaks: "the log's own entries" },
  { Faulty: WornGuards, breaks: "has all its triggers" },
  { Faulty: CopiedRedactions, breaks: "a redaction that is restored erases" },
  { Faulty: LateHead, breaks: "the head names the newest entry" },
];
