// Memories over HTTP: the queue and the list, proposals, verdicts, recall.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject } from "../../../model/json.js";
import { RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { AuditAnswer, MemoryImportAnswer, MemorySummary, ProposalAnswer, VerdictsAnswer } from "../contract.js";
import { exampleCandidates, exampleId, exampleMemory } from "../describe/examples.js";
import {
  bodyRefusals,
  jsonContent,
  type Operation,
  type Parameter,
  refusals,
  schemaNamed,
} from "../describe/operation.js";
import { acceptEmptyBodies, bodyOf, objectOf, optionalBodyOf } from "../door/bodies.js";
import { callerOf, recordingOf, requireScope } from "../door/doorkeeper.js";
import { refuseQuery } from "../door/query.js";

type NewMemory = Parameters<Recorder["memories"]["propose"]>[0];
type Verdicts = Parameters<Recorder["memories"]["verdicts"]>[0];

interface ById {
  Params: { readonly id: string };
}

export function memoryRoutes(app: FastifyInstance, recorder: Recorder): void {
  acceptEmptyBodies(app);

  app.post("/memories", { config: { operation: addOperation } }, async (request, reply): Promise<ProposalAnswer> => {
    refuseQuery(request);
    const body = bodyOf(request);
    const { status = "active", ...input } = asked(request, body);
    const { memories } = recordingOf(request, recorder);
    if (status !== "active" && status !== "candidate") throw statusInvalid();
    // Nobody needs a key to be told that nothing was said.
    if (input.content === undefined) throw contentMissing();
    // Who may only capture speaks for an agent, and proposes.
    const isAgents = status === "candidate" && (input.source ?? "agent") === "agent";
    requireScope(request, reply, isAgents && callerOf(request).scope !== "review" ? "capture" : "review");
    // Whoever may only propose has no say in whose word it is.
    if (isJsonObject(body) && body.actor !== undefined && body.actor !== null) requireScope(request, reply, "review");
    const given = input as unknown as NewMemory;
    const answer = status === "active" ? await memories.add(given) : await memories.propose(given);
    reply.code("dropped" in answer ? 200 : 201);
    return answer;
  });

  const verdict = (kind: Verdict): void => {
    app.post<ById>(
      `/memories/:id/${kind}`,
      { config: { operation: verdictOperations[kind] } },
      (request): Promise<MemorySummary> => {
        refuseQuery(request);
        const options = asked(request, optionalBodyOf(request) ?? {});
        return recordingOf(request, recorder).memories[kind](request.params.id, options);
      },
    );
  };
  for (const kind of ["promote", "reject", "supersede"] as const) verdict(kind);

  app.post("/memories/verdicts", { config: { operation: verdictsOperation } }, (request): Promise<VerdictsAnswer> => {
    refuseQuery(request);
    return recordingOf(request, recorder).memories.verdicts(asked(request, bodyOf(request)) as Verdicts);
  });

  app.post("/memories/audit", { config: { operation: auditOperation } }, (request): Promise<AuditAnswer> => {
    refuseQuery(request);
    return recorder.memories.audit(bodyOf(request) as Parameters<Recorder["memories"]["audit"]>[0]);
  });

  app.post(
    "/memories/import",
    { config: { operation: importOperation } },
    async (request): Promise<MemoryImportAnswer> => {
      refuseQuery(request);
      const { memories } = recordingOf(request, recorder);
      return { statements: await memories.proposeFile(bodyOf(request) as Parameters<typeof memories.proposeFile>[0]) };
    },
  );

  app.post<ById>("/interactions/:id/extract", { config: { operation: extractOperation } }, (request) => {
    refuseQuery(request);
    asked(request, optionalBodyOf(request) ?? {});
    return recordingOf(request, recorder).memories.extract({ interaction_id: request.params.id });
  });

  app.post<ById>("/interactions/:id/reinforce", { config: { operation: reinforceOperation } }, (request) => {
    refuseQuery(request);
    asked(request, optionalBodyOf(request) ?? {});
    return recordingOf(request, recorder).memories.reinforce({ interaction_id: request.params.id });
  });
}

type Verdict = "promote" | "reject" | "supersede";

/** What was sent, with who asks where nothing else is said; the rest is for the recorder to check. */
function asked(request: FastifyRequest, body: unknown): JsonObject {
  const given = objectOf(body, "the body");
  return { ...given, actor: given.actor ?? callerOf(request).actor };
}

function contentMissing(): RecorderError {
  return new RecorderError({ code: "field_missing", field: "content", message: "content is missing" });
}

function statusInvalid(): RecorderError {
  const message = "status must be active or candidate";
  return new RecorderError({ code: "field_invalid", field: "status", message });
}

const tags = ["Memories"];

function idParameter(example: string): Parameter {
  return {
    name: "id",
    in: "path",
    required: true,
    description: "The id.",
    schema: { type: "string" },
    example,
  };
}

const addOperation: Operation = {
  operationId: "addMemory",
  tags,
  summary: "Add a memory, or propose one",
  description:
    'A person adds a memory, which is active at once (scope `review`). With `"status": "candidate"` it is proposed ' +
    "(scope `capture` or `review`): it passes the gates, or the answer says which one dropped it.",
  requestBody: { required: true, content: jsonContent(schemaNamed("NewMemory"), exampleMemory) },
  responses: {
    201: { description: "Added, or proposed.", content: jsonContent(schemaNamed("Memory")) },
    200: { description: "Dropped.", content: jsonContent(schemaNamed("DroppedProposal")) },
    ...refusals("confidence_out_of_range", "label_invalid", "memory_known", "time_invalid", ...bodyRefusals),
  },
};

const verdictOperations: { readonly [kind in Verdict]: Operation } = {
  promote: verdictOperation({
    operationId: "promoteMemory",
    summary: "Make a candidate a memory",
    description: "With `content` in another wording.",
    schema: "NewEdit",
    example: { id: exampleMemory.id, body: { reason: "It says so in the README." } },
  }),
  reject: verdictOperation({
    operationId: "rejectMemory",
    summary: "Turn a candidate down",
    description: "It is not proposed again.",
    schema: "NewVerdict",
    example: { id: exampleCandidates[0], body: { reason: "obvious" } },
  }),
  supersede: verdictOperation({
    operationId: "supersedeMemory",
    summary: "Put a memory out of use",
    description: "With `content` another memory takes its place, which `superseded_by` names.",
    schema: "NewEdit",
    example: { id: exampleMemory.id, body: { content: "The server of atlas listens on port 5000" } },
  }),
};

function verdictOperation(words: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: string;
  readonly example: { readonly id: string; readonly body: object };
}): Operation {
  const { schema, example, ...said } = words;
  return {
    ...said,
    tags,
    parameters: [idParameter(example.id)],
    requestBody: { required: false, content: jsonContent(schemaNamed(schema), example.body) },
    responses: {
      200: { description: "The memory as it is now.", content: jsonContent(schemaNamed("Memory")) },
      ...refusals(
        ...(["memory_known", "memory_not_found", "verdict_given"] as const),
        ...bodyRefusals.filter((code) => code !== "body_missing"),
      ),
    },
  };
}

