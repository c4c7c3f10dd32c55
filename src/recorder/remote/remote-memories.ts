// Memories through a server: questions go the way of all questions, and what changes anything is parsed here, so that it is
// refused in the same words, and done there, in the name of whose key it is where nobody else is named.

import { type PassOptions, passOptionNames } from "../../memories/passes.js";
import { parseMemoryInput, parseVerdict, parseVerdicts } from "../../memories/review/memory-input.js";
import { knownOptions } from "../../model/options.js";
import { orThrow } from "../../model/rejection.js";
import type { OperationMethods } from "../../operations/index.js";
import type { RecorderParts } from "../recorder.js";
import { elsewhere, interactionPath, memoryPath } from "./remote-reading.js";
import type { ServerConnection } from "./server-connection.js";

export function remoteMemories(server: ServerConnection, operations: OperationMethods): RecorderParts["memories"] {
  return {
    list: operations.listMemories,
    get: operations.getMemory,
    pending: async () => (await operations.listMemories({ limit: 0 })).pending,
    // What a session was given is written down by the server.
    recall: operations.recall,
    async propose(input) {
      orThrow(parseMemoryInput(input, "agent"));
      return server.post("/memories", { ...input, status: "candidate" });
    },
    async add(input) {
      orThrow(parseMemoryInput(input, "person"));
      return server.post("/memories", input);
    },
    async promote(id, options = {}) {
      orThrow(parseVerdict(options, ["actor", "reason", "content"]));
      return server.post(`${memoryPath(id)}/promote`, options);
    },
    async reject(id, options = {}) {
      orThrow(parseVerdict(options, ["actor", "reason"]));
      return server.post(`${memoryPath(id)}/reject`, options);
    },
    async supersede(id, options = {}) {
      orThrow(parseVerdict(options, ["actor", "reason", "content"]));
      return server.post(`${memoryPath(id)}/supersede`, options);
    },
    async verdicts(input) {
      orThrow(parseVerdicts(input));
      return server.post("/memories/verdicts", input);
    },
    audit: (input) => server.post("/memories/audit", input),
    proposeFile: async (input) => (await server.post("/memories/import", input)).statements,
    extract: (options = {}) => passOver(server, options, "extract"),
    reinforce: (options = {}) => passOver(server, options, "reinforce"),
  };
}

/** One interaction alone: a pass over the whole record reads more than should go over a wire. */
// biome-ignore lint/suspicious/noExplicitAny: the contract of each route says what it answers with.
async function passOver(server: ServerConnection, options: PassOptions, pass: "extract" | "reinforce"): Promise<any> {
  const { interaction_id } = knownOptions(options, passOptionNames);
  if (interaction_id === undefined) return elsewhere("a pass over the whole record");
  return server.post(`${interactionPath(interaction_id)}/${pass}`, {});
}
