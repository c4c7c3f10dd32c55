// What judging offers to the passes that read the record: sources, gates, matching. All of it is pure.
export { type Audited, type AuditGround, type AuditVerdict, audited, auditVerdicts } from "./files/audit.js";
export { type Statement, statementsOf } from "./files/statements.js";
export { type Support, supportIn } from "./files/support.js";
export { type GateName, gateNames, type Judgement, judge, type KeptProposal } from "./gates/gates.js";
export type { GivenText, Ground, KnownMemory, QuotedEntry, Speaker, Spoken } from "./ground.js";
export { MemoryIndex } from "./matching.js";
export { type ModelAnswer, parseAnswer } from "./model/answer.js";
export { generationOf } from "./model/generation.js";
export {
  narrower,
  type Segment,
  type SegmentLimits,
  segmentLimits,
  segmentsOf,
} from "./model/segments.js";
export { FailedCommands } from "./rules/commands.js";
export { proposalsOf } from "./rules/rules.js";
export { quotedEntry, spokenIn, textsOfPack } from "./spoken.js";
export { Stems } from "./stems.js";
export { type SessionSoFar, type TurnHeard, type Uses, usesOf } from "./uses.js";
