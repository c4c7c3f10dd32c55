// The conformance suite: what every engine of the ports must do, as tests for Vitest (a peer dependency).
export { describeEntryIndex } from "./conformance/entry-index.js";
export { describeEntryLog } from "./conformance/entry-log.js";
export { describeLeases } from "./conformance/leases.js";
export type { Capability, Engine, OpenStore } from "./conformance/suite.js";
