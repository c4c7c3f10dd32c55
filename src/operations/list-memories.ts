// The list of memories, and the queue of candidates.
import { memoryPage } from "../memories/review/memory-answers.js";
import { type MemoriesReached, parseProject } from "../memories/review/memory-query.js";
import {
  type MemorySource,
  type MemoryStatus,
  type MemoryType,
  memorySources,
  memoryStatuses,
  memoryTypes,
} from "../model/memory.js";
import { reject } from "../model/rejection.js";
import { cursorOf } from "../search/cursor.js";
import {
  isGiven,
  limited,
  listLimit,
  type Parameter,
  type ParameterDoc,
  switchParameter,
} from "../search/parameters.js";
import { operation } from "./operation.js";

const status = oneOfParameter<MemoryStatus>(memoryStatuses, {
  description: `Memories of this status: ${memoryStatuses.join(", ")}. Candidates form the review queue, best first.`,
  flag: { name: "status", value: "status", says: `only memories of this status: ${memoryStatuses.join(", ")}` },
});

const project: Parameter<string, string | undefined> = {
  description: "Memories of this project. An empty value filters nothing; `-` selects global ones.",
  schema: { type: "string" },
  flag: { name: "project", value: "name", says: "only memories of this project; - for those without one" },
  refusals: ["label_invalid"],
  parse: (value) => (isGiven(value) ? parseProject(value) : undefined),
};

const type = oneOfParameter<MemoryType>(memoryTypes, {
  description: `Memories of this type: ${memoryTypes.join(", ")}.`,
  flag: { name: "type", value: "type", says: `only memories of this type: ${memoryTypes.join(", ")}` },
});

const source = oneOfParameter<MemorySource>(memorySources, {
  description: `Memories from this source: ${memorySources.join(", ")}.`,
  flag: { name: "source", value: "source", says: `only memories from this source: ${memorySources.join(", ")}` },
});

export const listMemories = operation({
  name: "listMemories",
  tag: "Memories",
  summary: "List memories, or the queue of candidates",
  description: "The newest first; with `status=candidate` the queue, best first.",
  scope: "read",
  route: "GET /memories",
  tools: [
    {
      name: "list_memories",
      title: "What was learned",
      description: "Lists memories, the newest first, with how often they were given, used and confirmed.",
      list: "memories",
    },
  ],
  command: {
    examples: [
      ["the memories of a project", "hansard memories --project atlas --status active"],
      ["candidates to review, best first", "hansard memories --status candidate"],
    ],
  },
  input: {
    status,
    project,
    type,
    source,
    similar: switchParameter({
      description: "`1` leaves only memories that are like another one, or contradict one.",
      flag: { name: "similar", says: "only memories that resemble or contradict another one" },
    }),
    unused: switchParameter({
      description: "`1` leaves only active memories that were never used nor confirmed.",
      flag: { name: "unused", says: "only active memories that were never used or confirmed" },
    }),
    limit: limited(listLimit(50), "memories"),
    cursor: cursorOf<MemoriesReached>(3, (numbers) => {
      const [rank, position, as_of] = numbers as readonly [number, number, number];
      return { after: { rank, position, as_of } };
    }),
  },
  positional: [],
  output: memoryPage,
  missing: undefined,
  refusals: [],
  needs: "index_at_head",
  answer: ({ memories }, query) => memories.list(query),
});

/** Undefined where it was not given. */
function oneOfParameter<T extends string>(
  known: readonly T[],
  doc: Pick<ParameterDoc, "description" | "flag">,
): Parameter<T | string, T | undefined> {
  return {
    ...doc,
    schema: { type: "string", enum: known },
    refusals: ["field_invalid"],
    parse(value, { name }) {
      if (!isGiven(value)) return undefined;
      if ((known as readonly unknown[]).includes(value)) return value as T;
      return reject({ code: "field_invalid", field: name, message: `${name} must be one of ${known.join(", ")}` });
    },
  };
}
