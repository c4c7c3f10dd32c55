// The answer to `append`, whether one entry or many were given.
import { Type } from "typebox";
import { type Rejection, reject } from "../../model/rejection.js";
import { mapInSlices } from "../../model/scheduling.js";
import { type AnswerOf, count, named, oneOf, text, time } from "../../model/schema.js";
import type { CapturedItem } from "./capture.js";

const status = oneOf(["recorded", "already_recorded"]);

export type Captured = AnswerOf<typeof receipt>;
export const receipt = named(
  "Receipt",
  Type.Object({
    status,
    id: text,
    position: count,
    created_at: time,
    unknown_fields: Type.Optional(
      Type.Array(text, {
        description: "Fields that the kind does not know, kept in `extra`; absent where there are none.",
      }),
    ),
  }),
);

export type AppendResult = AnswerOf<typeof appendResult>;
export const appendResult = named("EntriesRecorded", Type.Object({ status, entries: Type.Array(receipt) }));

export async function toAppendResult(items: readonly CapturedItem[]): Promise<AppendResult> {
  const isNew = items.some((item) => item.status === "recorded");
  return {
    status: isNew ? "recorded" : "already_recorded",
    entries: await mapInSlices(items, toReceipt),
  };
}

export function toReceipt({ status, id, position, created_at, unknown_fields }: CapturedItem): Captured {
  return { status, id, created_at, position, ...(unknown_fields === undefined ? {} : { unknown_fields }) };
}

export function notAnInteraction(): Rejection {
  return reject({
    code: "field_invalid",
    field: "kind",
    message: "kind must be interaction here",
    hint: "Use append() for other kinds.",
  });
}
