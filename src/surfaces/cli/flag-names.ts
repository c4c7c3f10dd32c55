// The flags of fields.
import { operationList } from "../../operations/index.js";
import type { AnyOperation } from "../../operations/operation.js";
import { streams } from "../../operations/streams.js";
import { type Flag, type LimitParameter, limitFlag } from "../../search/parameters.js";

interface ParameterFlag extends Flag {
  /** What it is the flag of. */
  readonly parameter: string;
}

/** Flags that are not the field's name with dashes. */
const nameByField: { readonly [field: string]: string } = {
  ...Object.fromEntries(
    flagsOfOperations([...operationList, streams.tail, streams.export]).map(({ parameter, name }) => [parameter, name]),
  ),
  memories_used: "memory",
  chunks_used: "chunk",
  tags: "tag",
};

/** The name of a field's flag, without the leading dashes. */
export function flagNameOf(field: string): string {
  return Object.hasOwn(nameByField, field) ? (nameByField[field] as string) : field.replaceAll("_", "-");
}

/** The name of a flag among Commander's parsed options: `maxMessages` for `max-messages`. */
export function attributeOf(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The flags of operations, each once. The one for `limit` names the default of each. */
export function flagsOfOperations(operations: readonly Pick<AnyOperation, "input">[]): readonly ParameterFlag[] {
  const flags = new Map<string, ParameterFlag>();
  const limits: LimitParameter[] = [];
  for (const [parameter, doc] of operations.flatMap(({ input }) => Object.entries(input))) {
    if ("limit" in doc) limits.push(doc as LimitParameter);
    if (doc.flag !== undefined && !flags.has(doc.flag.name)) flags.set(doc.flag.name, { ...doc.flag, parameter });
  }
  if (limits.length > 0) flags.set("limit", { ...limitFlag(limits), parameter: "limit" });
  return [...flags.values()];
}
