// The conformance suite: what every engine of the ports must do, as tests for Vitest (a peer dependency).
export { describeEntryIndex, describeEntryLog, describeKeyStore, describeLeases } from "./conformance/describe.js";
export type { Capability, Engine, OpenStore } from "./conformance/suite.js";
