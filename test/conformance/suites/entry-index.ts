// What every engine of the index must do, whatever it is built on.
import { expect } from "vitest";
import type { EntryIndex } from "../../../src/index/port.js";
import { indexDocumentChecks } from "./index-documents.js";
import { indexErasingChecks } from "./index-erasing.js";
import { indexLifeChecks } from "./index-life.js";
import { indexReferenceChecks } from "./index-references.js";
import { indexRowChecks } from "./index-rows.js";
import { indexSessionChecks } from "./index-sessions.js";
import { indexTextChecks } from "./index-texts.js";
import type { Check } from "./suite.js";

export const entryIndexChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "it is the engine that it claims to be",
    run: async ({ engine, open }) => {
      expect((await open()).engine).toBe(engine.engine);
    },
  },
  ...indexLifeChecks,
  ...indexRowChecks,
  ...indexReferenceChecks,
  ...indexSessionChecks,
  ...indexTextChecks,
  ...indexDocumentChecks,
  ...indexErasingChecks,
];