const auditOperation: Operation = {
  operationId: "auditMemoryFile",
  tags,
  summary: "What the record says of every statement in a memory file",
  description:
    "`supported` with the quote, `echoed` where only assistants or context packs say so, `unsupported`, `contradicted` or " +
    "`superseded`. Nothing is written down.",
  requestBody: { required: true, content: jsonContent(schemaNamed("NewAudit"), { text: "- Answers come in German" }) },
  responses: {
    200: { description: "A verdict on each.", content: jsonContent(schemaNamed("FileAudit")) },
    ...refusals("label_invalid", ...bodyRefusals),
  },
};

const importOperation: Operation = {
  operationId: "importMemoryFile",
  tags,
  summary: "Propose the statements of a memory file",
  description:
    "Each with who said so in the record; a person decides. Statements that nobody said, and those that are known, are dropped, " +
    "and say why.",
  requestBody: { required: true, content: jsonContent(schemaNamed("NewAudit"), { text: "- Answers come in German" }) },
  responses: {
    200: { description: "What became of each.", content: jsonContent(schemaNamed("MemoryImport")) },
    ...refusals("label_invalid", ...bodyRefusals),
  },
};

const extractOperation: Operation = {
  operationId: "extractMemories",
  tags,
  summary: "Propose what rules find in an interaction",
  description:
    "What was proposed waits for a verdict; what was dropped says by which gate. Asking again proposes nothing new.",
  parameters: [idParameter(exampleId)],
  responses: {
    200: { description: "What came of it.", content: jsonContent(schemaNamed("Extraction")) },
    ...refusals("interaction_not_found", ...bodyRefusals.filter((code) => code !== "body_missing")),
  },
};

const reinforceOperation: Operation = {
  operationId: "reinforceMemories",
  tags,
  summary: "Count which memories an interaction was given, used and confirmed",
  description: "Each memory once for a turn. Only what was confirmed without having been given makes it more certain.",
  parameters: [idParameter(exampleId)],
  responses: {
    200: { description: "What was counted.", content: jsonContent(schemaNamed("Reinforcement")) },
    ...refusals("interaction_not_found", ...bodyRefusals.filter((code) => code !== "body_missing")),
  },
};

const verdictsOperation: Operation = {
  operationId: "giveVerdicts",
  tags,
  summary: "Give verdicts on several candidates, all or none",
  requestBody: {
    required: true,
    content: jsonContent(schemaNamed("NewVerdicts"), { promote: exampleCandidates.slice(1) }),
  },
  responses: {
    200: { description: "The memories as they are now.", content: jsonContent(schemaNamed("Verdicts")) },
    ...refusals("memory_not_found", "verdict_given", ...bodyRefusals),
  },
};
