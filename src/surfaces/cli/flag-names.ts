// What a field is called on the command line.
import { operationList } from "../../operations/index.js";
import type { AnyOperation } from "../../operations/operation.js";
import { type LimitParameter, limitFlag } from "../../search/parameters.js";
import { flagsOf, type ParameterFlag, questionNames } from "../../search/question-rules.js";

/** Flags that people would not guess from the field's name, or not want to type. */
const nameByField: { readonly [field: string]: string } = {
  ...Object.fromEntries(
    [...flagsOf(questionNames), ...flagsOfOperations(operationList)].map(({ parameter, name }) => [parameter, name]),
  ),
  memories_used: "memory",
  chunks_used: "chunk",
};

/** The name of a field's flag, without its dashes. */
export function flagNameOf(field: string): string {
  return Object.hasOwn(nameByField, field) ? (nameByField[field] as string) : field.replaceAll("_", "-");
}

/** What a flag is called among the options that were parsed: `max-messages` is read as `maxMessages`. */
export function attributeOf(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The flags of operations, each once; that of their limits names every default. */
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
