// Recording one round-trip with a model.
import { receipt } from "../log/capture/capture.js";
import type { EntryInput, InteractionInput } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { schemaNamed } from "../model/schema.js";
import { entryOfKind, exampleReceipt, receiptOutcome } from "./entry-body.js";
import { body, operation } from "./operation.js";

export const recordInteraction = operation({
  name: "recordInteraction",
  tag: "Interactions",
  summary: "Record one round-trip with a model",
  description:
    "Answers once it is on disk. With your own `id` the call can be repeated safely: the same content is " +
    "acknowledged again, different content is refused.",
  scope: "capture",
  route: "POST /interactions",
  tools: [],
  command: undefined,
  input: {},
  positional: [],
  body: body({
    schema: schemaNamed<InteractionInput>("NewInteraction"),
    example: {
      id: "turn-1",
      prompt: "Which port does the server listen on?",
      project: "atlas",
      session_id: "cli:anna",
      client: "my-agent",
      memories_used: ["ports"],
      model: "some-model",
    } satisfies InteractionInput,
    is_required: true,
    form: "json",
    parse: (given) => entryOfKind("interaction", given),
  }),
  output: receipt,
  recorded: {
    outcome: receiptOutcome,
    outcomes: {
      201: { description: "Recorded.", example: exampleReceipt },
      200: { description: "It was recorded before." },
    },
  },
  missing: undefined,
  refusals: ["prompt_blank", "id_invalid", "label_invalid", "session_id_invalid", "time_invalid"],
  needs: "recorder",
  answer: async (recorder, { body }) => itemAt((await recorder.append(body as unknown as EntryInput)).entries, 0),
});
