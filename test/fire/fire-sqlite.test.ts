// Faults on SQLite: what was acknowledged is there afterwards, once, in order and unchanged.
import { join } from "node:path";
import { expect, test } from "vitest";
import { importFormats } from "../../src/import/registry.js";
import { defineFireTests } from "./fire-tests.js";
import { samples } from "./hostile-files.js";

defineFireTests("sqlite", { newStore: async (folder) => join(folder, "store") });

test("every importer has a file to be damaged", () => {
  expect(new Set(samples.map(({ format }) => format))).toEqual(new Set(importFormats));
});
