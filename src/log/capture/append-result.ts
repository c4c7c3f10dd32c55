// The answer to `append`, whether one entry or many were given.
import { type Rejection, reject } from "../../model/rejection.js";
import { mapInSlices } from "../../model/scheduling.js";
import type { Captured, CapturedItem } from "./capture.js";

export interface AppendResult {
  readonly status: "recorded" | "already_recorded";
  readonly entries: readonly Captured[];
}

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
