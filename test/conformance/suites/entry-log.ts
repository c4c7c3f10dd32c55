// What every engine of the log must do, whatever it is built on.

import { expect } from "vitest";
import type { EntryLog } from "../../../src/log/port.js";
import { logAppendChecks } from "./log-append.js";
import { logClaimChecks } from "./log-claims.js";
import { logErasingChecks } from "./log-erasing.js";
import { logEvidenceChecks } from "./log-evidence.js";
import { logReadChecks } from "./log-read.js";
import { logRestoreChecks } from "./log-restore.js";
import { logSharingChecks } from "./log-sharing.js";
import type { Check } from "./suite.js";

/** The first check comes first for a reason: a suite that talks to another engine than it says proves nothing. */
export const entryLogChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "it is the engine that it claims to be",
    run: async ({ engine, open }) => {
      expect((await open()).engine).toBe(engine.engine);
    },
  },
  ...logAppendChecks,
  ...logClaimChecks,
  ...logReadChecks,
  ...logRestoreChecks,
  ...logErasingChecks,
  ...logEvidenceChecks,
  ...logSharingChecks,
];
