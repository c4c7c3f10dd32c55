// Entries of the kinds that capture refuses, because the log itself writes them.
import type { ReservedFieldsByKind, ReservedKind } from "../../model/entry.js";
import { Fault } from "../../model/fault.js";
import { Rejection } from "../../model/rejection.js";
import type { LogEntry } from "../port.js";
import { pack, type Surroundings } from "./pack.js";

export interface OwnEntry {
  readonly id: string;
  readonly entry: LogEntry;
}

/** An entry that is ready to be appended. A project is that of what it is about, and goes when that is forgotten. */
export function packOwn<K extends ReservedKind>(
  kind: K,
  fields: ReservedFieldsByKind[K],
  surroundings: Surroundings,
  labels: { readonly id?: string | undefined; readonly project?: string; readonly client?: string } = {},
): OwnEntry {
  const { id, project = "", client = "" } = labels;
  const where = { ...(project !== "" && { project }), ...(client !== "" && { client }) };
  const packed = pack({ kind, id, body: { ...where, ...fields } }, surroundings);
  // Only its size could be refused, and whoever makes such an entry keeps it small.
  if (packed instanceof Rejection) throw new Fault("store_failed", packed.message, { hint: packed.hint ?? "" });
  return packed;
}
