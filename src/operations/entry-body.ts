// Bodies that several operations have in common, and what entries are acknowledged with.
import { Type } from "typebox";
import type { Captured } from "../log/capture/capture.js";
import { type JsonObject, jsonObjectOf } from "../model/json.js";
import { Rejection, reject } from "../model/rejection.js";
import { body } from "./operation.js";

export const exampleReceipt: Captured = {
  status: "recorded",
  id: "turn-1",
  position: 1,
  created_at: "2026-11-15T06:39:37.123Z",
};

/** Of an operation whose address says it all. */
export const noFields = body({
  schema: Type.Object({}),
  is_required: false,
  form: "json_or_empty",
  parse: (given) => jsonObjectOf(given ?? {}, "the body"),
});

/** 201 where the entry is new, 200 where it was recorded before. */
export function receiptOutcome({ status }: Captured): 200 | 201 {
  return status === "recorded" ? 201 : 200;
}

/**
 * The body as an entry of this kind. It is filled in and not copied, since it may be large and belongs to this request; that
 * it really is an entry is checked by the recorder, which takes nothing on trust.
 */
export function entryOfKind(kind: "interaction" | "response", given: unknown): JsonObject | Rejection {
  const sent = jsonObjectOf(given, `the ${kind}`);
  if (sent instanceof Rejection) return sent;
  if ((sent.kind ?? kind) === kind) return Object.assign(sent, { kind });
  return reject({
    code: "field_invalid",
    field: "kind",
    message: `kind must be ${kind} here`,
    hint: "Leave kind out, or send other kinds to POST /entries.",
  });
}
