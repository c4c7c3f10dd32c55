// The conformance suite: what every engine of the ports must do, as tests for Vitest (a peer dependency).
export { describeEntryIndex, describeEntryLog, describeKeyStore, describeLeases } from "./suites/describe.js";
export type { Capability, Engine, OpenStore } from "./suites/suite.js";
