// Which index is in use: another one after a fault, none if there is no other, and no answer from a replaced one.
import { describe, expect, test } from "vitest";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { type HeldIndex, IndexFault, type IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import { noMask } from "../model/mask.js";
import { IndexInUse } from "./index-in-use.js";

class Held implements IndexHolder {
  index: EntryIndex = new MemoryIndex();
  number = 0;
  replaced = 0;

  async current(): Promise<HeldIndex> {
    return { index: this.index, generation: this.number };
  }

  async replace(damaged: EntryIndex): Promise<EntryIndex> {
    this.replaced += 1;
    if (damaged === this.index) this.index = new MemoryIndex();
    return this.index;
  }

  async close(): Promise<void> {}
}

function inUse(): { readonly held: Held; readonly one: IndexInUse<undefined> } {
  const held = new Held();
  return {
    held,
    one: new IndexInUse({ log: new MemoryLog(), holder: held, mask: noMask, readersOf: () => undefined }),
  };
}

const fault = (code: "store_corrupt" | "disk_full"): IndexFault => new IndexFault(code, code, { hint: "" });

describe("an attempt", () => {
  test("is answered from the index that is held", async () => {
    const { held, one } = inUse();
    const attempt = await one.attempt(async (view) => view.index);
    expect(attempt).toEqual({ answer: held.index });
  });

  test("has a damaged index replaced, and tries the other one", async () => {
    const { held, one } = inUse();
    const seen: EntryIndex[] = [];
    const attempt = await one.attempt(async ({ index }) => {
      seen.push(index);
      if (seen.length === 1) throw fault("store_corrupt");
      return "found";
    });
    expect(attempt).toEqual({ answer: "found" });
    expect(held.replaced).toBe(1);
    expect(seen[1]).not.toBe(seen[0]);
  });

  test("says what is wrong where there is no other index, and replaces nothing that is sound", async () => {
    const { held, one } = inUse();
    let tries = 0;
    const attempt = await one.attempt(async () => {
      tries += 1;
      throw fault("disk_full");
    });
    expect(attempt).toMatchObject({ trouble: { code: "disk_full" } });
    expect(tries).toBe(1);
    expect(held.replaced).toBe(0);
  });

  test("does not go on for ever where every index is damaged", async () => {
    const { one } = inUse();
    let tries = 0;
    const attempt = await one.attempt(async () => {
      tries += 1;
      throw fault("store_corrupt");
    });
    expect(attempt).toMatchObject({ trouble: { code: "store_corrupt" } });
    expect(tries).toBeLessThan(10);
  });

  test("passes on errors that are not the index's", async () => {
    const { one } = inUse();
    const failing = one.attempt(async () => {
      throw new TypeError("a defect");
    });
    await expect(failing).rejects.toBeInstanceOf(TypeError);
  });
});

describe("what is read readStably", () => {
  const freshness = { position: 0, texts: false };

  test("gives the answer if the index did not change", async () => {
    const { one } = inUse();
    expect(await one.attempt((_, readStably) => readStably(freshness, async () => "whole"))).toEqual({
      answer: "whole",
    });
  });

  test("is read again if the index was replaced meanwhile, by another process or by this one", async () => {
    const { held, one } = inUse();
    for (const exchange of [() => (held.number += 1), () => one.noteReplaced()]) {
      let reads = 0;
      const attempt = await one.attempt((_, readStably) =>
        readStably(freshness, async () => {
          reads += 1;
          if (reads === 1) exchange();
          return reads;
        }),
      );
      expect(attempt).toEqual({ answer: 2 });
    }
  });

  test("is read again if another server emptied an index without snapshots", async () => {
    const { held, one } = inUse();
    let reads = 0;
    const attempt = await one.attempt((view, readStably) =>
      readStably(freshness, async () => {
        reads += 1;
        if (reads === 1) await held.index.reset();
        return { reads, isSame: view.index === held.index };
      }),
    );
    expect(attempt).toEqual({ answer: { reads: 2, isSame: true } });
  });

  test("is returned if it was read from one snapshot, whatever happened to the index since", async () => {
    const { held, one } = inUse();
    let release = 0;
    held.index.hold = () => () => {
      release += 1;
      return true;
    };
    const attempt = await one.attempt((_, readStably) =>
      readStably(freshness, async () => {
        held.number += 1;
        return "as it was";
      }),
    );
    expect(attempt).toEqual({ answer: "as it was" });
    expect(release).toBe(1);
  });

  test("releases the snapshot if reading fails", async () => {
    const { held, one } = inUse();
    let release = 0;
    held.index.hold = () => () => {
      release += 1;
      return true;
    };
    const failing = one.attempt((_, readStably) =>
      readStably(freshness, async () => {
        throw new TypeError("a defect");
      }),
    );
    await expect(failing).rejects.toBeInstanceOf(TypeError);
    expect(release).toBe(1);
  });

  test("runs after all entries up to the position are indexed", async () => {
    const log = new MemoryLog();
    const entry = { kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", salt: Buffer.alloc(16) };
    await log.append([[{ ...entry, body: Buffer.from('{"id":"a","error":"e"}'), claims: ["id:a"] }]]);
    const held = new Held();
    const one = new IndexInUse({ log, holder: held, mask: noMask, readersOf: () => undefined });
    const attempt = await one.attempt((view, readStably) =>
      readStably({ position: 1, texts: true }, () => view.index.checkpoint()),
    );
    expect(attempt).toEqual({ answer: 1 });
  });
});
