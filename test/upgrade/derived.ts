// What the index derives from the sample entries: rows, texts, what models were given, and folded documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { partsOfPack, readableBody, rowsOfBodies, toEntryTexts } from "../../src/index/derivation.js";
import { folds } from "../../src/index/folding.js";
import { Indexer } from "../../src/index/indexer.js";
import { idClaim } from "../../src/model/claims.js";
import { isJsonObject, type JsonObject } from "../../src/model/json.js";
import { derivationSamples, type SampleBody } from "./derivation-samples.js";

export const derivedFile = join(repositoryRoot, "test", "fixtures", "derived.json");

/** What is committed: the number, and what it stands for. */
export interface DerivedSnapshot {
  readonly derivation: number;
  readonly samples: readonly SampleBody[];
  readonly derived: JsonObject;
}

export function committedSnapshot(): DerivedSnapshot {
  return JSON.parse(readFileSync(derivedFile, "utf8")) as DerivedSnapshot;
}

/** As it is now, in the form in which it is committed. */
export async function presentSnapshot(derivation: number): Promise<DerivedSnapshot> {
  const snapshot = { derivation, samples: derivationSamples, derived: await derive(derivationSamples) };
  return JSON.parse(JSON.stringify(snapshot)) as DerivedSnapshot;
}

/** Why the committed snapshot may not stay, or be replaced by the present one; undefined where it may. */
export function problemOf(committed: DerivedSnapshot, derived: JsonObject, derivation: number): string | undefined {
  if (derivation < committed.derivation)
    return "DERIVATION never goes down: an older number is a store of a newer version";
  const isSame = JSON.stringify(derived) === JSON.stringify(committed.derived);
  if (!isSame && derivation === committed.derivation) {
    return "derived output changed: raise DERIVATION and update the snapshot (node dist/test/upgrade/freeze-derived.js)";
  }
  return undefined;
}

/** From samples in order of position, by the code that fills every index. */
export async function derive(samples: readonly SampleBody[]): Promise<JsonObject> {
  const log = new MemoryLog();
  const entries = samples.map(({ kind, body }) => ({
    kind,
    recorded_at: "2026-11-15T00:00:00.000Z",
    recorded_by: "",
    salt: new Uint8Array(16),
    body: Buffer.from(JSON.stringify(body)),
    claims: [idClaim(body.id)],
  }));
  const stored = entries.map(({ body, ...entry }, nth) => ({
    ...entry,
    position: nth + 1,
    hash: "",
    body: String(body),
  }));
  await log.append([entries]);
  const index = new MemoryIndex();
  await new Indexer({ log, index }).catchUp();
  const bodies = stored.flatMap((one) => readableBody(one) ?? []);
  const rows = await rowsOfBodies(log, bodies);
  const documents = await Promise.all(
    folds.map(({ collection }) => index.listDocuments({ collection, order: "asc", limit: samples.length })),
  );
  const derived = {
    entries: bodies.map((placed) => ({
      row: rows.find(({ position }) => position === placed.position),
      texts: toEntryTexts(placed).texts,
      ...(isJsonObject(placed.body.context_pack)
        ? { given: partsOfPack(placed.body.context_pack).map(({ role, texts }) => ({ role, texts: texts() })) }
        : {}),
    })),
    documents: documents.flat(),
  };
  return JSON.parse(JSON.stringify(derived)) as JsonObject;
}
