// Adding the response to an interaction that was recorded before it was there.
import { receipt } from "../log/capture/capture.js";
import type { CompletionInput, EntryInput } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { RecorderError } from "../model/rejection.js";
import { schemaNamed } from "../model/schema.js";
import { entryOfKind, receiptOutcome } from "./entry-body.js";
import { interactionId } from "./ids.js";
import { body, operation } from "./operation.js";

export const completeInteraction = operation({
  name: "completeInteraction",
  tag: "Interactions",
  summary: "Add the response to an interaction that was recorded without one",
  description: "The response is an entry of its own, and every view shows the interaction with it from then on.",
  scope: "capture",
  route: "POST /interactions/:id/response",
  tools: [],
  command: undefined,
  input: { id: interactionId },
  positional: ["id"],
  body: body({
    schema: schemaNamed<CompletionInput>("NewResponse"),
    example: {
      response: "4747, on 127.0.0.1 only.",
      usage: { input_tokens: 812, output_tokens: 11 },
      latency_ms: 640,
    } satisfies CompletionInput,
    is_required: true,
    form: "json",
    parse: (given) => entryOfKind("response", given),
  }),
  output: receipt,
  recorded: {
    outcome: receiptOutcome,
    outcomes: {
      201: { description: "Recorded; the receipt is the response's." },
      200: { description: "The same response was recorded before." },
    },
  },
  missing: undefined,
  refusals: ["interaction_not_found", "already_completed", "id_invalid", "time_invalid"],
  needs: "recorder",
  async answer(recorder, { id, body }) {
    if ((body.interaction_id ?? id) !== id) {
      throw new RecorderError({
        code: "field_invalid",
        field: "interaction_id",
        message: "interaction_id does not match the URL",
        hint: "Leave interaction_id out.",
      });
    }
    const { entries } = await recorder.append({ ...body, interaction_id: id } as unknown as EntryInput);
    return itemAt(entries, 0);
  },
});
