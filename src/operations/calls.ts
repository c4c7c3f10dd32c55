// Every call that the reading side answers.
import { type MemoryCalls, memoryCalls } from "../memories/memory-calls.js";
import { type MaintenanceCalls, maintenanceCalls } from "../reading/maintenance.js";
import { operationCalls } from "./index.js";
import { type ReadingCalls, readingCalls } from "./reading-calls.js";

export const calls = { ...operationCalls, ...readingCalls, ...memoryCalls, ...maintenanceCalls };

export type Calls = ReadingCalls & MemoryCalls & MaintenanceCalls;
