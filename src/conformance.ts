// The conformance suite: what every engine of the ports must do, as tests for Vitest (a peer dependency).
export { describeEntryIndex } from "./conformance/entry-index.js";
export { describeEntryLog } from "./conformance/entry-log.js";
export { describeKeyStore } from "./conformance/key-store.js";
export type { Capability, Engine, OpenStore } from "./conformance/suite.js";
