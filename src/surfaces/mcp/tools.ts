// The table of tools. No row can promote a memory: only a person does that.
import { memoryTools } from "./memory-tools.js";
import { operationTools } from "./operation-tools.js";
import { recordingTools } from "./recording-tools.js";
import type { Tool } from "./tool.js";

export const tools: { readonly [name: string]: Tool } = {
  ...operationTools(),
  ...recordingTools,
  ...memoryTools,
};
