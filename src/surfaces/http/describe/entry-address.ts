// How routes name one entry, and what they say where there is none.
import { notFound, RecorderError } from "../../../model/rejection.js";
import type { Parameter } from "./operation.js";

export const entryIdParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The entry's id, percent-encoded, or its position.",
  schema: { type: "string" },
  example: "turn-1",
};

export function entryNotFound(id: string): RecorderError {
  return new RecorderError(notFound("entry", id));
}
