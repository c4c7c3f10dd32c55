// What judging offers to the passes that read the record: sources, gates, matching. All of it is pure.
export { type GateName, gateNames, type Judgement, judge, type KeptProposal } from "./gates/gates.js";
export type { GivenText, Ground, KnownMemory, QuotedEntry, Speaker, Spoken } from "./ground.js";
export { Stems } from "./stems.js";
