// Which index is in use: another one after a fault, none where there is no other, and no answer from one that was exchanged.
import { describe, expect, test } from "vitest";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import type { EntryIndex } from "../ports/entry-index.js";
import { IndexFault, type IndexHolder } from "../ports/index-holder.js";
import { noMask } from "../ports/mask.js";
import { IndexInUse } from "./index-in-use.js";

class Held implements IndexHolder {
  index: EntryIndex = new MemoryIndex();
  number = 0;
  replaced = 0;

  async current(): Promise<EntryIndex> {
    return this.index;
  }

  async generation(): Promise<number> {
    return this.number;
  }

  async replace(damaged: EntryIndex): Promise<EntryIndex> {
    this.replaced += 1;
    if (damaged === this.index) this.index = new MemoryIndex();
    return this.index;
  }

  async close(): Promise<void> {}
}

function inUse(): { readonly held: Held; readonly one: IndexInUse } {
  const held = new Held();
  return { held, one: new IndexInUse({ log: new MemoryLog(), holder: held, mask: noMask }) };
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

  test("lets through what is no fault of the index", async () => {
    const { one } = inUse();
    const failing = one.attempt(async () => {
      throw new TypeError("a defect");
    });
    await expect(failing).rejects.toBeInstanceOf(TypeError);
  });
});

describe("work that must not be disturbed", () => {
  test("is answered where nothing happened to the index", async () => {
    const { one } = inUse();
    expect(await one.undisturbed(await one.view(), async () => "whole")).toBe("whole");
  });

  test("has no answer where the index was exchanged meanwhile, by another process or by this one", async () => {
    const { held, one } = inUse();
    const view = await one.view();
    const elsewhere = one.undisturbed(view, async () => {
      held.number += 1;
    });
    await expect(elsewhere).rejects.toMatchObject({ code: "store_busy" });
    const here = one.undisturbed(view, async () => one.exchanged());
    await expect(here).rejects.toMatchObject({ code: "store_busy" });
  });
});
